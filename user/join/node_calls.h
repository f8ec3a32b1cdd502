/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Node of a CUDA graph <-> the call that made it, of one process, where CUPTI's callbacks tell of nodes:
 * a node is of the call that its thread was in when it was made, a clone (of an executable graph, of a
 * graph that was cloned) of its original's call. No order, no guess. Calls and nodes come in any order,
 * less than NODE_CALLS_LATE_NS apart; an original comes before its clones. For graphs.c only.
 *
 * Examples; T a thread:
 *
 *   T7 calls [10, 20]; N5 is made in T7 at 15; N6 a clone of N5     N5 and N6 <- the call
 *   N5 is made in T7 at 15; T7 calls [10, 20]                       the same
 *   T7 calls [10, 20]; N5 in T7 at 13, N6 in T7 at 17               both: a library's call makes several
 *   T7 calls [10, 20]; N5 is made in T7 at 25, or in T8 at 15       N5: not known
 *   N6 a clone of N4, of which nobody told                          N6: not known
 *
 * Bounded: what is kept of all processes; for a new node the process forgets its oldest.
 */
#ifndef JOIN_NODE_CALLS_H
#define JOIN_NODE_CALLS_H

#include "join/graphs.h"

#define NODE_CALLS_LATE_NS 1000000000ull

struct node_calls;

struct node_calls *node_calls_new(struct graphs_room *room);	/* NULL + errno */
void node_calls_free(struct node_calls *n);

/* One EVENT_NODE. 0 or -ENOMEM. */
int node_calls_push_node(struct node_calls *n, const struct event *node);

/* A call that may make nodes; captured: it does, as far as streams tell. 1: it has made nodes that were
 * told; 0 or -ENOMEM. */
int node_calls_push_call(struct node_calls *n, const struct event *call, enum graph_role role,
			 bool captured);

/* The process executed another program then: numbers of nodes that were made before are free again. */
void node_calls_exec(struct node_calls *n, uint64_t ns);

bool node_calls_is_waiting(const struct node_calls *n);	/* nodes were told whose call was not */

/* CALLBACK: *call is its call, valid until the next push. PENDING: that may be told yet, or what was open
 * in it is not settled. UNRESOLVED: it is not known. */
enum graph_evidence node_calls_find(const struct node_calls *n, uint64_t node,
				    const struct captured_call **call);

/* As graphs_settle. */
void node_calls_settle(struct node_calls *n, uint64_t horizon_ns,
		       uint32_t (*innermost)(const void *ctx, uint32_t tid, uint64_t ns),
		       const void *ctx);

#endif
