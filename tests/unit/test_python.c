// SPDX-License-Identifier: BSD-3-Clause
/* Python's line tables, texts and frames, also where another process's memory holds anything. */
#include <time.h>

#include "lib/emulated.h"
#include "lib/random.h"
#include "lib/test.h"
#include "stack/python.c"
#include "stack/python_code.c"
#include "stack/python_runtime.c"

/*
 * co_linetable of f as Python 3.11.7 compiles it, which begins at line 1, and the line of each
 * code unit by co_positions(); 0: none.
 *
 *	def f(a, b):
 *	    x = [a,
 *	         b]
 *	    if (a and
 *	        b):
 *	        return [g(v)
 *	                for v in x
 *	                if v]
 *
 *
 *	    try:
 *	        y = g(a,
 *	              b=b,
 *	              c=(lambda:
 *	                 b))
 *	    finally:
 *	        x.append(1)
 *	    (70 empty lines)
 *	    return y
 */
static const uint8_t table[] = {
	0xf8, 0x80, 0x00, 0xd8, 0x09, 0x0a, 0xd8, 0x09, 0x0a, 0xf0, 0x03, 0x01, 0x09, 0x0c, 0x80,
	0x41, 0xe0, 0x08, 0x09, 0xf0, 0x00, 0x04, 0x05, 0x16, 0xd8, 0x08, 0x09, 0xf0, 0x03, 0x04,
	0x05, 0x16, 0xf0, 0x04, 0x02, 0x10, 0x16, 0xf0, 0x00, 0x02, 0x10, 0x16, 0xd8, 0x19, 0x1a,
	0xf0, 0x03, 0x02, 0x10, 0x16, 0xf1, 0x00, 0x02, 0x10, 0x16, 0xf4, 0x00, 0x02, 0x10, 0x16,
	0xf0, 0x00, 0x02, 0x09, 0x16, 0xf0, 0x0a, 0x06, 0x05, 0x14, 0xdd, 0x0c, 0x0d, 0x88, 0x61,
	0xd8, 0x10, 0x11, 0xf0, 0x02, 0x01, 0x12, 0x13, 0xf0, 0x00, 0x01, 0x12, 0x13, 0xf0, 0x00,
	0x01, 0x12, 0x13, 0xf0, 0x00, 0x01, 0x12, 0x13, 0xf0, 0x05, 0x03, 0x0d, 0x15, 0xf1, 0x00,
	0x03, 0x0d, 0x15, 0xf4, 0x00, 0x03, 0x0d, 0x15, 0x88, 0x01, 0xf0, 0x0a, 0x00, 0x09, 0x0a,
	0x8f, 0x08, 0x8a, 0x08, 0x90, 0x11, 0x89, 0x0b, 0x8c, 0x0b, 0x88, 0x0b, 0x88, 0x0b, 0xf8,
	0x88, 0x01, 0x8f, 0x08, 0x8a, 0x08, 0x90, 0x11, 0x89, 0x0b, 0x8c, 0x0b, 0x88, 0x0b, 0x88,
	0x0b, 0xf8, 0xf8, 0xf8, 0xf0, 0x4e, 0x02, 0x00, 0x0c, 0x0d, 0x80, 0x48,
};
static const uint32_t lines[] = {
	0, 1, 2, 3, 2, 2, 4, 4, 5, 4, 6, 6, 7, 6, 6, 6, 6, 6, 6, 6, 6, 6, 11, 12, 12, 12, 12, 12,
	12, 12, 13, 14, 14, 14, 14, 12, 12, 12, 12, 12, 12, 12, 12, 12, 17, 17, 17, 17, 17, 17,
	17, 17, 17, 17, 17, 17, 17, 17, 17, 17, 17, 17, 17, 17, 17, 17, 0, 17, 17, 17, 17, 17,
	17, 17, 17, 17, 17, 17, 17, 17, 17, 17, 17, 17, 17, 17, 17, 17, 17, 0, 0, 0, 88, 88,
};

TEST_TITLED("python: each instruction has the line that Python has for it", lines_are_pythons)
{
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		assert_int_equal(find_location(table, sizeof(table), 1, (int64_t)i * PYTHON_UNIT),
				 lines[i]);
	assert_int_equal(find_location(table, sizeof(table), 7, -2), 7);
	assert_int_equal(find_location(table, sizeof(table), 1, sizeof(lines)), 0);
	assert_int_equal(find_location(table, 0, 1, 0), 0);
}

/* 3.10: 6 bytes of line 4, 2 of line 3, 4 of none, 200 + 60 of line 133, 2 of line 6. */
TEST_TITLED("python: the line tables of 3.10 are of bytes and lines", ranges_have_lines)
{
	static const uint8_t ranges[] = { 0, 127, 6, 132, 0, 0, 2, 255, 4, 128,
					  0, 127, 200, 3, 60, 0, 2, 129, 9 };

	assert_int_equal(find_range(ranges, sizeof(ranges), 1, -2), 1);
	assert_int_equal(find_range(ranges, sizeof(ranges), 1, 0), 4);
	assert_int_equal(find_range(ranges, sizeof(ranges), 1, 4), 4);
	assert_int_equal(find_range(ranges, sizeof(ranges), 1, 6), 3);
	assert_int_equal(find_range(ranges, sizeof(ranges), 1, 8), 0);
	assert_int_equal(find_range(ranges, sizeof(ranges), 1, 12), 133);
	assert_int_equal(find_range(ranges, sizeof(ranges), 1, 270), 133);
	assert_int_equal(find_range(ranges, sizeof(ranges), 1, 272), 6);
	assert_int_equal(find_range(ranges, sizeof(ranges), 1, 274), 0);
}

/* 3.9 and before: 6 bytes of line 1, 300 of line 134, the rest of line 132, in steps of at most 255 and 127. */
TEST_TITLED("python: the line tables before 3.10 are of steps", steps_have_lines)
{
	static const uint8_t steps[] = { 6, 127, 0, 6, 255, 0, 45, 254 };
	static const struct { int64_t offset; uint32_t line; } some[] = {
		{ -1, 1 }, { 0, 1 }, { 5, 1 }, { 6, 134 }, { 260, 134 }, { 261, 134 }, { 305, 134 },
		{ 306, 132 }, { 9999, 132 },
	};

	for (size_t i = 0; i < sizeof(some) / sizeof(some[0]); i++)
		assert_int_equal(find_step(steps, sizeof(steps), 1, some[i].offset), some[i].line);
	assert_int_equal(find_step(steps, 0, 7, 3), 7);
}

TEST_TITLED("python: a line table of any bytes is read inside of its bounds", any_table_is_read)
{
	for (int round = 0; round < random_rounds(20000); round++) {
		size_t n = 1 + below(40);
		uint8_t *any = malloc(n);

		assert_non_null(any);
		for (size_t i = 0; i < n; i++)
			any[i] = (uint8_t)below(256);
		find_location(any, n, (int32_t)below(UINT32_MAX), (int64_t)below(400));
		find_range(any, n, (int32_t)below(UINT32_MAX), (int64_t)below(400));
		find_step(any, n, (int32_t)below(UINT32_MAX), (int64_t)below(400));
		free(any);
	}
}

/* This process's own memory, as CPython 3.11 lays it out. */
static struct python self(void)
{
	struct python py = { .rt = { .pid = getpid(), .layout = layouts[2] } };

	py.memory = stack_memory_new(py.rt.pid);
	py.names = strpool_new();
	assert_non_null(py.memory);
	assert_non_null(py.names);
	return py;
}

static void forget(struct python *py)
{
	struct python *kept = malloc(sizeof(*kept));

	assert_non_null(kept);
	stack_memory_free(py->memory);
	strpool_free(py->names);
	*kept = *py;
	python_free(kept);
}

static char *text_of(const char *data, uint64_t length, uint32_t kind, uint32_t flags)
{
	struct python py = self();
	struct strbuf out = STRBUF_INIT;
	char object[256] = { 0 };
	const uint32_t *at = py.rt.layout.at;
	uint32_t state = flags | kind << __builtin_ctz(py.rt.layout.kind_bits);
	size_t begin = at[TEXT_ASCII];

	if (!(flags & py.rt.layout.ascii_bits))
		begin += py.rt.layout.wide_extra;
	memcpy(object + at[TEXT_LENGTH], &length, sizeof(length));
	memcpy(object + at[TEXT_STATE], &state, sizeof(state));
	memcpy(object + begin, data, length < 64 ? length * kind : 0);
	if (read_text(&py, (uint64_t)(uintptr_t)object, &out))
		strbuf_free(&out);
	forget(&py);
	return out.len ? strbuf_detach(&out) : NULL;
}

static void expect_text(char *got, const char *expected)
{
	if (expected)
		assert_string_equal(got, expected);
	else
		assert_null(got);
	free(got);
}

TEST_TITLED("python: texts of 1, 2 and 4 bytes a character become UTF-8", texts_become_utf8)
{
	const uint32_t compact = layouts[1].compact_bits, ascii = compact | layouts[1].ascii_bits;
	static const uint16_t two[] = { 'a', 0x20ac, 0xd800, 'b' };
	static const uint32_t four[] = { 0x1f600, 0, 0x110000 };

	needs_real_machine("process_vm_readv, which the emulator does not have");
	expect_text(text_of("train.py", 8, 1, ascii), "train.py");
	expect_text(text_of("j\xfcrgen", 6, 1, compact), "j\xc3\xbcrgen");
	expect_text(text_of((const char *)two, 4, 2, compact), "a\xe2\x82\xac?b");
	expect_text(text_of((const char *)four, 3, 4, compact), "\xf0\x9f\x98\x80??");
	expect_text(text_of("train.py", 8, 1, 0), NULL);
	expect_text(text_of((const char *)four, 3, 3, ascii), NULL);
	expect_text(text_of("", 0, 1, ascii), NULL);
	expect_text(text_of("", UINT64_MAX, 4, ascii), NULL);
}

/* Words that point into it, small numbers, and noise. */
static void fill(uint64_t *arena, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t kind = below(4);

		if (kind < 2)
			arena[i] = (uint64_t)(uintptr_t)(arena + below(n));
		else
			arena[i] = kind == 2 ? below(300) : below(UINT64_MAX);
	}
}

TEST_TITLED("python: an interpreter of any content ends, and soon", any_runtime_ends)
{
	static uint64_t arena[512];
	const time_t begin = time(NULL);

	for (int round = 0; round < random_rounds(300) && time(NULL) - begin < 20; round++) {
		struct python py = self();
		uint64_t at = (uint64_t)(uintptr_t)(arena + below(256));

		fill(arena, 512);
		if (below(2)) {
			memcpy(arena, "xdebugpy", 8);
			arena[1] = below(2) ? 0x030d00f0 : 0x030e00f0;
			arena[2] = 0;
		}
		py.rt.at = (uint64_t)(uintptr_t)arena;
		choose_layout(&py.rt);
		for (int i = 0; i < 4; i++) {
			struct python_stack stack = { 0 };
			struct python_thread t = { .state = at };

			python_read_field(&py.rt, at, THREAD_NATIVE_ID, &t.id);
			assert_int_equal(read_stack(&py, &t, &stack), 0);
			assert_true(stack.frame.n <= MAX_FRAMES);
			VEC_FREE(&stack.frame);
		}
		forget(&py);
	}
}

TEST_TITLED("python: one that points to itself ends at its bounds", a_loop_ends)
{
	static uint64_t arena[512];
	struct python py = self();

	for (size_t i = 0; i < 512; i++)
		arena[i] = (uint64_t)(uintptr_t)arena;
	py.rt.at = (uint64_t)(uintptr_t)arena;
	choose_layout(&py.rt);
	assert_true(py.rt.thread.n <= MAX_THREADS + MAX_INTERPRETERS);
	forget(&py);
}

TEST_GROUP(random_seed, NULL);
