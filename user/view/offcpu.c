// SPDX-License-Identifier: BSD-3-Clause
/*
 * The table `offcpu`: why threads that drive devices were off the CPU outside calls, in which
 * system call, on what kind of file, and who woke them. Reads a snapshot.
 */
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "view/folded.h"
#include "view/view.h"

enum { PID, TID, COMM, REASON, SYSCALL, FILE_KIND, WAKER_PID, WAKER_TID, WAKER_COMM, COUNT, OPEN,
       TOTAL, BLOCKED, RUNQUEUE, MAX, STACK, N_COLUMNS };

static const struct column columns[N_COLUMNS] = {
	[PID] = COLUMN_PID,
	[TID] = { "tid", NULL, CELL_ID, 0, ROLE_KEY, "thread id on the host" },
	[COMM] = COLUMN_COMM,
	[REASON] = { "reason", NULL, CELL_TEXT, 0, ROLE_KEY,
		"why it was off the CPU: runqueue, disk, io, lock, ..." },
	[SYSCALL] = { "syscall", NULL, CELL_TEXT, 0, ROLE_KEY, "system call that it was in" },
	[FILE_KIND] = { "file", NULL, CELL_TEXT, 0, ROLE_KEY,
		"kind of the file that the system call waits for; GIL: Python's lock" },
	[WAKER_PID] = { "waker_pid", NULL, CELL_ID, 1, ROLE_KEY, "process that woke it" },
	[WAKER_TID] = { "waker_tid", NULL, CELL_ID, 0, ROLE_KEY, "thread that woke it" },
	[WAKER_COMM] = { "waker_comm", "woken by", CELL_TEXT, 0, ROLE_KEY,
		"name of the thread that woke it" },
	[COUNT] = { "count", NULL, CELL_INT, 0, ROLE_SUM, "times" },
	[OPEN] = { "open", NULL, CELL_INT, 0, ROLE_SUM, "of these, still off the CPU" },
	[TOTAL] = { "total_ns", NULL, CELL_NS, 0, ROLE_SUM, "time off the CPU" },
	[BLOCKED] = { "blocked_ns", NULL, CELL_NS, 1, ROLE_SUM, "of that, until it was woken" },
	[RUNQUEUE] = { "runqueue_ns", NULL, CELL_NS, 0, ROLE_SUM,
		"of that, ready and waiting for a CPU" },
	[MAX] = { "max_ns", NULL, CELL_NS, 0, ROLE_MAX, "longest" },
	[STACK] = { "stack", NULL, CELL_TEXT, 1, ROLE_KEY, "where it waited" },
};

static uint64_t total(const struct offcpu_row *r)
{
	return num_add(r->blocked_ns, r->runqueue_ns);
}

static int compare_lines(const void *a, const void *b)
{
	const struct offcpu_row *x = *(const struct offcpu_row *const *)a;
	const struct offcpu_row *y = *(const struct offcpu_row *const *)b;
	int c = num_compare(total(y), total(x));

	if (!c)
		c = num_compare(x->key.pid, y->key.pid);
	return c ? c : num_compare(x->key.tid, y->key.tid);
}

/* "read pipe": a system call, and what kind of file it waited for. */
static void fill_what(struct table *t, struct cell *row, const char *what)
{
	const char *blank = strncmp(what, "syscall ", 8) ? strchr(what, ' ') : NULL;

	if (!blank) {
		cell_s(t, &row[SYSCALL], what);
		return;
	}
	cell_f(t, &row[SYSCALL], "%.*s", (int)(blank - what), what);
	cell_s(t, &row[FILE_KIND], blank + 1);
}

static void add_row(struct table *t, struct folded *folded, const struct snapshot *snap,
		    const struct offcpu_row *line)
{
	struct cell *row = table_row(t);
	const char *stack = NULL;

	cell_u(&row[PID], line->key.pid);
	cell_u(&row[TID], line->key.tid);
	if (line->key.waker_id) {
		cell_u(&row[WAKER_PID], line->key.waker_id >> 32);
		cell_u(&row[WAKER_TID], (uint32_t)line->key.waker_id);
	}
	cell_u(&row[COUNT], line->count);
	cell_u(&row[OPEN], line->open);
	cell_u(&row[TOTAL], total(line));
	cell_u(&row[BLOCKED], line->blocked_ns);
	cell_u(&row[RUNQUEUE], line->runqueue_ns);
	cell_u(&row[MAX], line->max_ns);
	if (line->key.stack)
		t->failed |= folded_text(folded, line->key.stack, &stack) < 0;
	cell_s(t, &row[STACK], stack);
	cell_s(t, &row[COMM], snapshot_thread_comm(snap, line->key.process, line->key.tid));
	cell_s(t, &row[REASON], off_reason_name(line->key.reason));
	cell_s(t, &row[WAKER_COMM], line->waker);
	if (line->key.more)
		cell_s(t, &row[SYSCALL], "[more]");
	else if (line->what)
		fill_what(t, row, line->what);
}

static void add_rows(struct table *t, const struct snapshot *snap, const struct offcpu *o)
{
	struct folded folded = { .stacks = &snap->stacks };
	size_t n = offcpu_count(o);
	const struct offcpu_row **lines = calloc(n + 1, sizeof(const struct offcpu_row *));

	t->failed |= !lines;
	for (size_t i = 0; lines && i < n; i++)
		lines[i] = offcpu_at(o, i);
	if (lines)
		qsort(lines, n, sizeof(*lines), compare_lines);
	for (size_t i = 0; lines && i < n; i++)
		add_row(t, &folded, snap, lines[i]);
	free(lines);
	folded_free(&folded);
}

static void fill(struct table *t, const struct view_query *q)
{
	const char *fact = snapshot_fact(q->snapshot, "off_cpu");
	struct offcpu alike = { 0 };

	t->none = fact && !strcmp(fact, "recorded") ?
		       "no thread that makes calls was off the CPU outside them" :
		       "what the scheduler did was not recorded: --off-cpu on";
	if (!q->hides_stacks) {
		add_rows(t, q->snapshot, q->snapshot->offcpu);
		return;
	}
	t->failed |= offcpu_copy_stackless(&alike, q->snapshot->offcpu) < 0;
	add_rows(t, q->snapshot, &alike);
	offcpu_free(&alike);
}

const struct view view_offcpu = {
	.name = "offcpu",
	.help = "why a thread was off the CPU outside calls, and who woke it",
	.columns = columns, .n_columns = N_COLUMNS,
	.never_null = "pid tid reason count open total_ns blocked_ns runqueue_ns max_ns",
	.shown = VIEW_WHEN_ASKED,
	.shows_stacks = true,
	.fill = fill,
};
