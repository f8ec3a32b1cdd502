/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Node of a CUDA graph <-> the call that made it, of one process, where CUPTI's callbacks report
 * nodes: a node is of the call that its thread was in when it was made, a clone (of an
 * executable graph, of a graph that was cloned) of its original's call. No order, no guess.
 * Calls and nodes come in any order, less than GRAPH_CALLBACKS_LATE_NS apart; an original comes
 * before its clones. For graphs.c only.
 *
 * Examples; T a thread:
 *
 *   T7 calls [10, 20]; N5 is made in T7 at 15; N6 a clone of N5     N5 and N6 <- the call
 *   N5 is made in T7 at 15; T7 calls [10, 20]                       the same
 *   T7 calls [10, 20]; N5 in T7 at 13, N6 in T7 at 17               both: a library's call
 * makes several
 *   T7 calls [10, 20]; N5 is made in T7 at 25, or in T8 at 15       N5: not known
 *   N6 a clone of N4, which was never reported                      N6: unresolved
 *
 * Bounded: the entries of all processes; for a new node the process forgets its oldest.
 */
#ifndef JOIN_GRAPH_CALLBACKS_H
#define JOIN_GRAPH_CALLBACKS_H

#include "join/graphs.h"

#define GRAPH_CALLBACKS_LATE_NS 1000000000ull

/* The kept part of a call that gives a stream work. */
void captured_fill(struct captured_call *out, const struct event *call, enum func_role role);

struct graph_callbacks;

struct graph_callbacks *graph_callbacks_new(struct graphs_room *room);	/* NULL + errno */
void graph_callbacks_free(struct graph_callbacks *n);

/* One EVENT_NODE. 0 or -ENOMEM. */
int graph_callbacks_push_node(struct graph_callbacks *n, const struct event *node);

/* A call that may make nodes; captured: it does, as far as streams show. 1: it has made nodes
 * that were reported; 0 or -ENOMEM. */
int graph_callbacks_push_call(struct graph_callbacks *n, const struct event *call,
			      enum func_role role,
			 bool captured);

/* The process executed another program then: numbers of nodes that were made before are free
 * again. */
void graph_callbacks_exec(struct graph_callbacks *n, uint64_t ns);

/* reported nodes without their call */
bool graph_callbacks_is_waiting(const struct graph_callbacks *n);

/* CALLBACK: *call is its call, valid until the next push. PENDING: the call may still come, or
 * its open ranges are not settled. UNRESOLVED: unknown. */
enum graph_evidence graph_callbacks_find(const struct graph_callbacks *n, uint64_t node,
				    const struct captured_call **call);

/* As graphs_settle. */
void graph_callbacks_settle(struct graph_callbacks *n, uint64_t horizon_ns,
		       uint32_t (*innermost)(const void *ctx, uint32_t tid, uint64_t ns),
		       const void *ctx);

#endif
