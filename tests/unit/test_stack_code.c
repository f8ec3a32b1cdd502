// SPDX-License-Identifier: BSD-3-Clause
/* Where a process has code: all of it is in the ranges and has its bit, and little else. */
#include "lib/random.h"
#include "lib/test.h"
#include "stack/code.h"

/* As the BPF program does it. */
static bool is_code(const struct gp_code *code, uint64_t word)
{
	const int second = word - code->start[0] >= code->len[0];
	const uint64_t into = word - code->start[second];
	uint64_t bit;

	if (second && into >= code->len[1])
		return false;
	bit = into >> code->shift[second];
	assert_true(bit < GP_CODE_BITS);
	return code->bits[second][bit / 64] >> bit % 64 & 1;
}

static struct stack_modules modules_of(const struct stack_module *m, size_t n)
{
	struct stack_modules ms = { 0 };

	assert_non_null(VEC_PUSH(&ms.file));
	ms.file.v[0] = (struct stack_file){ .ino = 1 };
	for (size_t i = 0; i < n; i++) {
		struct stack_module *place = VEC_PUSH(&ms.module);

		assert_non_null(place);
		*place = m[i];
	}
	return ms;
}

TEST(small_programs_are_described_to_the_page)
{
	static const struct stack_module m[] = {
		{ .start = 0x401000, .end = 0x403000 },
		{ .start = 0x7f0000000000, .end = 0x7f0000001000 },
		{ .start = 0x7f0000004000, .end = 0x7f0000005000 },
		{ .start = 0xffffffffff600000, .end = 0xffffffffff601000 },
	};
	struct stack_modules ms = modules_of(m, 4);
	static struct gp_code code;

	stack_describe_code(&ms, &code);
	assert_true(is_code(&code, 0x401000));
	assert_true(is_code(&code, 0x402fff));
	assert_false(is_code(&code, 0x400fff));
	assert_false(is_code(&code, 0x403000));
	assert_true(is_code(&code, 0x7f0000000000));
	assert_false(is_code(&code, 0x7f0000001000));
	assert_false(is_code(&code, 0x7f0000003fff));
	assert_true(is_code(&code, 0x7f0000004fff));
	assert_false(is_code(&code, 0x7f0000005000));
	assert_false(is_code(&code, 0xffffffffff600000));
	assert_false(is_code(&code, 0));
	stack_modules_free(&ms);
}

/* Of any mappings, the first and the last byte of each. */
TEST(no_code_is_left_out)
{
	static struct gp_code code;

	for (int round = 0; round < random_rounds(2000); round++) {
		struct stack_module m[40];
		uint64_t at = below(1 << 20) << 12;
		size_t n = below(41);
		struct stack_modules ms;

		for (size_t i = 0; i < n; i++) {
			at += below(below(8) ? 1 << 10 : 1 << 28) << 12;
			m[i] = (struct stack_module){ .start = at };
			at += (1 + below(below(4) ? 64 : 1 << 20)) << 12;
			m[i].end = at;
		}
		ms = modules_of(m, n);
		memset(&code, 0, sizeof(code));
		stack_describe_code(&ms, &code);
		for (size_t i = 0; i < n && m[i].end <= 1ull << 47; i++) {
			assert_true(is_code(&code, m[i].start));
			assert_true(is_code(&code, m[i].end - 1));
		}
		stack_modules_free(&ms);
	}
}

TEST(other_mappings_have_another_hash)
{
	struct stack_module m[2] = { { .start = 4096, .end = 8192 }, { .start = 12288, .end = 16384 } };
	struct stack_modules a = modules_of(m, 2), b = modules_of(m, 2), c = modules_of(m, 1);

	assert_true(stack_modules_hash(&a) == stack_modules_hash(&b));
	assert_true(stack_modules_hash(&a) != stack_modules_hash(&c));
	b.file.v[0].ino++;
	assert_true(stack_modules_hash(&a) != stack_modules_hash(&b));
	stack_modules_free(&a);
	stack_modules_free(&b);
	stack_modules_free(&c);
}

TEST_GROUP(random_seed, NULL);
