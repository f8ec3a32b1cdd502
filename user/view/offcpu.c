// SPDX-License-Identifier: BSD-3-Clause
/*
 * The table `offcpu`: why threads that drive devices were off the CPU outside calls, in which
 * system call, on what kind of file, and who woke them. Reads a snapshot.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/vec.h"
#include "view/folded.h"
#include "view/view.h"

enum { PID, TID, COMM, REASON, SYSCALL, FILE_KIND, WAKER_PID, WAKER_TID, WAKER_COMM, COUNT, OPEN,
       TOTAL, BLOCKED, RUNQUEUE, MAX, STACK, N_COLUMNS };

static const struct column columns[N_COLUMNS] = {
	[PID] = { "pid", NULL, CELL_ID, 0, ROLE_KEY,
		"process id on the host" },
	[TID] = { "tid", NULL, CELL_ID, 0, ROLE_KEY,
		"thread id on the host" },
	[COMM] = { "comm", NULL, CELL_TEXT, 0, ROLE_LABEL,
		"name of the process, as the kernel has it" },
	[REASON] = { "reason", NULL, CELL_TEXT, 0, ROLE_KEY,
		"why it was off the CPU: runqueue, disk, io, lock, ..." },
	[SYSCALL] = { "syscall", NULL, CELL_TEXT, 0, ROLE_KEY,
		"system call that it was in" },
	[FILE_KIND] = { "file", NULL, CELL_TEXT, 0, ROLE_KEY,
		"kind of the file that the system call waits for" },
	[WAKER_PID] = { "waker_pid", NULL, CELL_ID, 1, ROLE_KEY,
		"process that woke it" },
	[WAKER_TID] = { "waker_tid", NULL, CELL_ID, 0, ROLE_KEY,
		"thread that woke it" },
	[WAKER_COMM] = { "waker_comm", "woken by", CELL_TEXT, 0, ROLE_KEY,
		"name of the thread that woke it" },
	[COUNT] = { "count", NULL, CELL_INT, 0, ROLE_SUM,
		"times" },
	[OPEN] = { "open", NULL, CELL_INT, 0, ROLE_SUM,
		"of these, still off the CPU" },
	[TOTAL] = { "total_ns", NULL, CELL_NS, 0, ROLE_SUM,
		"time off the CPU" },
	[BLOCKED] = { "blocked_ns", NULL, CELL_NS, 1, ROLE_SUM,
		"of that, until it was woken" },
	[RUNQUEUE] = { "runqueue_ns", NULL, CELL_NS, 0, ROLE_SUM,
		"of that, ready and waiting for a CPU" },
	[MAX] = { "max_ns", NULL, CELL_NS, 0, ROLE_MAX,
		"longest" },
	[STACK] = { "stack", NULL, CELL_TEXT, 1, ROLE_KEY,
		"where it waited" },
};

struct lines {
	VEC(const struct offcpu_row *) all;
	struct folded folded;
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
static int fill_what(struct table *t, struct cell *row, const struct offcpu_row *line)
{
	char call[64];
	const char *blank;
	int err;

	if (line->key.more)
		return cell_s(t, &row[SYSCALL], "[more]");
	if (!line->what)
		return 0;
	snprintf(call, sizeof(call), "%s", line->what);
	blank = strncmp(call, "syscall ", 8) ? strchr(line->what, ' ') : NULL;
	if (blank)
		call[blank - line->what] = '\0';
	err = cell_s(t, &row[SYSCALL], call);
	return err || !blank ? err : cell_s(t, &row[FILE_KIND], blank + 1);
}

static int add_row(struct table *t, struct lines *lines, const struct snapshot *snap,
		   const struct offcpu_row *line)
{
	struct cell *row = table_row(t);
	const char *stack = NULL;
	int err;

	if (!row)
		return -ENOMEM;
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
	err = line->key.stack ? folded_text(&lines->folded, line->key.stack, &stack) : 0;
	if (!err)
		err = cell_s(t, &row[STACK], stack);
	if (!err)
		err = cell_s(t, &row[COMM],
			     snapshot_thread_comm(snap, line->key.process, line->key.tid));
	if (!err)
		err = cell_s(t, &row[REASON], off_reason_name(line->key.reason));
	if (!err)
		err = cell_s(t, &row[WAKER_COMM], line->waker);
	return err ? err : fill_what(t, row, line);
}

static int add_all(struct table *t, struct lines *lines, const struct snapshot *snap)
{
	const struct offcpu *o = &snap->offcpu;
	int err = 0;

	for (size_t i = 0; i < offcpu_count(o); i++) {
		const struct offcpu_row **line = VEC_PUSH(&lines->all);

		if (!line)
			return -ENOMEM;
		*line = offcpu_at(o, i);
	}
	if (lines->all.n)
		qsort(lines->all.v, lines->all.n, sizeof(*lines->all.v), compare_lines);
	for (size_t i = 0; !err && i < lines->all.n; i++)
		err = add_row(t, lines, snap, lines->all.v[i]);
	return err;
}

static int fill(struct table *t, const struct view_query *q)
{
	struct lines lines = { .folded.stacks = &q->snapshot->stacks };
	const char *fact = snapshot_fact(q->snapshot, "off_cpu");
	int err;

	t->none = fact && !strcmp(fact, "recorded") ?
		       "no thread that makes calls was off the CPU outside them" :
		       "what the scheduler did was not recorded: --off-cpu on";
	err = add_all(t, &lines, q->snapshot);
	VEC_FREE(&lines.all);
	folded_free(&lines.folded);
	return err;
}

const struct view view_offcpu = {
	.name = "offcpu",
	.help = "why a thread was off the CPU outside calls, and who woke it",
	.columns = columns,
	.n_columns = N_COLUMNS,
	.shown = VIEW_WHEN_ASKED,
	.shows_stacks = true,
	.fill = fill,
};
