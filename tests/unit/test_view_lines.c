// SPDX-License-Identifier: BSD-3-Clause
/* Lines of source by what their calls did, as a table, and beside the source. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/exit.h"
#include "lib/work_named.h"
#include "view/annotate.h"
#include "view_of.h"
#include "model_each.h"	/* behind all headers whose functions take a model */

#define BASE 1000000000000ull
#define TRAIN "/srv/train.py"

static void frame(uint64_t number, uint64_t caller, const char *function, const char *file, uint64_t line)
{
	struct event ev = { .kind = EVENT_FRAME, .frame.function = function, .frame.file = file };

	ev.frame.number = number;
	ev.frame.caller = caller;
	ev.frame.offset = line;
	ev.frame.flags = strstr(file, ".py") ? FRAME_PYTHON : 0;
	push(m, ev);
}

static void stack(uint64_t id, uint64_t innermost)
{
	push(m, (struct event){ .kind = EVENT_STACK, .stack.id = id, .stack.frame = innermost,
				.stack.known = STACK_KNOWN_WHOLE });
}

enum { ON_12 = 100, ON_13, BY_TORCH, NATIVE, NO_CODE };

/* main (train.py:40) calls step, which launches on line 12, once by way of torch, and waits on 13. */
BEFORE_EACH
{
	restart(BASE);
	frame(1, 0, "main", TRAIN, 40);
	frame(2, 1, "step", TRAIN, 12);
	frame(3, 2, "cudaLaunchKernel", "93ac61ec /opt/libcudart.so.13", 0x10);
	frame(4, 1, "step", TRAIN, 13);
	frame(5, 4, "cudaStreamSynchronize", "93ac61ec /opt/libcudart.so.13", 0x20);
	frame(6, 2, "Linear.forward", "/usr/lib/python3/dist-packages/torch/nn/modules/linear.py", 125);
	frame(7, 6, "cudaLaunchKernel", "93ac61ec /opt/libcudart.so.13", 0x10);
	frame(8, 0, "run", "17ac61ec /srv/app", 0x1234);
	frame(9, 0, "cudaLaunchKernel", "93ac61ec /opt/libcudart.so.13", 0x10);
	stack(ON_12, 3);
	stack(ON_13, 5);
	stack(BY_TORCH, 7);
	stack(NATIVE, 8);
	stack(NO_CODE, 9);
}

static void call(uint32_t seq, uint16_t func, uint64_t start, uint64_t end, uint64_t stack_id)
{
	push(m, (struct event){ .kind = EVENT_CALL, .pid = 7, .tid = 8, .seq = seq, .func = func,
				.has = HAS_END, .start_ns = BASE + start, .end_ns = BASE + end,
				.call.stack = stack_id });
}

static void api(uint32_t correlation, uint64_t start, uint64_t end)
{
	push(m, (struct event){ .kind = EVENT_API, .pid = 7, .tid = 8,
				.api.correlation = correlation, .api.cbid = 211, .api.domain = 5,
				.start_ns = BASE + start, .end_ns = BASE + end });
}

static void work(uint32_t correlation, uint64_t start, uint64_t end)
{
	const struct work w = { .kind = WORK_KIND_KERNEL, .correlation = correlation };

	push(m, (struct event){ .kind = EVENT_WORK, .pid = 7, .start_ns = BASE + start,
				.end_ns = BASE + end, .work = work_named(w, "sgemm") });
}

/* Two launches of line 12, a wait of line 13, then a launch without a stack. */
static void push_step(void)
{
	call(1, L, 10, 20, ON_12);
	api(1, 11, 19);
	work(1, 30, 50);
	call(2, L, 21, 31, BY_TORCH);
	api(2, 22, 30);
	work(2, 50, 70);
	call(3, S, 40, 80, ON_13);
	call(4, L, 90, 100, 0);
	api(3, 91, 99);
	work(3, 110, 125);
}

static void finish_step(void)
{
	finish(m, BASE + 200);
}

/* "PLACE device host idle syncs launches", a line each; "?" for what is unknown. */
static char *rows_text(void)
{
	static const char *const names[] = { "device_ns", "host_ns", "idle_caused_ns", "syncs", "launches" };
	struct table *t = view_now(&view_lines, m);
	struct strbuf text = STRBUF_INIT;

	assert_non_null(t);
	for (size_t row = 0; row < t->n_rows; row++) {
		const struct cell *cells = table_cells(t, row);

		strbuf_addstr(&text, cells[table_column(t, "place")].s);
		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
			const struct cell *c = &cells[table_column(t, names[i])];

			if (c->known)
				strbuf_addf(&text, " %llu", (unsigned long long)c->u);
			else
				strbuf_addstr(&text, " ?");
		}
		strbuf_addch(&text, '\n');
	}
	table_free(t);
	return strbuf_detach(&text);
}

static void assert_rows(const char *wanted)
{
	char *text = rows_text();

	assert_string_equal(text, wanted);
	free(text);
}

TEST(calls_works_and_idle_time_are_on_the_innermost_line_of_the_programs_own)
{
	push_step();
	finish_step();
	assert_rows("train.py:12 in step 40 20 0 0 2\n"
		    "(no line) 15 10 0 0 1\n"
		    "train.py:13 in step 0 40 40 1 0\n");
}

/* Works may come before their call does. */
TEST(device_time_goes_to_a_call_that_comes_later)
{
	call(1, L, 10, 20, ON_12);
	api(1, 11, 19);
	work(1, 30, 50);
	api(2, 22, 30);
	work(2, 50, 70);
	push(m, (struct event){ .kind = EVENT_WATERMARK, .end_ns = BASE + 20000000000 });
	call(2, L, 21, 31, ON_13);
	finish(m, BASE + 30000000000);
	assert_rows("train.py:12 in step 20 10 0 0 1\n"
		    "train.py:13 in step 20 10 0 0 1\n");
}

TEST(device_time_is_unknown_where_no_device_is)
{
	call(1, L, 10, 20, ON_12);
	call(2, L, 21, 31, NATIVE);
	call(3, L, 32, 42, NO_CODE);
	finish(m, BASE + 200);
	assert_rows("train.py:12 in step ? 10 ? 0 1\n"
		    "run ? 10 ? 0 1\n"
		    "(no line) ? 10 ? 0 1\n");
}

TEST(calls_have_the_device_time_of_their_works_by_function_and_by_stack)
{
	static const uint64_t by_function = 55, by_stack[] = { 20, 20, 15 };
	struct table *t;
	size_t found = 0;

	push_step();
	finish_step();
	t = view_by(&view_calls, m, 0, CALLS_BY_FUNCTION);
	assert_non_null(t);
	for (size_t row = 0; row < t->n_rows; row++) {
		const struct cell *c = table_cells(t, row);
		const bool launches = !strcmp(c[table_column(t, "class")].s, "launch");

		assert_int_equal(c[table_column(t, "device_ns")].known, launches);
		if (launches)
			assert_int_equal(c[table_column(t, "device_ns")].u, by_function);
	}
	table_free(t);
	t = view_by(&view_calls, m, 0, CALLS_BY_STACK);
	assert_non_null(t);
	table_sort(t, "device_ns");
	for (; found < t->n_rows && table_cells(t, found)[table_column(t, "device_ns")].known; found++)
		assert_int_equal(table_cells(t, found)[table_column(t, "device_ns")].u, by_stack[found]);
	assert_int_equal(found, 3);
	table_free(t);
	t = view_by(&view_calls, m, 0, CALLS_BY_RESULT);
	assert_non_null(t);
	assert_int_equal(t->n_rows, 2);
	for (size_t row = 0; row < t->n_rows; row++)
		assert_false(table_cells(t, row)[table_column(t, "device_ns")].known);
	table_free(t);
}

/* ---- beside the source ----------------------------------------------------------------------- */

/* A source file of 50 lines, "line N"; the path is freed by forget(). */
static char *source_file(void)
{
	char *path = malloc(64);
	FILE *f;

	assert_non_null(path);
	strcpy(path, "/tmp/lines.XXXXXX");
	assert_non_null(mkdtemp(path));
	strcat(path, "/train.py");
	f = fopen(path, "w");
	assert_non_null(f);
	for (int i = 1; i <= 50; i++)
		fprintf(f, i == 12 ? "\tline %d\x1b[2J\n" : "line %d\n", i);
	fclose(f);
	return path;
}

static void forget(char *path)
{
	unlink(path);
	*strrchr(path, '/') = '\0';
	rmdir(path);
	free(path);
}

static int annotated(struct strbuf *out, const char *path, bool whole)
{
	struct snapshot *snap = snap_take(m, 0);
	int rc = annotate_add(out, snap, path, whole);

	snapshot_free(snap);
	return rc;
}

/* Its capture's path is another one: the last components are the same. */
TEST(a_source_has_the_figures_of_its_lines_beside_it)
{
	struct strbuf out = STRBUF_INIT;
	char *path = source_file(), cwd[4096];

	push_step();
	finish_step();
	assert_non_null(getcwd(cwd, sizeof(cwd)));
	*strrchr(path, '/') = '\0';
	assert_int_equal(chdir(path), 0);
	path[strlen(path)] = '/';
	assert_int_equal(annotated(&out, "./train.py", false), EXIT_OK);
	assert_string_equal(out.s,
		TRAIN ": of pid 7\n\n"
		"      device        host        idle    syncs  launches\n"
		"...\n"
		"                                                            9  line 9\n"
		"                                                           10  line 10\n"
		"                                                           11  line 11\n"
		"       40 ns       20 ns           -        -         2    12          line 12\\x1b[2J\n"
		"           -       40 ns       40 ns        1         -    13  line 13\n"
		"                                                           14  line 14\n"
		"                                                           15  line 15\n"
		"                                                           16  line 16\n");
	strbuf_reset(&out);
	assert_int_equal(annotated(&out, "train.py", true), EXIT_OK);
	assert_non_null(strstr(out.s, "    50  line 50\n"));
	assert_int_equal(chdir(cwd), 0);
	strbuf_free(&out);
	forget(path);
}

TEST(a_source_that_no_call_is_in_or_that_cannot_be_read_is_refused)
{
	struct strbuf out = STRBUF_INIT;

	push_step();
	finish_step();
	assert_int_equal(annotated(&out, "rain.py", false), EXIT_FAIL);
	assert_int_equal(annotated(&out, "/elsewhere/train.py", false), EXIT_FAIL);
	assert_int_equal(annotated(&out, "/nowhere" TRAIN, false), EXIT_FAIL);
	assert_int_equal(out.len, 0);
	strbuf_free(&out);
}
