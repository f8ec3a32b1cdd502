// SPDX-License-Identifier: BSD-3-Clause
/*
 * Captures that are under way, their results (a list of calls that graphs share), executable
 * graphs with their nodes as works show them, and three maps: handles of graphs, of executable
 * ones, and CUPTI's numbers. Entries of handles that ended or were reused stay as long as works
 * of them may come. There are few captures at a time, of few streams each: all are searched.
 */
#include "join/graphs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/map.h"
#include "base/num.h"
#include "base/sorted.h"
#include "base/vec.h"
#include "join/graph_callbacks.h"

#define STREAMS_MAX 256		/* of one capture; more spoil it */
#define EVENTS_MAX 4096
#define CAPTURES_MAX 64		/* under way at once; more are not followed */
#define EXEC_LAUNCHES 8
#define VERSIONS_MAX 8		/* the first, one for those that are forgotten, and the latest */
#define TRIES_MAX 64		/* launches checked for the executable graph of a number */

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


struct exec_version {
	struct captured *captured;	/* NULL: unknown, or not to be matched by order */
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

struct graphs {
	struct graphs_room *room;
	struct capturings capturings;
	struct graph_callbacks *made;
	struct map graphs;		/* handle -> struct captured, a reference */
	VEC(struct graph_exec *) execs;
	struct map by_handle;		/* of those in use */
	/* CUPTI's number -> struct graph_exec; below TRIES_MAX: tries */
	struct map by_graph;
	VEC(struct captured *) fresh;	/* references: their open ranges are not known yet */
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

/* ---- captures -------------------------------------------------------------------------------- */

static struct captured *captured_get(struct captured *c)
{
	if (c)
		c->refs++;
	return c;
}

static void captured_put(struct captured *c)
{
	if (!c || --c->refs)
		return;
	c->room->calls_left += c->calls.n;
	VEC_FREE(&c->calls);
	free(c);
}

static void capturing_free(struct capturing *c)
{
	captured_put(c->into);
	VEC_FREE(&c->streams);
	VEC_FREE(&c->events);
}

static void capturings_free(struct capturings *c)
{
	for (size_t i = 0; i < c->all.n; i++)
		capturing_free(&c->all.v[i]);
	VEC_FREE(&c->all);
}

/* ---- streams and events ---------------------------------------------------------------------- */

static size_t find(const uint64_t *v, size_t n, uint64_t what)
{
	size_t i = 0;

	while (i < n && v[i] != what)
		i++;
	return i;
}

static struct capturing *of_stream(struct capturings *c, uint64_t stream)
{
	for (size_t i = 0; i < c->all.n; i++)
		if (find(c->all.v[i].streams.v, c->all.v[i].streams.n, stream) <
		    c->all.v[i].streams.n)
			return &c->all.v[i];
	return NULL;
}

static int add_stream(struct capturing *c, uint64_t stream)
{
	uint64_t *at;

	if (c->streams.n >= STREAMS_MAX) {
		c->into->spoiled = true;
		return 0;
	}
	at = VEC_PUSH(&c->streams);
	if (!at)
		return -ENOMEM;
	*at = stream;
	c->into->streams++;
	return 0;
}

/* The event is where the stream is: in a capture, or in none. */
static int record(struct capturings *c, uint64_t event, struct capturing *where)
{
	uint64_t *at;

	for (size_t i = 0; i < c->all.n; i++) {
		struct capturing *other = &c->all.v[i];
		size_t k = find(other->events.v, other->events.n, event);

		if (k == other->events.n)
			continue;
		if (other == where)
			return 0;
		other->events.v[k] = other->events.v[--other->events.n];
	}
	if (!where)
		return 0;
	if (where->events.n >= EVENTS_MAX) {
		where->into->spoiled = true;
		return 0;
	}
	at = VEC_PUSH(&where->events);
	if (!at)
		return -ENOMEM;
	*at = event;
	return 0;
}

static int wait(struct capturings *c, uint64_t event, uint64_t stream)
{
	for (size_t i = 0; i < c->all.n; i++) {
		struct capturing *at = &c->all.v[i];

		if (find(at->events.v, at->events.n, event) < at->events.n)
			return of_stream(c, stream) ? 0 : add_stream(at, stream);
	}
	return 0;
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* A copy or set of 0 bytes is no node. */
static bool is_nothing(const struct event *call, enum func_role role)
{
	return (role == ROLE_COPY || role == ROLE_SET) && call->has & HAS_BYTES &&
	       !call->call.bytes;
}

static int add_call(struct captured *c, const struct event *call, enum func_role role)
{
	struct captured_call *at;

	if (is_nothing(call, role))
		return 0;
	if (!c->room->calls_left) {
		c->spoiled = true;
		return 0;
	}
	at = VEC_PUSH(&c->calls);
	if (!at)
		return -ENOMEM;
	c->room->calls_left--;
	captured_fill(at, call, role);
	return 0;
}

/* A routine names no stream: it belongs to its thread's capture. */
static struct capturing *of_thread(struct capturings *c, uint32_t tid)
{
	for (size_t i = 0; i < c->all.n; i++)
		if (c->all.v[i].tid == tid)
			return &c->all.v[i];
	return NULL;
}

static int capturings_push(struct capturings *c, const struct event *call, enum func_role role)
{
	struct capturing *at = role == ROLE_ROUTINE ? of_thread(c, call->tid) :
			       call->has & HAS_STREAM ? of_stream(c, call->call.stream) : NULL;

	if (role == ROLE_RECORD)
		return record(c, call->call.entity, at);
	if (role == ROLE_WAIT)
		return wait(c, call->call.entity, call->call.stream);
	if (!at)
		return 0;
	if (role == ROLE_SPOIL || role == ROLE_LAUNCH) {
		at->into->spoiled = true;
		return role == ROLE_LAUNCH;
	}
	return add_call(at->into, call, role) ? -ENOMEM : 1;
}

/* ---- begin and end --------------------------------------------------------------------------- */

static void drop(struct capturings *c, struct capturing *at)
{
	capturing_free(at);
	*at = c->all.v[--c->all.n];
}

static int capturings_begin(struct capturings *c, struct graphs_room *room,
			    const struct event *call,
		     uint64_t losses)
{
	struct capturing *at = call->has & HAS_STREAM ? of_stream(c, call->call.stream) : NULL;

	if (at)			/* its end was not seen */
		drop(c, at);
	if (!(call->has & HAS_STREAM) || c->all.n >= CAPTURES_MAX)
		return 0;
	at = VEC_PUSH(&c->all);
	if (!at)
		return -ENOMEM;
	at->tid = call->tid;
	at->into = calloc(1, sizeof(*at->into));
	if (at->into)
		*at->into = (struct captured){ .room = room, .refs = 1, .losses = losses };
	if (at->into && !add_stream(at, call->call.stream))
		return 0;
	drop(c, at);
	return -ENOMEM;
}

static int by_time(const void *a, const void *b)
{
	const struct captured_call *x = a, *y = b;

	return num_compare(x->start_ns, y->start_ns);
}

static void capturings_lost(struct capturings *c, uint32_t tid)
{
	for (size_t i = c->all.n; i-- > 0;)
		if (c->all.v[i].tid == tid)
			drop(c, &c->all.v[i]);
}

static struct captured *capturings_end(struct capturings *c, const struct event *call)
{
	struct capturing *at = call->has & HAS_STREAM ? of_stream(c, call->call.stream) : NULL;
	struct captured *into;

	if (!at)
		return NULL;
	into = at->into;
	at->into = NULL;
	into->end_ns = call->end_ns;
	if (into->calls.n)
		qsort(into->calls.v, into->calls.n, sizeof(into->calls.v[0]), by_time);
	drop(c, at);
	return into;
}

/* ---- one executable graph -------------------------------------------------------------------- */

static void exec_free(struct graph_exec *e)
{
	for (size_t i = 0; i < e->versions.n; i++)
		captured_put(e->versions.v[i].captured);
	e->room->nodes_left += e->nodes.n;
	VEC_FREE(&e->versions);
	VEC_FREE(&e->nodes);
	free(e);
}

/* The first stays, for its nodes; later ones are not known any more. */
static void forget_version(struct graph_exec *e)
{
	captured_put(e->versions.v[1].captured);
	captured_put(e->versions.v[2].captured);
	e->versions.v[1].captured = NULL;
	memmove(&e->versions.v[2], &e->versions.v[3],
		(VERSIONS_MAX - 3) * sizeof(e->versions.v[0]));
	e->versions.n--;
}

static int exec_become(struct graph_exec *e, struct captured *captured, uint64_t since_ns)
{
	struct exec_version *v;

	if (e->versions.n == VERSIONS_MAX)
		forget_version(e);
	v = VEC_PUSH(&e->versions);
	if (!v) {
		captured_put(captured);
		return -ENOMEM;
	}
	*v = (struct exec_version){ .captured = captured, .since_ns = since_ns };
	return 0;
}

/* ---- launches -------------------------------------------------------------------------------- */

static void exec_launched(struct graph_exec *e, const struct event *call)
{
	const struct exec_launch l = { call->start_ns, call->end_ns, call->tid };

	if (e->launches < EXEC_LAUNCHES)
		e->first[e->launches] = l;
	e->last[e->launches++ % EXEC_LAUNCHES] = l;
}

static bool launched_at(const struct exec_launch l[EXEC_LAUNCHES], uint32_t n, uint32_t tid,
			uint64_t ns)
{
	for (uint32_t i = 0; i < n && i < EXEC_LAUNCHES; i++)
		if (l[i].tid == tid && l[i].start_ns <= ns && ns <= l[i].end_ns)
			return true;
	return false;
}

static bool exec_was_launched(const struct graph_exec *e, uint32_t tid, uint64_t ns)
{
	return launched_at(e->first, e->launches, tid, ns) || launched_at(e->last, e->launches, tid,
									  ns);
}

/* ---- nodes ----------------------------------------------------------------------------------- */

/* Where it is, or where it would be. */
static size_t place_of(const struct graph_exec *e, uint64_t id)
{
	const size_t n = e->nodes.n;

	if (n && id - e->nodes.v[0].id < n && e->nodes.v[id - e->nodes.v[0].id].id == id)
		return id - e->nodes.v[0].id;
	return SORTED_BELOW(e->nodes.v, n, id, id);
}

static void fill_node(struct exec_node *node, const struct event *work)
{
	const struct work *w = &work->work;

	*node = (struct exec_node){
		.id = w->graph_node, .bytes = w->bytes,
		.kind = w->kind == WORK_KIND_PEER ? WORK_KIND_COPY : w->kind,
		.name = work->work.name ? XXH64(work->work.name, strlen(work->work.name),
						1) | 1 : 0 };
	memcpy(node->grid, w->grid, sizeof(node->grid));
	memcpy(node->block, w->block, sizeof(node->block));
}

static int add_node(struct graph_exec *e, size_t at, const struct event *work)
{
	if (!e->room->nodes_left)
		return 0;
	if (!VEC_PUSH(&e->nodes))
		return -ENOMEM;
	e->room->nodes_left--;
	memmove(&e->nodes.v[at + 1], &e->nodes.v[at],
		(e->nodes.n - 1 - at) * sizeof(e->nodes.v[0]));
	fill_node(&e->nodes.v[at], work);
	return 0;
}

/* ---- calls ----------------------------------------------------------------------------------- */

static bool is_like(const struct captured_call *c, const struct exec_node *n)
{
	if (c->kind != n->kind)
		return false;
	if (c->kind != WORK_KIND_KERNEL)
		return !c->bytes || !n->bytes || c->bytes == n->bytes;
	return !c->has_shape || (!memcmp(c->grid, n->grid, sizeof(n->grid)) &&
				 !memcmp(c->block, n->block, sizeof(n->block)));
}

/* Calls of one kernel are nodes of one name. 1: yes; 0: no; -ENOMEM. */
static int has_names(const struct captured *c, const struct exec_node *nodes)
{
	struct map names = { 0 };
	int is = 1;

	for (size_t i = 0; i < c->calls.n && is > 0; i++) {
		struct map_slot *slot;

		if (!c->calls.v[i].entity || !nodes[i].name)
			continue;
		slot = map_put(&names, c->calls.v[i].entity, NULL);
		if (slot && !slot->value)
			slot->value = nodes[i].name;
		is = !slot ? -ENOMEM : slot->value == nodes[i].name;
	}
	map_free(&names);
	return is;
}

/* Of an update, whose nodes have other grids now than when they were first seen, each work is
 * looked at alone. */
static int check(struct exec_version *v, const struct graph_exec *e, uint64_t losses)
{
	const struct captured *c = v->captured;
	bool first = v == e->versions.v;
	int fits = !c->spoiled && (c->whole || c->losses == losses);

	for (size_t i = 0; first && i < c->calls.n && fits; i++)
		fits = is_like(&c->calls.v[i], &e->nodes.v[i]);
	if (first && fits)
		fits = has_names(c, e->nodes.v);
	if (fits < 0)
		return fits;
	v->checked = true;
	v->fits = fits;
	return 0;
}

static struct exec_version *version_at(const struct graph_exec *e, uint64_t ns)
{
	size_t i = e->versions.n;

	while (i > 0 && e->versions.v[i - 1].since_ns > ns)
		i--;
	return i ? &e->versions.v[i - 1] : NULL;
}

/* An update brings the nodes of another graph into the order of the first one. That is its own
 * order only where there is but one. */
static bool is_ordered(const struct graph_exec *e, const struct exec_version *v)
{
	return v == e->versions.v || v->captured->streams == 1;
}

static const struct captured_call *exec_call(struct graph_exec *e, const struct event *work,
					     uint64_t ns,
				      uint64_t losses, int *err)
{
	struct exec_version *v = version_at(e, ns);
	struct exec_node node;
	size_t at;

	*err = 0;
	if (!v || !v->captured || e->nodes.n > v->captured->calls.n)
		return NULL;
	at = place_of(e, work->work.graph_node);
	if (at == e->nodes.n || e->nodes.v[at].id != work->work.graph_node) {
		*err = add_node(e, at, work);
		return NULL;	/* others may come yet */
	}
	if (e->nodes.n != v->captured->calls.n || !is_ordered(e, v))
		return NULL;
	if (!v->checked)
		*err = check(v, e, losses);
	fill_node(&node, &(struct event){ .work = work->work });
	return v->fits && is_like(&v->captured->calls.v[at],
				  &node) ? &v->captured->calls.v[at] : NULL;
}

/* ---- a process ------------------------------------------------------------------------------- */

struct graphs *graphs_new(struct graphs_room *room)
{
	struct graphs *g = calloc(1, sizeof(*g));

	if (!g)
		return NULL;
	g->room = room;
	g->made = graph_callbacks_new(room);
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
	graph_callbacks_free(g->made);
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

/* The handle belongs to captured (a reference, taken), or, NULL, to nothing known. */
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
	return g->capturings.all.n || graph_callbacks_is_waiting(g->made);
}

struct graph_callbacks *graphs_callbacks(struct graphs *g)
{
	return g->made;
}

void graphs_lost(struct graphs *g, uint32_t tid)
{
	g->losses++;
	capturings_lost(&g->capturings, tid);
}

/* Calls that give a stream work, or show a stream's state. */
static int push_given(struct graphs *g, const struct event *call, enum func_role role)
{
	int captured = capturings_push(&g->capturings, call, role), made;

	if (captured < 0 || role > ROLE_ROUTINE)
		return captured;
	made = graph_callbacks_push_call(g->made, call, role, captured);
	return made < 0 ? made : captured | made;
}

int graphs_push_call(struct graphs *g, const struct event *call, enum func_role role)
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
	const struct launch_call *call = &launch->call;

	for (size_t i = g->execs.n; call->class != CLASS_OTHER && i-- > 0;)
		if (!g->execs.v[i]->graph && exec_was_launched(g->execs.v[i], launch->tid,
							       call->start_ns))
			return g->execs.v[i];
	return NULL;
}

/* The executable graph of a number of CUPTI's: by the call that launched it, the first few
 * times. */
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
	evidence = g ? graph_callbacks_find(g->made, w->graph_node, &made) : EVIDENCE_UNRESOLVED;
	if (*call && evidence == EVIDENCE_UNRESOLVED)
		return EVIDENCE_ORDER;
	*call = made;
	return evidence;
}

/* ---- open ranges ----------------------------------------------------------------------------- */

void graphs_settle(struct graphs *g, uint64_t horizon_ns,
		   uint32_t (*innermost)(const void *ctx, uint32_t tid, uint64_t ns),
		   const void *ctx)
{
	size_t kept = 0;

	graph_callbacks_settle(g->made, horizon_ns, innermost, ctx);
	for (size_t i = 0; i < g->fresh.n; i++) {
		struct captured *c = g->fresh.v[i];

		if (num_add(c->end_ns, GRAPHS_SETTLE_NS) > horizon_ns) {
			g->fresh.v[kept++] = c;
			continue;
		}
		c->whole = c->losses == g->losses;
		for (size_t k = 0; k < c->calls.n; k++) {
			struct captured_call *call = &c->calls.v[k];

			call->range = innermost(ctx, call->tid, num_middle(call->start_ns,
									   call->end_ns));
			call->settled = true;
		}
		captured_put(c);
	}
	g->fresh.n = kept;
}
