// SPDX-License-Identifier: BSD-3-Clause
/*
 * The table `threads`: the time book of each thread that drives a device, a row per bucket that
 * is not empty, so that the rows of a thread add up to its wall time. gpuprof's own estimated
 * cost is one of them. Reads a snapshot.
 */
#include <string.h>

#include "base/num.h"
#include "base/vec.h"
#include "model/own_cost.h"
#include "view/view.h"

enum { PID, TID, COMM, BUCKET, NS, SHARE, BLOCKED, WALL, RUNQUEUE, BIRTH, PROCESS_START, OWN,
       N_COLUMNS };

static const struct column columns[N_COLUMNS] = {
	[PID] = COLUMN_PID,
	[TID] = { "tid", NULL, CELL_ID, 0, ROLE_KEY, "thread id on the host" },
	[COMM] = { "comm", NULL, CELL_TEXT, 0, ROLE_LABEL, "name of the thread" },
	[BUCKET] = { "bucket", NULL, CELL_TEXT, 0, ROLE_KEY,
		"class of call, reason for being off the CPU, other, ..." },
	[NS] = { "ns", "time", CELL_NS, 0, ROLE_SUM,
		"time booked: rows of a thread add up to wall_ns" },
	[SHARE] = { "share", NULL, CELL_SHARE, 0, ROLE_SHARE, "of wall_ns" },
	[BLOCKED] = { "blocked_ns", NULL, CELL_NS, 0, ROLE_SUM, "of ns, off the CPU" },
	[WALL] = { "wall_ns", NULL, CELL_NS, 0, ROLE_TOTAL, "wall clock that the rows add up to" },
	[RUNQUEUE] = { "runqueue_ns", NULL, CELL_NS, 1, ROLE_SUM,
		"of blocked_ns, at least: ready and waiting for a CPU" },
	/* Numbers are used again: tid and birth, pid and start are one thread, one process. */
	[BIRTH] = { "birth_ns", "birth", CELL_ID, 1, ROLE_KEY,
		"when the thread was started: tells two threads of one tid apart" },
	[PROCESS_START] = { "process_start_ns", "process_start", CELL_ID, 1, ROLE_KEY,
		"when the process was started: tells two processes of one pid apart" },
	/* Estimated; was taken from it for the bucket gpuprof. */
	[OWN] = { "own_cost_ns", "own_cost", CELL_NS, 1, ROLE_SUM,
		"of ns, estimated: what gpuprof itself costs" },
};

struct line {
	struct snapshot_thread thread;
	size_t order;		/* in the snapshot: threads that had one number after the other */
	unsigned int bucket;
	uint64_t ns;
};

struct lines {
	VEC(struct line) all;
	struct own_cost cost;
	bool knows_off;		/* the scheduler's events of threads were recorded */
	bool knows_late;	/* and when they had no CPU in calls */
};

static int compare_lines(const void *a, const void *b)
{
	const struct line *x = a, *y = b;
	int c = num_compare(x->thread.pid, y->thread.pid);

	if (!c)
		c = num_compare(x->thread.tid, y->thread.tid);
	if (!c)
		c = num_compare(x->order, y->order);
	if (!c)
		c = num_compare(y->ns, x->ns);
	return c ? c : num_compare(x->bucket, y->bucket);
}

/* A bucket that was all gpuprof's own cost stays, with nothing in it. */
static uint64_t own_ns(const struct snapshot_thread *t, unsigned int bucket)
{
	return bucket < CLASS_END ? t->book.own_ns[bucket] : 0;
}

static void add_thread(struct table *t, struct lines *lines, const struct snapshot *snap, size_t i)
{
	struct snapshot_thread thread = snap->threads.v[i];
	struct line *line;

	own_cost_take(&lines->cost, &thread.book);
	for (unsigned int bucket = 0; thread.has_book && bucket < BUCKET_SUM_END; bucket++) {
		if (!thread.book.ns[bucket] && !own_ns(&thread, bucket))
			continue;
		line = VEC_PUSH(&lines->all);
		if (line)
			*line = (struct line){ thread, i, bucket, thread.book.ns[bucket] };
		t->failed |= !line;
	}
}

/*
 * Off the CPU: all of its own reasons; of calls, if known; unknown for unseen time. And of that,
 * ready without a CPU: in a call the last time that it was.
 */
static void fill_off(struct cell *row, const struct line *line, bool knows_late)
{
	const struct book_sum *book = &line->thread.book;

	if (bucket_is_off(line->bucket)) {
		cell_u(&row[BLOCKED], line->ns);
		cell_u(&row[RUNQUEUE], line->bucket == BUCKET_OFF_0 + OFF_RUNQUEUE ? line->ns : 0);
	} else if (line->bucket < CLASS_END && !(book->unseen >> line->bucket & 1)) {
		cell_u(&row[BLOCKED], book->blocked_ns[line->bucket]);
		if (knows_late)
			cell_u(&row[RUNQUEUE], book->late_ns[line->bucket]);
	}
}

static void add_row(struct table *t, const struct line *line, const struct lines *lines)
{
	const struct snapshot_thread *thread = &line->thread;
	uint64_t wall = thread->book.close_ns - thread->book.open_ns;
	struct cell *row = table_row(t);
	const char *comm = thread->comm[0] ? thread->comm : NULL;

	if (!comm && thread->tid == thread->pid && thread->process_comm[0])
		comm = thread->process_comm;
	view_put_pid(&row[PID], thread->pid);
	if (!thread->past)
		cell_u(&row[TID], thread->tid);
	cell_u(&row[NS], line->ns);
	cell_d(&row[SHARE], (double)line->ns / (double)wall);
	cell_u(&row[WALL], wall);
	if (lines->knows_off)
		fill_off(row, line, lines->knows_late);
	if (lines->cost.call_ns && line->bucket < CLASS_END)
		cell_u(&row[OWN], own_ns(thread, line->bucket));
	if (thread->birth_ns)
		cell_u(&row[BIRTH], thread->birth_ns);
	if (thread->process_start_ns)
		cell_u(&row[PROCESS_START], thread->process_start_ns);
	cell_s(t, &row[COMM], comm);
	cell_s(t, &row[BUCKET], bucket_name(line->bucket));
}

static void fill(struct table *t, const struct view_query *q)
{
	const struct snapshot *snap = q->snapshot;
	const char *fact = snapshot_fact(snap, "off_cpu");
	struct lines lines = {
		.cost = own_cost_read(snap),
		.knows_off = fact && !strcmp(fact, "recorded"),
		.knows_late = snapshot_fact(snap, "off_cpu_calls") != NULL,
	};

	t->book_columns = COMM + 1;
	for (size_t i = 0; i < snap->threads.n; i++)
		add_thread(t, &lines, snap, i);
	if (lines.all.n)
		qsort(lines.all.v, lines.all.n, sizeof(*lines.all.v), compare_lines);
	for (size_t i = 0; i < lines.all.n; i++)
		add_row(t, &lines.all.v[i], &lines);
	VEC_FREE(&lines.all);
}

const struct view view_threads = {
	.name = "threads",
	.help = "a thread that drives a device, and bucket; ns of a thread add up to wall_ns",
	.columns = columns, .n_columns = N_COLUMNS,
	.never_null = "bucket ns wall_ns",
	.fill = fill,
};
