/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What streams were given while they captured: a list of calls that graphs share, and the captures
 * that are under way. For graphs.c, graph_nodes.c and node_calls.c only.
 */
#ifndef JOIN_CAPTURED_H
#define JOIN_CAPTURED_H

#include "base/vec.h"
#include "join/graphs.h"

/* What is kept of a call that gives a stream work. */
void captured_fill(struct captured_call *out, const struct event *call, enum graph_role role);

struct captured {			/* shared: get and put */
	VEC(struct captured_call) calls;	/* by their times, once it has ended */
	struct graphs_room *room;
	uint32_t refs;
	uint32_t streams;		/* that captured */
	bool spoiled;			/* nodes are no calls, or not all calls were kept */
	bool whole;			/* none of its calls was lost */
	uint64_t losses;		/* of the process's calls, when it began */
	uint64_t end_ns;
};

/* NULL may be got and put. */
struct captured *captured_get(struct captured *c);
void captured_put(struct captured *c);

struct capturing {
	struct captured *into;
	uint32_t tid;			/* that began it */
	VEC(uint64_t) streams;
	VEC(uint64_t) events;		/* that were recorded in them */
};

/* Under way in a process. */
struct capturings {
	VEC(struct capturing) all;
};

void capturings_free(struct capturings *c);

/* 0 or -ENOMEM. */
int capturings_begin(struct capturings *c, struct graphs_room *room, const struct event *call,
		     uint64_t losses);

/* The capture that the stream was in, which is over: the caller's to put. NULL: there was none. */
struct captured *capturings_end(struct capturings *c, const struct event *call);

/* Calls of the thread were lost: the end of what it captures may be one. */
void capturings_lost(struct capturings *c, uint32_t tid);

/* KERNEL to ROUTINE, SPOIL, LAUNCH, RECORD, WAIT. 1: it was captured; 0 or -ENOMEM. */
int capturings_push(struct capturings *c, const struct event *call, enum graph_role role);

#endif
