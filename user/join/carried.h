/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Nodes of graphs of one process whose calls were told before the events began that are read now, as whoever
 * read those says (EVENT_MADE): a later file of a session. A statement by order holds until the executable
 * graph becomes another. For graphs.c only.
 *
 * Examples; a statement of node N, call C:
 *
 *   N5 <- C                             N5 <- C
 *   N5 <- C, then N5 <- D               N5 <- D
 *   N5 <- C by callback, N5 <- D by order    N5 <- C
 *   N5 <- C by order in E; E updated    N5: not known
 *   N5 <- C of grid 4; a work of grid 8 N5: not known of that work
 *
 * Bounded: what is kept of all processes; what is more is not kept.
 */
#ifndef JOIN_CARRIED_H
#define JOIN_CARRIED_H

#include "base/map.h"
#include "base/vec.h"
#include "join/graphs.h"

/* Start zeroed. */
struct carried {
	struct map by_node;		/* -> index */
	VEC(struct graphs_known) all;
	struct map execs;		/* of whom some of them are */
};

void carried_free(struct carried *c, struct graphs_room *room);

int carried_push(struct carried *c, struct graphs_room *room, const struct graphs_known *k);	/* 0 or -ENOMEM */

/* ORDER, CALLBACK and *call, valid until the next push; or UNRESOLVED. work: of the node; NULL: any. */
enum graph_evidence carried_find(const struct carried *c, uint64_t node, const struct work *work,
				 const struct captured_call **call);

/* The executable graph is another, or no more; 0: all of them. */
void carried_forget(struct carried *c, struct graphs_room *room, uint64_t exec);

#endif
