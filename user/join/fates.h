/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What becomes of a process's launches that met no work: they are awaited; when that is over they were
 * captured, or are lost, or are only counted (join.h). Knows the launches, not the works. For join.c only.
 *
 * Examples; L launches of a kernel by one thread, W(s) their works in stream s:
 *
 *   L1 L2 L3   W1(7) W3(7)               L2 is lost: a later work of its lane came
 *   L1 L2 L3   W1(7) W3(8)               only once its window is over: it may be of stream 7, and run
 *   L1 L2 sync L3   W1(7) W3(8)          L2 is lost
 *   L1 L2      W1(7)                     not lost: from its return on it may run
 */
#ifndef JOIN_FATES_H
#define JOIN_FATES_H

#include "base/map.h"
#include "base/vec.h"
#include "join/captures.h"
#include "join/join.h"
#include "join/side.h"

#define FATES_LANES_MAX 1024	/* of a process; when more come all are forgotten */

struct lane {			/* of a thread, which launches into one stream or several */
	uint32_t tid;
	uint32_t context, stream;	/* of the work that came last */
	uint64_t stream_since_ns;	/* what was launched since then gave works of this stream alone */
	uint64_t came_ns;		/* of launches that met a work of a stream, the latest; 0: none has */
	uint64_t met_ns;		/* the same, of graphs too */
	uint64_t synced_ns;		/* when the thread waited for all it had launched, the latest */
	uint64_t open_ns;		/* return of the first launch after that whose window is over; 0: none */
};

/* Start zeroed. */
struct fates {
	struct captures captures;
	VEC(struct lane) lanes;
	struct map by_tid;	/* -> index of a lane */
	size_t last;		/* the lane that was found last */
	VEC(uint32_t) awaiting;	/* numbers, the low half, of launches that were awaited */
	struct {		/* of launches [from, next) of the thread none met a work */
		uint32_t tid;
		uint64_t from, next;
	} ahead;
};

/* Who gets what is not seen (join_sink.unseen), and what is counted. */
struct fates_teller {
	const struct join_sink *sink;
	struct join_counts *counts;
	const struct launches *launches;
	uint32_t pid;
	bool goes_on;			/* another file goes on: what is not decided is awaited */
};

void fates_free(struct fates *f, struct join_room *room);

/* A record of a function of these roles (API_*). 0 or -ENOMEM. */
int fates_note_api(struct fates *f, const struct event *api, unsigned int roles);
bool fates_was_captured(const struct fates *f, const struct event *api);

/* The launch that was added last is awaited. 0 or -ENOMEM. */
int fates_await(struct fates *f, const struct launches *l);

/* A launch met a work. 0 or -ENOMEM. */
int fates_met(struct fates *f, struct side_launch *by, const struct event *work,
	      struct join_counts *counts);

/* A launching call was captured, whose record may have come before. 0 or -ENOMEM. */
int fates_note_captured(struct fates *f, struct join_room *room, const struct launches *l,
			const struct event *call, struct join_counts *counts);

/* Launches that began before floor_ns are awaited no more. *first_ns: when the first began of those that
 * are, UINT64_MAX: there is none. 0 or the sink's error. */
int fates_decide(struct fates *f, uint64_t floor_ns, const struct fates_teller *to, uint64_t *first_ns);

/* In [start_ns, end_ns) a lane may run what was launched last. 0 or the sink's error. */
int fates_pass_open(const struct fates *f, const struct fates_teller *to, uint64_t start_ns, uint64_t end_ns);

/* How many are awaited. */
size_t fates_awaited(const struct fates *f, const struct launches *l);

#endif
