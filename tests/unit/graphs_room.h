/* SPDX-License-Identifier: BSD-3-Clause */
/* A process whose streams capture graphs, as its calls show it, for the tests of join/graphs.h. */
#ifndef UNIT_GRAPHS_ROOM_H
#define UNIT_GRAPHS_ROOM_H

#include <stdlib.h>
#include <string.h>

#include "join/graphs.h"
#include "lib/cmocka.h"
#include "lib/random.h"
#include "lib/work_named.h"

#define SEC 1000000000ull

struct play {
	struct graphs_room room;
	struct graphs *g;
	uint64_t now_ns;
	uint32_t tid;
	bool lossy;		/* calls may be lost */
};

static inline void begin_play(struct play *p)
{
	*p = (struct play){ .room = { GRAPHS_CALLS_MAX, GRAPHS_NODES_MAX, GRAPHS_MADE_MAX },
			    .now_ns = SEC, .tid = 7 };
	p->g = graphs_new(&p->room);
	assert_non_null(p->g);
}

static inline void end_play(struct play *p)
{
	graphs_free(p->g);
	assert_int_equal(p->room.calls_left, GRAPHS_CALLS_MAX);
	assert_int_equal(p->room.nodes_left, GRAPHS_NODES_MAX);
	assert_int_equal(p->room.made_left, GRAPHS_MADE_MAX);
}

/* Returns when it began. */
static inline uint64_t call(struct play *p, enum func_role role, struct event ev)
{
	ev.kind = EVENT_CALL;
	ev.tid = p->tid;
	ev.start_ns = p->now_ns += 10;
	ev.end_ns = p->now_ns += 10;
	if (p->lossy && !below(40)) {
		graphs_lost(p->g, p->tid);
		return ev.start_ns;
	}
	assert_in_range(graphs_push_call(p->g, &ev, role), 0, 1);
	return ev.start_ns;
}

static inline void begin(struct play *p, uint64_t stream)
{
	call(p, ROLE_BEGIN, (struct event){ .has = HAS_STREAM, .call.stream = stream });
}

static inline void end(struct play *p, uint64_t stream, uint64_t graph)
{
	call(p, ROLE_END, (struct event){ .has = HAS_STREAM, .call.stream = stream,
					  .call.address = graph });
}

static inline void record(struct play *p, uint64_t event, uint64_t stream)
{
	call(p, ROLE_RECORD, (struct event){ .has = HAS_STREAM | HAS_ENTITY, .call.stream = stream,
					.call.entity = event });
}

static inline void wait(struct play *p, uint64_t stream, uint64_t event)
{
	call(p, ROLE_WAIT, (struct event){ .has = HAS_STREAM | HAS_ENTITY, .call.stream = stream,
					.call.entity = event });
}

/* A kernel of so many blocks. */
static inline uint64_t kernel(struct play *p, uint64_t stream, uint64_t entity, uint32_t blocks)
{
	return call(p, ROLE_KERNEL, (struct event){
		.has = HAS_STREAM | HAS_ENTITY | HAS_SHAPE, .call.stream = stream,
		.call.entity = entity,
		.call.shape = { .grid = { blocks, 1, 1 }, .block = { 32, 1, 1 } } });
}

static inline uint64_t copy(struct play *p, uint64_t stream, uint64_t bytes)
{
	return call(p, ROLE_COPY, (struct event){ .has = HAS_STREAM | HAS_BYTES,
						  .call.stream = stream, .call.bytes = bytes });
}

static inline void make(struct play *p, uint64_t exec, uint64_t graph)
{
	call(p, ROLE_MAKE, (struct event){ .has = HAS_ENTITY, .call.entity = graph,
					   .call.address = exec });
}

static inline struct launch launch(struct play *p, uint64_t exec)
{
	struct launch l = { .tid = p->tid };

	l.start_ns = call(p, ROLE_LAUNCH, (struct event){ .has = HAS_STREAM | HAS_ENTITY,
							  .call.stream = 99,
							 .call.entity = exec }) + 1;
	l.end_ns = l.start_ns + 8;
	l.call = (struct launch_call){ .start_ns = l.start_ns - 1, .end_ns = l.end_ns + 1, .class = CLASS_LAUNCH };
	return l;
}

struct node {
	uint32_t graph;
	uint64_t id;
	const char *name;	/* NULL: a copy */
	uint64_t size;		/* blocks, or bytes */
};

/* When its call began; 0: unresolved. */
static inline uint64_t of(struct play *p, struct launch *l, struct node n)
{
	const struct work w = { .kind = n.name ? WORK_KIND_KERNEL : WORK_KIND_COPY,
				.has = WORK_HAS_GRAPH, .graph = n.graph, .graph_node = n.id,
				.grid = { n.name ? (uint32_t)n.size : 0, !!n.name, !!n.name },
				.block = { n.name ? 32 : 0, !!n.name, !!n.name },
				.bytes = n.name ? 0 : n.size };
	const struct event ev = { .kind = EVENT_WORK, .work = work_named(w, n.name) };
	const struct captured_call *c;
	enum graph_evidence evidence;
	int err;

	evidence = graphs_push_work(p->g, &ev, l, &c, &err);
	assert_int_equal(err, 0);
	assert_int_equal(evidence, c ? EVIDENCE_ORDER : n.graph ? EVIDENCE_UNRESOLVED : EVIDENCE_NONE);
	l->works++;
	return c ? c->start_ns : 0;
}

/* gemm and relu in S1: the graph 100. When they began. */
static inline void capture_two(struct play *p, uint64_t began[2])
{
	begin(p, 1);
	began[0] = kernel(p, 1, 0x10, 4);
	began[1] = kernel(p, 1, 0x20, 8);
	end(p, 1, 100);
}

/* Two launches of the executable graph, whose nodes have these numbers. */
static inline void is_of_two(struct play *p, uint64_t exec, uint32_t graph, uint64_t first,
		      const uint64_t began[2])
{
	const struct node a = { graph, first, "gemm", 4 }, b = { graph, first + 1, "relu", 8 };
	struct launch l = launch(p, exec);

	assert_int_equal(of(p, &l, a), 0);	/* not all were seen */
	assert_int_equal(of(p, &l, b), 0);	/* more might come */
	l = launch(p, exec);
	assert_int_equal(of(p, &l, a), began[0]);
	assert_int_equal(of(p, &l, b), began[1]);
}

#endif
