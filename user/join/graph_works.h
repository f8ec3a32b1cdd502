/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which launches of a process's graphs gave fewer works than the graph has nodes that give any, so that a
 * node whose record CUPTI lost uncounted is lost, not silence. A graph's nodes are those that any of its
 * launches gave works of. A launch that is over lacks those that did not come with it, if each launch runs
 * all of its graph's nodes: that is known of a process, or not (join_sink.graphs_run); a graph that ran a
 * node twice in a launch has loops, so it is not of that. It is over when a later launch of its graph gave a work,
 * since two of one graph do not run at once, or as join/streams.h has it. Knows no calls, no captures. For
 * join.c and fates.c only.
 *
 * Examples; L launches of one graph, and the nodes that each gave works of:
 *
 *   L1 a b c   L2 a c     L3 a b c     L2: 1 lost, between its launch and L3's first work
 *   L1 a b     L2 a b c   L3 a b c     L1: 1 lost: known when L2 came
 *   L1 a b c   L2 a c                  L2: not known, c or what follows may run yet
 *   L1 a b c   L2 a c     sync         L2: 1 lost
 *   L1 a c     L2 a c     L3 a c       b is not known of: nobody can miss it
 *   L1 a b b   L2 a b     L3 a b b     not known: b is in a loop
 *   L1 a b c   L2         L3 a b c     L2 is a launch that met no work: not known here
 *
 * Bounded, by what all processes share: of nodes that there is no room for a launch has as many as the one
 * that gave most works; launches that are too many are judged before their time, by what is known then.
 */
#ifndef JOIN_GRAPH_WORKS_H
#define JOIN_GRAPH_WORKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "base/vec.h"
#include "join/join.h"
#include "join/join_room.h"

#define GRAPH_WORKS_NODES_MAX 65536	/* of all processes */
#define GRAPH_WORKS_LAUNCHES_MAX 16384	/* that are not judged yet, the same */
#define GRAPH_WORKS_GRAPHS_MAX 4096	/* of a process; launches of more are not looked at */

struct graph_works_node {
	uint64_t id;
	uint64_t launch;		/* number of the last that it came with */
};

struct graph_works_graph {
	VEC(struct graph_works_node) nodes;	/* by their ids */
	uint32_t most;			/* works of one launch */
	bool varies;			/* a launch need not run each node once */
	uint64_t came_ns;		/* the latest launch that gave a work began then */
};

struct graph_works_launch {
	uint64_t start_ns, end_ns;
	uint64_t began_ns, used_ns;	/* its first work's start, its last one's end */
	uint32_t tid, graph;		/* index */
	uint32_t works;
};

/* Start zeroed. */
struct graph_works {
	struct map by_number;		/* CUPTI's of a graph -> index + 1 */
	VEC(struct graph_works_graph) graphs;
	VEC(struct graph_works_launch) launches;	/* from `gone` on: those that are not judged yet */
	size_t gone;
	uint64_t first;			/* number of launches.v[0] - 1 */
	uint64_t open;			/* up to this number there is none that lacks works */
	uint32_t context;		/* of the works */
	bool has_context, several;	/* it is known; there were others */
	bool lenient;			/* none is waited for: they may lack works (graph_works_judge) */
};

struct graph_works_lack {
	uint32_t works;
	bool is_over, varies;		/* else they may come yet; it need not have run them */
	uint64_t start_ns, end_ns;	/* when they ran */
};

struct graph_works_judge {
	/* Has its thread waited for all it launched in the context before? */
	bool (*has_waited)(void *ctx, const struct graph_works_launch *launch, uint32_t context);
	/* A launch lacks works. 0; 1: those of this process may, whatever its graphs are; or an error. */
	int (*lacks)(void *ctx, const struct graph_works_lack *lack);
	void *ctx;
};

void graph_works_free(struct graph_works *g, struct join_room *room);

/* A work, if it is of a graph's node, and its launch. *number: 0 at first, it is the launch's to keep. 0, -ENOMEM or
 * the judge's error. */
int graph_works_note(struct graph_works *g, struct join_room *room, const struct launch *launch,
		     uint64_t *number, const struct event *work, const struct graph_works_judge *judge);

/* Those that began before floor_ns are judged, and forgotten. *first_ns: when the first one began of those that
 * lack works now, or UINT64_MAX. 0 or the judge's error. */
int graph_works_decide(struct graph_works *g, struct join_room *room, uint64_t floor_ns,
		       const struct graph_works_judge *judge, uint64_t *first_ns);

void graph_works_exec(struct graph_works *g);	/* the process executed another program, whose numbers are others */

#endif
