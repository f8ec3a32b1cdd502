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

#define MAKERS_MAX 65536	/* of a process, whose nodes may still be reported */
#define WAITING_MAX 32768	/* nodes without their call so far; more are unresolved */
#define NEAR 64			/* calls of other threads at the same time, that are looked at */

struct maker {
	struct captured_call call;
	uint32_t refs;
	bool settled;			/* its open ranges are known */
};

struct made {
	uint64_t time_ns;
	uint32_t tid;
	uint32_t refs;
	bool waits;			/* its call may still come */
	struct maker *by;		/* NULL: not known */
};

struct moment {
	uint64_t ns;
	void *of;
};

struct moments {		/* in their order; a VEC */
	struct moment *v;
	size_t n, cap;
};

struct graph_callbacks {
	struct graphs_room *room;
	struct map by_id;		/* number of a node -> struct made, a reference */
	/* of these, as they came; before `oldest` they are forgotten */
	VEC(uint64_t) ids;
	size_t oldest;
	struct moments waiting;		/* struct made, when */
	struct moments recent;		/* struct maker, references, when their calls began */
};

/* NULL + errno */
static struct graph_callbacks *graph_callbacks_new(struct graphs_room *room)
{
	struct graph_callbacks *n = calloc(1, sizeof(*n));

	if (n)
		n->room = room;
	return n;
}

static void put_maker(struct maker *m)
{
	if (m && !--m->refs)
		free(m);
}

static void put_made(struct made *m)
{
	if (!m || --m->refs || m->waits)
		return;
	put_maker(m->by);
	free(m);
}

static void stop_waiting(struct made *m)
{
	m->waits = false;
	if (!m->refs)
		free(m);
}

static void *pointer(const struct map_slot *slot)
{
	return slot ? (void *)(uintptr_t)slot->value : NULL;
}

static void forget(struct graph_callbacks *n, uint64_t id)
{
	put_made(map_pointer(&n->by_id, id));
	map_del(&n->by_id, id);
	n->room->made_left++;
}

static void forget_oldest(struct graph_callbacks *n)
{
	forget(n, n->ids.v[n->oldest++]);
	if (n->oldest < n->ids.n / 2)
		return;
	VEC_DROP_FIRST(&n->ids, n->oldest);
	n->oldest = 0;
}

static void graph_callbacks_free(struct graph_callbacks *n)
{
	if (!n)
		return;
	while (n->oldest < n->ids.n)
		forget_oldest(n);
	for (size_t i = 0; i < n->waiting.n; i++)
		stop_waiting(n->waiting.v[i].of);
	for (size_t i = 0; i < n->recent.n; i++)
		put_maker(n->recent.v[i].of);
	map_free(&n->by_id);
	VEC_FREE(&n->ids);
	VEC_FREE(&n->waiting);
	VEC_FREE(&n->recent);
	free(n);
}

/* ---- calls that are kept --------------------------------------------------------------------- */

static void captured_fill(struct captured_call *out, const struct event *call, enum func_role role)
{
	static const uint8_t kinds[ROLE_GRAPHS_END] = {
		[ROLE_KERNEL] = WORK_KIND_KERNEL, [ROLE_ROUTINE] = WORK_KIND_KERNEL,
		[ROLE_COPY] = WORK_KIND_COPY, [ROLE_SET] = WORK_KIND_SET,
	};

	*out = (struct captured_call){
		.start_ns = call->start_ns, .end_ns = call->end_ns, .tid = call->tid,
		.func = call->func, .kind = kinds[role],
		.entity = role == ROLE_KERNEL && call->has & HAS_ENTITY ? call->call.entity : 0,
		.bytes = call->has & HAS_BYTES ? call->call.bytes : 0,
		.has_shape = role == ROLE_KERNEL && call->has & HAS_SHAPE };
	memcpy(out->grid, call->call.shape.grid, sizeof(out->grid));
	memcpy(out->block, call->call.shape.block, sizeof(out->block));
}

/* They come nearly in order. 0 or -ENOMEM. */
static int insert(struct moments *m, uint64_t ns, void *of)
{
	size_t at = SORTED_UP_TO(m->v, m->n, ns, ns);

	if (!VEC_INSERT(m, at))
		return -ENOMEM;
	m->v[at] = (struct moment){ ns, of };
	return 0;
}

/* Calls of one thread do not overlap: the last one that had begun is it, or none. */
static struct maker *find_maker(const struct graph_callbacks *n, uint32_t tid, uint64_t ns)
{
	const size_t from = SORTED_UP_TO(n->recent.v, n->recent.n, ns, ns);

	for (size_t i = from; i-- > 0 && i + NEAR >= from;) {
		struct maker *m = n->recent.v[i].of;

		if (m->call.tid == tid)
			return ns <= m->call.end_ns ? m : NULL;
	}
	return NULL;
}

static size_t first_waiting(const struct graph_callbacks *n, uint64_t since_ns)
{
	return SORTED_BELOW(n->waiting.v, n->waiting.n, ns, since_ns);
}

/* ---- nodes ----------------------------------------------------------------------------------- */

/* The number is of that node from now on. 0 or -ENOMEM. */
static int set_node(struct graph_callbacks *n, uint64_t id, struct made *m)
{
	struct map_slot *slot = map_find(&n->by_id, id);
	uint64_t *at;

	if (!slot) {
		if (!n->room->made_left && n->oldest < n->ids.n)
			forget_oldest(n);
		if (!n->room->made_left)
			return 0;	/* others have all of it */
		at = VEC_PUSH(&n->ids);
		if (!at)
			return -ENOMEM;
		slot = map_put(&n->by_id, id, NULL);
		if (!slot) {
			n->ids.n--;
			return -ENOMEM;
		}
		*at = id;
		n->room->made_left--;
	}
	m->refs++;
	put_made(pointer(slot));
	slot->value = (uintptr_t)m;
	return 0;
}

static int push_made(struct graph_callbacks *n, const struct event *node)
{
	struct made *m = calloc(1, sizeof(*m));
	int err = 0;

	if (!m)
		return -ENOMEM;
	*m = (struct made){ .time_ns = node->start_ns, .tid = node->tid, .refs = 1,
			    .by = find_maker(n, node->tid, node->start_ns) };
	if (m->by) {
		m->by->refs++;
	} else if (n->waiting.n < WAITING_MAX) {
		err = insert(&n->waiting, m->time_ns, m);
		m->waits = !err;
	}
	if (!err)
		err = set_node(n, node->node.id, m);
	put_made(m);
	return err;
}

int graph_callbacks_push_node(struct graph_callbacks *n, const struct event *node)
{
	struct made *original;
	int err;

	if (!node->node.original)
		return push_made(n, node);
	original = map_pointer(&n->by_id, node->node.original);
	if (!original)
		return 0;
	original->refs++;	/* it may be the oldest, which is forgotten for its clone */
	err = set_node(n, node->node.id, original);
	put_made(original);
	return err;
}

void graph_callbacks_exec(struct graph_callbacks *n, uint64_t ns)
{
	size_t kept = n->oldest;

	for (size_t i = n->oldest; i < n->ids.n; i++) {
		const uint64_t id = n->ids.v[i];
		const struct made *m = map_pointer(&n->by_id, id);

		if (m->time_ns < ns)
			forget(n, id);
		else
			n->ids.v[kept++] = id;
	}
	n->ids.n = kept;
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* Nodes that it has made. How many. */
static size_t take_waiting(struct graph_callbacks *n, struct maker *m)
{
	size_t from = first_waiting(n, m->call.start_ns), kept = from, taken = 0;

	for (size_t i = from; i < n->waiting.n; i++) {
		struct made *made = n->waiting.v[i].of;

		if (made->time_ns > m->call.end_ns || made->tid != m->call.tid) {
			n->waiting.v[kept++] = n->waiting.v[i];
			continue;
		}
		if (made->refs) {	/* else it has become a clone */
			made->by = m;
			m->refs++;
			taken++;
		}
		stop_waiting(made);
	}
	n->waiting.n = kept;
	return taken;
}

/* A call that may make nodes; captured: it does, as far as streams show. 1: it has made nodes
 * that were reported; 0 or -ENOMEM. */
static int graph_callbacks_push_call(struct graph_callbacks *n, const struct event *call,
				     enum func_role role, bool captured)
{
	struct maker *m;
	size_t taken;
	int err = 0;

	if (!captured && first_waiting(n, call->start_ns) == n->waiting.n)
		return 0;
	m = calloc(1, sizeof(*m));
	if (!m)
		return -ENOMEM;
	captured_fill(&m->call, call, role);
	m->refs = 1;
	taken = take_waiting(n, m);
	if (n->recent.n >= MAKERS_MAX) {
		m->settled = true;
	} else if (captured || taken) {
		err = insert(&n->recent, m->call.start_ns, m);
		m->refs += !err;
	}
	put_maker(m);
	return err ? err : taken > 0;
}

enum graph_evidence graph_callbacks_find(const struct graph_callbacks *n, uint64_t node,
					 const struct captured_call **call)
{
	const struct made *m = map_pointer(&n->by_id, node);

	*call = m && m->by && m->by->settled ? &m->by->call : NULL;
	return *call ? EVIDENCE_CALLBACK :
	       m && (m->by || m->waits) ? EVIDENCE_PENDING : EVIDENCE_UNRESOLVED;
}

/* Open ranges are known a moment after the call. */
static void graph_callbacks_settle(struct graph_callbacks *n, uint64_t horizon_ns,
				   uint32_t (*innermost)(const void *, uint32_t, uint64_t),
				   const void *ctx)
{
	size_t kept = 0, gone;

	for (size_t i = 0; i < n->recent.n; i++) {
		struct maker *m = n->recent.v[i].of;

		if (num_add(m->call.end_ns, GRAPH_CALLBACKS_LATE_NS) > horizon_ns) {
			n->recent.v[kept++] = n->recent.v[i];
			continue;
		}
		m->call.range = innermost(ctx, m->call.tid,
					  num_middle(m->call.start_ns, m->call.end_ns));
		m->settled = true;
		put_maker(m);
	}
	n->recent.n = kept;
	/* Nodes that no call has made: they were added by hand, or the call was lost. */
	gone = first_waiting(n, num_sub(horizon_ns, GRAPH_CALLBACKS_LATE_NS));
	for (size_t i = 0; i < gone; i++)
		stop_waiting(n->waiting.v[i].of);
	VEC_DROP_FIRST(&n->waiting, gone);
}

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
	VEC(struct capturing) capturings;	/* under way */
	struct graph_callbacks *made;
	struct map graphs;		/* handle -> struct captured, a reference */
	VEC(struct graph_exec *) execs;
	struct map by_handle;		/* of those in use */
	/* CUPTI's number -> struct graph_exec; below TRIES_MAX: tries */
	struct map by_graph;
	VEC(struct captured *) fresh;	/* references: their open ranges are not known yet */
	uint64_t losses, now_ns;
};

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

/* ---- streams and events ---------------------------------------------------------------------- */

static size_t find(const uint64_t *v, size_t n, uint64_t what)
{
	size_t i = 0;

	while (i < n && v[i] != what)
		i++;
	return i;
}

static struct capturing *of_stream(struct graphs *g, uint64_t stream)
{
	for (size_t i = 0; i < g->capturings.n; i++)
		if (find(g->capturings.v[i].streams.v, g->capturings.v[i].streams.n, stream) <
		    g->capturings.v[i].streams.n)
			return &g->capturings.v[i];
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
static int record(struct graphs *g, uint64_t event, struct capturing *where)
{
	uint64_t *at;

	for (size_t i = 0; i < g->capturings.n; i++) {
		struct capturing *other = &g->capturings.v[i];
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

static int wait(struct graphs *g, uint64_t event, uint64_t stream)
{
	for (size_t i = 0; i < g->capturings.n; i++) {
		struct capturing *at = &g->capturings.v[i];

		if (find(at->events.v, at->events.n, event) < at->events.n)
			return of_stream(g, stream) ? 0 : add_stream(at, stream);
	}
	return 0;
}

/* ---- calls ----------------------------------------------------------------------------------- */

static int add_call(struct captured *c, const struct event *call, enum func_role role)
{
	struct captured_call *at;

	/* A copy or set of 0 bytes is no node. */
	if ((role == ROLE_COPY || role == ROLE_SET) && call->has & HAS_BYTES && !call->call.bytes)
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

/* A call that gives a stream work, or shows a stream's state. 1: it was captured; 0 or -ENOMEM. */
static int capturings_push(struct graphs *g, const struct event *call, enum func_role role)
{
	struct capturing *at = NULL;

	if (call->has & HAS_STREAM && role != ROLE_ROUTINE)
		at = of_stream(g, call->call.stream);
	/* A routine names no stream: it belongs to its thread's capture. */
	for (size_t i = 0; role == ROLE_ROUTINE && !at && i < g->capturings.n; i++)
		if (g->capturings.v[i].tid == call->tid)
			at = &g->capturings.v[i];
	if (role == ROLE_RECORD)
		return record(g, call->call.entity, at);
	if (role == ROLE_WAIT)
		return wait(g, call->call.entity, call->call.stream);
	if (!at)
		return 0;
	if (role == ROLE_SPOIL || role == ROLE_LAUNCH) {
		at->into->spoiled = true;
		return role == ROLE_LAUNCH;
	}
	return add_call(at->into, call, role) ? -ENOMEM : 1;
}

/* ---- begin and end --------------------------------------------------------------------------- */

static void free_capturing(struct capturing *at)
{
	captured_put(at->into);
	VEC_FREE(&at->streams);
	VEC_FREE(&at->events);
}

static void drop(struct graphs *g, struct capturing *at)
{
	free_capturing(at);
	*at = g->capturings.v[--g->capturings.n];
}

static int begin_capture(struct graphs *g, const struct event *call)
{
	struct capturing *at = call->has & HAS_STREAM ? of_stream(g, call->call.stream) : NULL;

	if (at)			/* its end was not seen */
		drop(g, at);
	if (!(call->has & HAS_STREAM) || g->capturings.n >= CAPTURES_MAX)
		return 0;
	at = VEC_PUSH(&g->capturings);
	if (!at)
		return -ENOMEM;
	at->tid = call->tid;
	at->into = calloc(1, sizeof(*at->into));
	if (at->into)
		*at->into = (struct captured){ .room = g->room, .refs = 1, .losses = g->losses };
	if (at->into && !add_stream(at, call->call.stream))
		return 0;
	drop(g, at);
	return -ENOMEM;
}

static int by_time(const void *a, const void *b)
{
	const struct captured_call *x = a, *y = b;

	return num_compare(x->start_ns, y->start_ns);
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

static int exec_become(struct graph_exec *e, struct captured *captured, uint64_t since_ns)
{
	struct exec_version *v;

	/* The first stays, for its nodes; later ones are not known any more. */
	if (e->versions.n == VERSIONS_MAX) {
		captured_put(e->versions.v[1].captured);
		captured_put(e->versions.v[2].captured);
		e->versions.v[1].captured = NULL;
		memmove(&e->versions.v[2], &e->versions.v[3],
			(VERSIONS_MAX - 3) * sizeof(e->versions.v[0]));
		e->versions.n--;
	}
	v = VEC_PUSH(&e->versions);
	if (!v) {
		captured_put(captured);
		return -ENOMEM;
	}
	*v = (struct exec_version){ .captured = captured, .since_ns = since_ns };
	return 0;
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

static void fill_node(struct exec_node *node, const struct work *w)
{
	*node = (struct exec_node){
		.id = w->graph_node, .bytes = w->bytes,
		.kind = w->kind == WORK_KIND_PEER ? WORK_KIND_COPY : w->kind,
		.name = w->name ? XXH64(w->name, strlen(w->name), 1) | 1 : 0 };
	memcpy(node->grid, w->grid, sizeof(node->grid));
	memcpy(node->block, w->block, sizeof(node->block));
}

static int add_node(struct graph_exec *e, size_t at, const struct work *work)
{
	if (!e->room->nodes_left)
		return 0;
	if (!VEC_INSERT(&e->nodes, at))
		return -ENOMEM;
	e->room->nodes_left--;
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

/* The call that a work launched at ns is of, by its place among the nodes; NULL: none, or not
 * known. *err: 0 or -ENOMEM. */
static const struct captured_call *exec_call(struct graph_exec *e, const struct work *work,
					     uint64_t ns, uint64_t losses, int *err)
{
	size_t i = e->versions.n, at;
	struct exec_version *v;
	struct exec_node node;

	*err = 0;
	while (i > 0 && e->versions.v[i - 1].since_ns > ns)
		i--;
	v = i ? &e->versions.v[i - 1] : NULL;
	if (!v || !v->captured || e->nodes.n > v->captured->calls.n)
		return NULL;
	at = place_of(e, work->graph_node);
	if (at == e->nodes.n || e->nodes.v[at].id != work->graph_node) {
		*err = add_node(e, at, work);
		return NULL;	/* others may come yet */
	}
	/* An update brings the nodes of another graph into the order of the first one. That is its
	 * own order only where there is but one. */
	if (e->nodes.n != v->captured->calls.n ||
	    (v != e->versions.v && v->captured->streams != 1))
		return NULL;
	if (!v->checked)
		*err = check(v, e, losses);
	fill_node(&node, work);
	return v->fits && is_like(&v->captured->calls.v[at], &node) ? &v->captured->calls.v[at] :
								      NULL;
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

void graphs_free(struct graphs *g)
{
	if (!g)
		return;
	for (size_t i = 0; i < g->capturings.n; i++)
		free_capturing(&g->capturings.v[i]);
	VEC_FREE(&g->capturings);
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

static struct captured *find_graph(const struct graphs *g, uint64_t handle)
{
	return map_pointer(&g->graphs, handle);
}

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
	struct capturing *ended = call->has & HAS_STREAM ? of_stream(g, call->call.stream) : NULL;
	struct captured *captured, **at;

	if (!ended)
		return 0;
	captured = ended->into;
	ended->into = NULL;
	drop(g, ended);
	captured->end_ns = call->end_ns;
	if (captured->calls.n)
		qsort(captured->calls.v, captured->calls.n, sizeof(captured->calls.v[0]), by_time);
	if (call->call.result || !call->call.address) {
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
	return map_pointer(&g->by_handle, handle);
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
	struct captured *captured = find_graph(g, call->call.entity);
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

bool graphs_is_capturing(const struct graphs *g)
{
	return g->capturings.n || g->made->waiting.n;	/* these: nodes without their call */
}

struct graph_callbacks *graphs_callbacks(struct graphs *g)
{
	return g->made;
}

void graphs_lost(struct graphs *g, uint32_t tid)
{
	g->losses++;
	for (size_t i = g->capturings.n; i-- > 0;)
		if (g->capturings.v[i].tid == tid)
			drop(g, &g->capturings.v[i]);
}

int graphs_push_call(struct graphs *g, const struct event *call, enum func_role role)
{
	struct graph_exec *e;
	int captured, made;

	g->now_ns = num_max(g->now_ns, call->end_ns);
	if (role == ROLE_END)
		return end_capture(g, call);
	if (call->call.result)
		return 0;
	switch (role) {
	case ROLE_BEGIN:
		return begin_capture(g, call);
	case ROLE_CLONE:
		return set_graph(g, call->call.address,
				 captured_get(find_graph(g, call->call.entity)));
	case ROLE_FORGET:
		return set_graph(g, call->call.entity, NULL);
	case ROLE_MAKE:
		return make_exec(g, call);
	case ROLE_UPDATE:
		e = find_exec(g, call->call.entity);
		return e ? exec_become(e, captured_get(find_graph(g, call->call.address)),
				       call->start_ns) : 0;
	case ROLE_FORGET_EXEC:
		end_exec(g, call->call.entity, call->end_ns);
		return 0;
	case ROLE_LAUNCH:
		e = find_exec(g, call->call.entity);
		if (e) {
			const struct exec_launch l = { call->start_ns, call->end_ns, call->tid };

			if (e->launches < EXEC_LAUNCHES)
				e->first[e->launches] = l;
			e->last[e->launches++ % EXEC_LAUNCHES] = l;
		}
		return capturings_push(g, call, role);
	default:
		captured = capturings_push(g, call, role);
		if (captured < 0 || role > ROLE_ROUTINE)
			return captured;
		made = graph_callbacks_push_call(g->made, call, role, captured);
		return made < 0 ? made : captured | made;
	}
}

/* ---- works ----------------------------------------------------------------------------------- */

static bool was_launched(const struct exec_launch l[EXEC_LAUNCHES], uint32_t n, uint32_t tid,
			 uint64_t ns)
{
	for (uint32_t i = 0; i < n && i < EXEC_LAUNCHES; i++)
		if (l[i].tid == tid && l[i].start_ns <= ns && ns <= l[i].end_ns)
			return true;
	return false;
}

static struct graph_exec *find_launched(const struct graphs *g, const struct launch *launch)
{
	const struct launch_call *call = &launch->call;

	for (size_t i = g->execs.n; call->class != CLASS_OTHER && i-- > 0;) {
		struct graph_exec *e = g->execs.v[i];

		if (!e->graph &&
		    (was_launched(e->first, e->launches, launch->tid, call->start_ns) ||
		     was_launched(e->last, e->launches, launch->tid, call->start_ns)))
			return e;
	}
	return NULL;
}

/* The executable graph of a number of CUPTI's: by the call that launched it, the first few
 * times. */
static struct graph_exec *find_number(struct graphs *g, uint32_t graph,
				      const struct launch *launch, int *err)
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
		e = find_number(g, graph, launch, err);
	if (e && !*err)
		*call = exec_call(e, w, launch->start_ns, g->losses, err);
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

			call->range = innermost(ctx, call->tid,
						num_middle(call->start_ns, call->end_ns));
			call->settled = true;
		}
		captured_put(c);
	}
	g->fresh.n = kept;
}
