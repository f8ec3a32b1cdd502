/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Times off the CPU added up: per thread by reason, what it waited in, who woke it and the stack. In
 * bounded memory: when there are too many kinds, those of a thread and reason become one. Start zeroed.
 * Knows one event after the other; what time belongs to what is the book's business.
 */
#ifndef FACTS_OFFS_H
#define FACTS_OFFS_H

#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"
#include "event/event.h"

#define OFFS_MAX 8192		/* rows, beyond which they are not kept apart */

struct off_row {
	uint32_t pid, tid;
	uint8_t reason;		/* enum off_reason */
	bool more;		/* of several kinds, which were not kept apart */
	const char *what;	/* as the event's text2; NULL: in no system call */
	const char *waker;	/* as its text; NULL: unknown */
	uint64_t waker_id;	/* OFF_WAKER */
	uint64_t stack;
	uint64_t count;		/* that ended */
	uint64_t open;		/* that go on */
	uint64_t blocked_ns;	/* until woken; of `runqueue` 0 */
	uint64_t runqueue_ns;	/* and from then on, or all of it */
	uint64_t max_ns;	/* the longest, with both */
};

struct offs {
	VEC(struct off_row) all;
	struct map index;	/* hash -> place + 1 */
	struct strpool *texts;
	uint64_t more;		/* events that found no row of their own */
	uint64_t untold;	/* times whose end was not told (OFF_UNTOLD): in no row */
	uint64_t untold_ns;
};

/* An EVENT_OFF with a reason or OFF_UNTOLD, of which what is before from_ns is not counted. 0 or -ENOMEM. */
int offs_add(struct offs *o, const struct event *ev, uint64_t from_ns);
void offs_reset(struct offs *o);	/* forgets all rows */
void offs_free(struct offs *o);

#endif
