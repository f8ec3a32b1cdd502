// SPDX-License-Identifier: BSD-3-Clause
/*
 * Handles of graphs, of executable ones, and CUPTI's numbers: three maps. What handles were ended or
 * used again stays as long as works of it may come.
 */
#include "join/graphs.h"

#include <errno.h>
#include <stdlib.h>

#include "base/map.h"
#include "base/num.h"
#include "join/captured.h"
#include "join/graph_nodes.h"
#include "join/node_calls.h"

#define TRIES_MAX 64		/* launches that are asked which executable graph a number is */

struct graphs {
	struct graphs_room *room;
	struct capturings capturings;
	struct node_calls *made;
	struct map graphs;		/* handle -> struct captured, a reference */
	VEC(struct graph_exec *) execs;
	struct map by_handle;		/* of those in use */
	struct map by_graph;		/* CUPTI's number -> struct graph_exec; below TRIES_MAX: tries */
	VEC(struct captured *) fresh;	/* references: what was open in them is not known yet */
	uint64_t losses, now_ns;
};

const char *graph_evidence_name(unsigned int evidence)
{
	static const char *const names[EVIDENCE_END] = {
		[EVIDENCE_NONE] = "", [EVIDENCE_ORDER] = "order",
		[EVIDENCE_UNRESOLVED] = "unresolved", [EVIDENCE_CALLBACK] = "callback",
		[EVIDENCE_PENDING] = "pending",
	};

	return evidence < EVIDENCE_END ? names[evidence] : "?";
}

struct graphs *graphs_new(struct graphs_room *room)
{
	struct graphs *g = calloc(1, sizeof(*g));

	if (!g)
		return NULL;
	g->room = room;
	g->made = node_calls_new(room);
	if (g->made)
		return g;
	free(g);
	return NULL;
}

static void *pointer(const struct map_slot *slot)
{
	return slot ? (void *)(uintptr_t)slot->value : NULL;
}

void graphs_free(struct graphs *g)
{
	if (!g)
		return;
	capturings_free(&g->capturings);
	node_calls_free(g->made);
	for (size_t i = 0; i < g->graphs.cap; i++)
		if (g->graphs.slot[i].used)
			captured_put(pointer(&g->graphs.slot[i]));
	for (size_t i = 0; i < g->execs.n; i++)
		exec_free(g->execs.v[i]);
	for (size_t i = 0; i < g->fresh.n; i++)
		captured_put(g->fresh.v[i]);
	map_free(&g->graphs);
	map_free(&g->by_handle);
	map_free(&g->by_graph);
	VEC_FREE(&g->execs);
	VEC_FREE(&g->fresh);
	free(g);
}

/* ---- graphs ---------------------------------------------------------------------------------- */

/* The handle is of what was captured (a reference, taken), or, NULL, of nothing that is known. */
static int set_graph(struct graphs *g, uint64_t handle, struct captured *captured)
{
	struct map_slot *slot = handle ? map_find(&g->graphs, handle) : NULL;

	captured_put(handle ? pointer(slot) : captured);
	if (!handle)
		return 0;
	if (!captured) {
		map_del(&g->graphs, handle);
		return 0;
	}
	if (!slot && g->graphs.n >= GRAPHS_EXECS_MAX) {
		captured_put(captured);
		return 0;
	}
	slot = slot ? slot : map_put(&g->graphs, handle, NULL);
	if (!slot) {
		captured_put(captured);
		return -ENOMEM;
	}
	slot->value = (uintptr_t)captured;
	return 0;
}

static int end_capture(struct graphs *g, const struct event *call)
{
	struct captured *captured = capturings_end(&g->capturings, call), **at;

	if (!captured || call->call.result || !call->call.address) {
		captured_put(captured);
		return 0;
	}
	at = VEC_PUSH(&g->fresh);
	if (at)
		*at = captured_get(captured);
	return set_graph(g, call->call.address, captured);
}

/* ---- executable graphs ----------------------------------------------------------------------- */

static struct graph_exec *find_exec(const struct graphs *g, uint64_t handle)
{
	return pointer(map_find(&g->by_handle, handle));
}

static void end_exec(struct graphs *g, uint64_t handle, uint64_t ns)
{
	struct graph_exec *e = find_exec(g, handle);

	if (e)
		e->ended_ns = num_max(ns, 1);
	map_del(&g->by_handle, handle);
}

/* Those whose works have all come. */
static void drop_ended(struct graphs *g)
{
	size_t kept = 0;

	for (size_t i = 0; i < g->execs.n; i++) {
		struct graph_exec *e = g->execs.v[i];

		if (!e->ended_ns || num_add(e->ended_ns, JOIN_WINDOW_NS) > g->now_ns) {
			g->execs.v[kept++] = e;
			continue;
		}
		if (e->graph)
			map_del(&g->by_graph, e->graph);
		exec_free(e);
	}
	g->execs.n = kept;
}

static int make_exec(struct graphs *g, const struct event *call)
{
	struct captured *captured = pointer(map_find(&g->graphs, call->call.entity));
	struct graph_exec *e, **at = NULL;
	struct map_slot *slot;

	if (!call->call.address)
		return 0;
	end_exec(g, call->call.address, call->start_ns);
	drop_ended(g);
	if (!captured || g->execs.n >= GRAPHS_EXECS_MAX)
		return 0;
	e = calloc(1, sizeof(*e));
	if (e)
		e->room = g->room;
	slot = e && !exec_become(e, captured_get(captured), 0) ?
	       map_put(&g->by_handle, call->call.address, NULL) : NULL;
	if (slot)
		at = VEC_PUSH(&g->execs);
	if (!at) {
		map_del(&g->by_handle, call->call.address);
		if (e)
			exec_free(e);
		return -ENOMEM;
	}
	*at = e;
	slot->value = (uintptr_t)e;
	return 0;
}

static int update_exec(struct graphs *g, const struct event *call)
{
	struct graph_exec *e = find_exec(g, call->call.entity);

	return e ? exec_become(e, captured_get(pointer(map_find(&g->graphs, call->call.address))),
			       call->start_ns) : 0;
}

static int launch_exec(struct graphs *g, const struct event *call)
{
	struct graph_exec *e = find_exec(g, call->call.entity);

	if (e)
		exec_launched(e, call);
	return capturings_push(&g->capturings, call, ROLE_LAUNCH);
}

bool graphs_is_capturing(const struct graphs *g)
{
	return g->capturings.all.n || node_calls_is_waiting(g->made);
}

int graphs_push_node(struct graphs *g, const struct event *node)
{
	return node_calls_push_node(g->made, node);
}

void graphs_lost(struct graphs *g, uint32_t tid)
{
	g->losses++;
	capturings_lost(&g->capturings, tid);
}

void graphs_exec(struct graphs *g, uint64_t ns)
{
	node_calls_exec(g->made, ns);
}

/* What gives a stream work, or says where a stream is. */
static int push_given(struct graphs *g, const struct event *call, enum graph_role role)
{
	int captured = capturings_push(&g->capturings, call, role), made;

	if (captured < 0 || role > ROLE_ROUTINE)
		return captured;
	made = node_calls_push_call(g->made, call, role, captured);
	return made < 0 ? made : captured | made;
}

int graphs_push_call(struct graphs *g, const struct event *call, enum graph_role role)
{
	g->now_ns = num_max(g->now_ns, call->end_ns);
	if (role == ROLE_END)
		return end_capture(g, call);
	if (call->call.result)
		return 0;
	switch (role) {
	case ROLE_BEGIN:
		return capturings_begin(&g->capturings, g->room, call, g->losses);
	case ROLE_CLONE:
		return set_graph(g, call->call.address,
				 captured_get(pointer(map_find(&g->graphs, call->call.entity))));
	case ROLE_FORGET:
		return set_graph(g, call->call.entity, NULL);
	case ROLE_MAKE:
		return make_exec(g, call);
	case ROLE_UPDATE:
		return update_exec(g, call);
	case ROLE_FORGET_EXEC:
		end_exec(g, call->call.entity, call->end_ns);
		return 0;
	case ROLE_LAUNCH:
		return launch_exec(g, call);
	default:
		return push_given(g, call, role);
	}
}

/* ---- works ----------------------------------------------------------------------------------- */

static struct graph_exec *find_launched(const struct graphs *g, const struct launch *launch)
{
	uint64_t ns = launch->start_ns + (launch->end_ns - launch->start_ns) / 2;

	for (size_t i = g->execs.n; i-- > 0;)
		if (!g->execs.v[i]->graph && exec_was_launched(g->execs.v[i], launch->tid, ns))
			return g->execs.v[i];
	return NULL;
}

/* The executable graph of a number of CUPTI's: by the call that launched it, the first few times. */
static struct graph_exec *find_graph(struct graphs *g, uint32_t graph, const struct launch *launch,
				     int *err)
{
	struct map_slot *slot = map_find(&g->by_graph, graph);
	struct graph_exec *e;

	if (!slot && g->by_graph.n >= GRAPHS_NUMBERS_MAX)
		return NULL;
	if (!slot)
		slot = map_put(&g->by_graph, graph, NULL);
	*err = slot ? 0 : -ENOMEM;
	if (!slot || slot->value > TRIES_MAX)
		return slot ? pointer(slot) : NULL;
	if (slot->value == TRIES_MAX || launch->works)
		return NULL;
	e = find_launched(g, launch);
	slot->value++;
	if (e) {
		e->graph = graph;
		slot->value = (uintptr_t)e;
	}
	return e;
}

enum graph_evidence graphs_push_work(struct graphs *g, const struct event *work,
				     const struct launch *launch,
				     const struct captured_call **call, int *err)
{
	const struct work *w = &work->work;
	const struct captured_call *made = NULL;
	enum graph_evidence evidence;
	struct graph_exec *e = NULL;
	uint32_t graph = w->has & WORK_HAS_GRAPH ? w->graph : 0;

	*call = NULL;
	*err = 0;
	if (!graph)
		return EVIDENCE_NONE;
	if (g && launch && w->kind != WORK_KIND_GRAPH)
		e = find_graph(g, graph, launch, err);
	if (e && !*err)
		*call = exec_call(e, work, launch->start_ns, g->losses, err);
	evidence = g ? node_calls_find(g->made, w->graph_node, &made) : EVIDENCE_UNRESOLVED;
	if (*call && evidence == EVIDENCE_UNRESOLVED)
		return EVIDENCE_ORDER;
	*call = made;
	return evidence;
}

enum graph_evidence graphs_find_node(const struct graphs *g, uint64_t node,
				     const struct captured_call **call)
{
	return node_calls_find(g->made, node, call);
}

/* ---- what was open --------------------------------------------------------------------------- */

void graphs_settle(struct graphs *g, uint64_t horizon_ns,
		   uint32_t (*innermost)(const void *ctx, uint32_t tid, uint64_t ns), const void *ctx)
{
	size_t kept = 0;

	node_calls_settle(g->made, horizon_ns, innermost, ctx);
	for (size_t i = 0; i < g->fresh.n; i++) {
		struct captured *c = g->fresh.v[i];

		if (num_add(c->end_ns, GRAPHS_SETTLE_NS) > horizon_ns) {
			g->fresh.v[kept++] = c;
			continue;
		}
		c->whole = c->losses == g->losses;
		for (size_t k = 0; k < c->calls.n; k++) {
			struct captured_call *call = &c->calls.v[k];

			call->range = innermost(ctx, call->tid, call->start_ns +
						(call->end_ns - call->start_ns) / 2);
			call->settled = true;
		}
		captured_put(c);
	}
	g->fresh.n = kept;
}
