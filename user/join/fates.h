/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What becomes of a process's launches that met no work: they are awaited; when that is over they were
 * captured, or are untold, or nobody knows (join.h); and of those that met fewer than they have. Knows the launches, not the works. For join.c only.
 */
#ifndef JOIN_FATES_H
#define JOIN_FATES_H

#include "base/vec.h"
#include "join/captures.h"
#include "join/copies.h"
#include "join/graph_works.h"
#include "join/join.h"
#include "join/side.h"
#include "join/streams.h"

/* Start zeroed. */
struct fates {
	struct captures captures;
	struct copies copies;
	struct streams streams;
	struct graph_works graphs;
	uint64_t unsure_ns;	/* nodes until then met no launch: of graphs launched before none is missed */
	VEC(uint32_t) awaiting;	/* numbers, the low half, of launches that were awaited */
	struct {		/* of launches [from, next) of the thread none met a work */
		uint32_t tid;
		uint64_t from, next;
	} ahead;
};

/* Whom to tell (join_sink.untold), and what is counted. */
struct fates_teller {
	const struct join_sink *sink;
	struct join_counts *counts;
	struct join_room *room;
	const struct launches *launches;
	uint32_t pid;
	bool goes_on;			/* nobody knows yet: what is not decided is awaited */
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

/* A launch met a work, be it outside of the session. 0, -ENOMEM or the sink's error. */
int fates_note_node(struct fates *f, struct side_launch *by, const struct event *work,
		    const struct fates_teller *to);

/* A launching call was captured, whose record may have come before. 0 or -ENOMEM. */
int fates_note_captured(struct fates *f, struct join_room *room, const struct launches *l,
			const struct event *call, struct join_counts *counts);

/* Launches that began before floor_ns are awaited no more. *first_ns: when the first began of those that
 * are, UINT64_MAX: there is none. 0 or the sink's error. */
int fates_decide(struct fates *f, uint64_t floor_ns, const struct fates_teller *to, uint64_t *first_ns);

/* How many are awaited. */
size_t fates_awaited(const struct fates *f, const struct launches *l);

#endif
