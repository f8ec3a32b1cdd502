/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An executable graph: what was captured into it and since when, which of CUPTI's graphs it is, its
 * nodes as works show them, and whether the ones are the others. For graphs.c only.
 */
#ifndef JOIN_GRAPH_NODES_H
#define JOIN_GRAPH_NODES_H

#include "join/captured.h"

#define EXEC_LAUNCHES 8
#define VERSIONS_MAX 8		/* the first, one for those that are forgotten, and the latest */

struct exec_version {
	struct captured *captured;	/* NULL: not known, or not to be told by order */
	uint64_t since_ns;
	bool checked, fits;		/* against the nodes */
};

struct exec_launch {
	uint64_t start_ns, end_ns;
	uint32_t tid;
};

struct exec_node {
	uint64_t id;
	uint64_t bytes;
	uint64_t name;			/* hash; 0: none */
	uint32_t grid[3], block[3];
	uint8_t kind;			/* enum work_kind */
};

struct graph_exec {
	struct graphs_room *room;
	uint64_t ended_ns;		/* 0: it is in use */
	uint32_t graph;			/* CUPTI's number; 0: not known yet */
	VEC(struct exec_version) versions;
	struct exec_launch first[EXEC_LAUNCHES], last[EXEC_LAUNCHES];
	uint32_t launches;
	VEC(struct exec_node) nodes;	/* by their ids */
};

void exec_free(struct graph_exec *e);

/* From since_ns on it is of what was captured, whose reference it takes; NULL: not known. 0 or
 * -ENOMEM. */
int exec_become(struct graph_exec *e, struct captured *captured, uint64_t since_ns);

void exec_launched(struct graph_exec *e, const struct event *call);
bool exec_was_launched(const struct graph_exec *e, uint32_t tid, uint64_t ns);

/* A work of one of its nodes, launched at ns. losses: of calls, so far. NULL: it cannot be told which
 * call it is of. *err: -ENOMEM, or 0. */
const struct captured_call *exec_call(struct graph_exec *e, const struct event *work, uint64_t ns,
				      uint64_t losses, int *err);

#endif
