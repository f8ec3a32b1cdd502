/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Time off the CPU: per thread by reason, system call, waker and stack. Bounded: beyond
 * OFFCPU_MAX, new kinds share one row per process and reason. Start zeroed. Knows single events;
 * booking time is the thread book's job.
 */
#ifndef FACTS_OFFCPU_H
#define FACTS_OFFCPU_H

#include "base/rows.h"
#include "event/event.h"

#define OFFCPU_MAX 8192

struct offcpu_key {
	uint32_t process, pid, tid;	/* handle; pid as it is shown */
	uint32_t pad;
	uint64_t waker_id;	/* OFF_WAKER */
	uint64_t stack;
	uint64_t what, waker;	/* event_text_hash of the row's texts */
	uint32_t reason;	/* enum off_reason */
	/* 1: of several threads and kinds, which are not kept apart; tid is 0 */
	uint32_t more;
};

struct offcpu_row {
	struct offcpu_key key;
	char *what;		/* as the event's text2; NULL: in no system call, or `more` */
	char *waker;		/* as its text; NULL: unknown, or `more` */
	uint64_t count;		/* that ended */
	uint64_t open;		/* that go on */
	uint64_t blocked_ns;	/* until woken; of `runqueue` 0 */
	uint64_t runqueue_ns;	/* and from then on, or all of it */
	uint64_t max_ns;	/* the longest, with both */
};

struct offcpu {
	struct rows rows;	/* struct offcpu_row */
	uint64_t more;		/* events in rows of several kinds */
	uint64_t no_end;	/* times whose end was not reported (OFF_NO_END): in no row */
	uint64_t no_end_ns;
};

static inline size_t offcpu_count(const struct offcpu *o)
{
	return o->rows.n;
}

static inline const struct offcpu_row *offcpu_at(const struct offcpu *o, size_t i)
{
	return o->rows.v[i];
}

/* Adds an EVENT_OFF with a reason, or OFF_NO_END; its part before from_ns is not counted. 0 or
 * -ENOMEM. */
int offcpu_add(struct offcpu *o, const struct event *ev, uint64_t from_ns);

/* to is zeroed; 0 or -ENOMEM */
static inline int offcpu_copy(struct offcpu *to, const struct offcpu *from)
{
	to->more = from->more;
	to->no_end = from->no_end;
	to->no_end_ns = from->no_end_ns;
	return rows_copy(&to->rows, &from->rows);
}

/* The same, but rows that differ in nothing but their stacks are one. */
int offcpu_copy_stackless(struct offcpu *to, const struct offcpu *from);

/* The process has ended: its rows become one per reason of `into`. 0 or -ENOMEM. */
int offcpu_fold(struct offcpu *o, uint32_t process, uint32_t into);

/* Subtracts an earlier copy. A max_ns that was reached before becomes what there is at most. */
static inline void offcpu_subtract(struct offcpu *from, const struct offcpu *earlier)
{
	from->more -= earlier->more;
	from->no_end -= earlier->no_end;
	from->no_end_ns -= earlier->no_end_ns;
	rows_subtract(&from->rows, &earlier->rows);
}

static inline void offcpu_free(struct offcpu *o)
{
	rows_free(&o->rows);
	*o = (struct offcpu){ 0 };
}

#endif
