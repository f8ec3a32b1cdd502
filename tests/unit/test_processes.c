// SPDX-License-Identifier: BSD-3-Clause
/* The table `processes`: what it shows of identities and of books, and what it leaves unknown. */
#include "unit/model_room.h"

#include <string.h>

#include "lib/test.h"
#include "lib/work_named.h"
#include "base/time.h"
#include "view_of.h"

static void push_identity(struct model *m, uint32_t pid, const char *key, const char *value)
{
	push(m, (struct event){ .kind = EVENT_IDENTITY, .pid = pid, .tid = pid, .fact.key = key,
				.fact.value = value });
}

static void push_call(struct model *m, uint16_t func, uint32_t seq, uint64_t start_ms, uint64_t ms)
{
	push(m, (struct event){ .kind = EVENT_CALL, .has = HAS_END, .pid = 100, .tid = 100,
				.seq = seq, .func = func, .start_ns = start_ms * NS_PER_MS,
				.end_ns = (start_ms + ms) * NS_PER_MS });
}

static const struct cell *cell(const struct table *t, size_t row, const char *column)
{
	int at = table_column(t, column);

	assert_true(at >= 0);
	return &table_cells(t, row)[at];
}

TEST(a_row_has_launch_and_sync_figures)
{
	struct model *m = session(1000 * NS_PER_MS);
	struct table *t;

	push(m, (struct event){ .kind = EVENT_PROCESS, .pid = 100, .start_ns = 500 * NS_PER_MS,
				.task.comm = "train", .task.cmdline = "python train.py" });
	push_identity(m, 100, "user", "alice");
	push_identity(m, 100, "rank", "17");
	push_identity(m, 100, "devices", "0,3");
	push_identity(m, 100, "of a later version", "?");
	push_call(m, L, 1, 1000, 1);
	push_call(m, L, 2, 1010, 1);
	push_call(m, S, 3, 1100, 500);
	push(m, (struct event){ .kind = EVENT_STOP, .end_ns = 3000 * NS_PER_MS });
	t = view_now(&view_processes, m);
	assert_int_equal(t->n_rows, 1);
	assert_int_equal(cell(t, 0, "pid")->u, 100);
	assert_string_equal(cell(t, 0, "user")->s, "alice");
	assert_int_equal(cell(t, 0, "rank")->u, 17);
	assert_string_equal(cell(t, 0, "devices")->s, "0,3");
	assert_string_equal(cell(t, 0, "cmdline")->s, "python train.py");
	assert_true(cell(t, 0, "launches_per_s")->d == 1.0);
	assert_true(cell(t, 0, "sync_share")->d == 0.25);
	assert_int_equal(cell(t, 0, "start_ns")->u, 500 * NS_PER_MS);
	assert_false(cell(t, 0, "job")->known);
	assert_false(cell(t, 0, "pod")->known);
	table_free(t);
	model_free(m);
}

TEST(two_owners_of_a_pid_are_two_rows)
{
	struct model *m = session(1000 * NS_PER_MS);
	struct event ev = { .kind = EVENT_PROCESS, .pid = 100, .start_ns = NS_PER_SEC,
			    .task.comm = "a" };
	struct table *t;

	push(m, ev);
	push_identity(m, 100, "rank", "1");
	push_call(m, L, 1, 1000, 1);
	ev.start_ns = 2 * NS_PER_SEC;
	ev.task.comm = "b";
	push(m, ev);
	push_identity(m, 100, "rank", "2");
	push_call(m, L, 1, 2000, 1);
	t = view_now(&view_processes, m);
	assert_int_equal(t->n_rows, 2);
	assert_string_equal(cell(t, 0, "comm")->s, "a");
	assert_int_equal(cell(t, 0, "rank")->u, 1);
	assert_string_equal(cell(t, 1, "comm")->s, "b");
	assert_int_equal(cell(t, 1, "rank")->u, 2);
	assert_int_equal(cell(t, 1, "start_ns")->u, 2 * NS_PER_SEC);
	table_free(t);
	model_free(m);
}

TEST(a_process_without_calls_has_no_row)
{
	struct model *m = session(1000);
	struct table *t;

	push(m, (struct event){ .kind = EVENT_FORK, .pid = 100, .tid = 200 });
	push(m, (struct event){ .kind = EVENT_PROCESS, .pid = 200, .task.comm = "sh" });
	t = view_now(&view_processes, m);
	assert_int_equal(t->n_rows, 0);
	table_free(t);
	model_free(m);
}

/* As one whose graph was launched before the session, and goes on. */
TEST(a_process_with_works_and_no_calls_has_a_row)
{
	struct model *m = session(1000 * NS_PER_MS);
	struct table *t;

	push(m, (struct event){ .kind = EVENT_PROCESS, .pid = 100, .task.comm = "train" });
	push(m, (struct event){ .kind = EVENT_WORK, .pid = 100, .start_ns = 1000 * NS_PER_MS,
				.end_ns = 2000 * NS_PER_MS,
				.work = work_named((struct work){ .kind = WORK_KIND_KERNEL }, "k") });
	finish(m, 3000 * NS_PER_MS);
	t = view_now(&view_processes, m);
	assert_int_equal(t->n_rows, 1);
	assert_string_equal(cell(t, 0, "comm")->s, "train");
	assert_true(cell(t, 0, "busy_share")->d == 0.5);
	table_free(t);
	model_free(m);
}
