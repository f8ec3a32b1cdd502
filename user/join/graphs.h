/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Node of a CUDA graph <-> the call that was captured into it, of one process. Calls show the
 * work given to a stream while it captured, the resulting graph, and the graphs made of that and
 * launched; works show their node. Knows nothing of ranges' names, books or tables.
 *
 * Where CUPTI's callbacks report nodes as they are made (EVENT_NODE), by those:
 * struct graph_callbacks. Else:
 *
 * By order: the nodes of a graph that have works, by their numbers, are the calls that were
 * captured into it, by their times. That is believed if there are as many of the ones as of the
 * others, and each node is of its call's kind and has its grid and block, or bytes, and calls of
 * one kernel are nodes of one name. Until all nodes were seen, where any call of the process was
 * lost meanwhile, or where a capture contained no calls (a child graph, nodes that were added),
 * nothing is believed: EVIDENCE_UNRESOLVED, never a guess.
 *
 * A stream captures from its BEGIN to END, and others that wait for an event that was recorded in
 * it.
 *
 * Examples; S streams, N nodes of a launch of the graph that was made of the capture:
 *
 *   begin S1, gemm S1, relu S1, end    N5 gemm, N6 relu             N5 <- gemm, N6 <- relu
 *   ... and a second one is made       N7 gemm, N8 relu             the same
 *   begin S1, gemm S1, record e S1, wait S2 e, relu S2, end         the same
 *   begin S1, gemm S1, relu S2, end    N5 gemm                      N5 <- gemm; relu was launched
 *   begin S1, gemm S1, relu S1, end    N5 gemm                      unresolved until relu is seen
 *   begin S1, gemm S1, gemm S1, end    N5 gemm, N6 relu             unresolved: two names
 *
 * Bounded: calls that are kept of all processes, executable graphs; more are unresolved.
 */
#ifndef JOIN_GRAPHS_H
#define JOIN_GRAPHS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "catalog/func.h"
#include "event/event.h"
#include "join/join.h"

#define GRAPHS_CALLS_MAX 65536		/* of all processes */
#define GRAPHS_NODES_MAX 65536		/* the same */
#define GRAPHS_MADE_MAX 131072		/* nodes reported by callbacks: the same */
#define GRAPHS_NUMBERS_MAX 65536	/* of CUPTI's, of a process */
#define GRAPHS_EXECS_MAX 8192		/* executable graphs of a process */

/* so long after its end all that was open in a capture is known */
#define GRAPHS_SETTLE_NS 1000000000ull

/* How it is known which captured call a work is of. They are words in tables. */
enum graph_evidence {
	EVIDENCE_NONE,			/* it is of no graph */
	EVIDENCE_ORDER,
	EVIDENCE_UNRESOLVED,
	EVIDENCE_CALLBACK,
	EVIDENCE_PENDING,		/* a callback reported its node; the call comes later */
	EVIDENCE_END
};

/* "", "order", ..., "?" */
static inline const char *graph_evidence_name(unsigned int evidence)
{
	static const char *const names[EVIDENCE_END] = {
		[EVIDENCE_NONE] = "", [EVIDENCE_ORDER] = "order",
		[EVIDENCE_UNRESOLVED] = "unresolved", [EVIDENCE_CALLBACK] = "callback",
		[EVIDENCE_PENDING] = "pending",
	};

	return evidence < EVIDENCE_END ? names[evidence] : "?";
}

struct captured_call {
	uint64_t start_ns, end_ns;
	uint64_t entity;		/* 0: unknown */
	uint64_t bytes;			/* 0: unknown */
	uint32_t tid;
	uint32_t range;			/* the open range by graphs_settle; 0: none */
	uint32_t grid[3], block[3];
	uint16_t func;
	uint8_t kind;			/* enum work_kind */
	bool has_shape;
	/* its range is known (of EVIDENCE_CALLBACK: it always is) */
	bool settled;
};

/*
 * Node of a CUDA graph <-> the call that made it, of one process, where CUPTI's callbacks report
 * nodes: a node is of the call that its thread was in when it was made, a clone (of an
 * executable graph, of a graph that was cloned) of its original's call. No order, no guess.
 * Calls and nodes come in any order, less than GRAPH_CALLBACKS_LATE_NS apart; an original comes
 * before its clones.
 *
 * Examples; T a thread:
 *
 *   T7 calls [10, 20]; N5 is made in T7 at 15; N6 a clone of N5     N5 and N6 <- the call
 *   N5 is made in T7 at 15; T7 calls [10, 20]                       the same
 *   T7 calls [10, 20]; N5 in T7 at 13, N6 in T7 at 17               both: a library's call
 *   T7 calls [10, 20]; N5 is made in T7 at 25, or in T8 at 15       N5: not known
 *   N6 a clone of N4, which was never reported                      N6: unresolved
 *
 * Bounded: the entries of all processes; for a new node the process forgets its oldest.
 */

#define GRAPH_CALLBACKS_LATE_NS 1000000000ull

struct graph_callbacks;

/* One EVENT_NODE. 0 or -ENOMEM. */
int graph_callbacks_push_node(struct graph_callbacks *n, const struct event *node);

/* The process executed another program then: numbers of nodes that were made before are free
 * again. */
void graph_callbacks_exec(struct graph_callbacks *n, uint64_t ns);

/* CALLBACK: *call is its call, valid until the next push. PENDING: the call may still come, or
 * its open ranges are not settled. UNRESOLVED: unknown. */
enum graph_evidence graph_callbacks_find(const struct graph_callbacks *n, uint64_t node,
					 const struct captured_call **call);

struct graphs_room {
	size_t calls_left, nodes_left, made_left;
};

struct graphs;

struct graphs *graphs_new(struct graphs_room *room);	/* NULL + errno */
void graphs_free(struct graphs *g);

/* One that returned, of a function of that role. 1: it was captured, so that it gave no work; 0
 * or -ENOMEM. */
int graphs_push_call(struct graphs *g, const struct event *call, enum func_role role);
/* else calls that give work are irrelevant */
bool graphs_is_capturing(const struct graphs *g);
/* Which calls made nodes: for EVENT_NODE, and when the process executes another program. */
struct graph_callbacks *graphs_callbacks(struct graphs *g);
void graphs_lost(struct graphs *g, uint32_t tid);	/* calls of a thread were lost */

/* A work and its launch (NULL: an orphan), in the order of the join; g NULL: of its process no
 * call of a graph was seen. *call: which it is of, valid until the next push; NULL unless the
 * evidence is of one. *err: 0 or -ENOMEM. */
enum graph_evidence graphs_push_work(struct graphs *g, const struct event *work,
				     const struct launch *launch,
				     const struct captured_call **call, int *err);

/* All ranges open before horizon_ns are known: innermost(ctx, tid, ns) returns them. */
void graphs_settle(struct graphs *g, uint64_t horizon_ns,
		   uint32_t (*innermost)(const void *ctx, uint32_t tid, uint64_t ns),
		   const void *ctx);

#endif
