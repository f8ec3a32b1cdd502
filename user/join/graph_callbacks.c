// SPDX-License-Identifier: BSD-3-Clause
/*
 * A node and its clones share a `made`, those of one call its `maker`: each counts its
 * references; a waiting one is kept for that alone. Entries that wait for the other side are in
 * the order of their times.
 */
#include "join/graph_callbacks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

struct moments {		/* in their order */
	VEC(struct moment) all;
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

struct graph_callbacks *graph_callbacks_new(struct graphs_room *room)
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

static struct made *made_of(const struct map_slot *slot)
{
	return slot ? (void *)(uintptr_t)slot->value : NULL;
}

static void forget(struct graph_callbacks *n, uint64_t id)
{
	put_made(made_of(map_find(&n->by_id, id)));
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

void graph_callbacks_free(struct graph_callbacks *n)
{
	if (!n)
		return;
	while (n->oldest < n->ids.n)
		forget_oldest(n);
	for (size_t i = 0; i < n->waiting.all.n; i++)
		stop_waiting(n->waiting.all.v[i].of);
	for (size_t i = 0; i < n->recent.all.n; i++)
		put_maker(n->recent.all.v[i].of);
	map_free(&n->by_id);
	VEC_FREE(&n->ids);
	VEC_FREE(&n->waiting.all);
	VEC_FREE(&n->recent.all);
	free(n);
}

/* ---- calls that are kept --------------------------------------------------------------------- */

void captured_fill(struct captured_call *out, const struct event *call, enum func_role role)
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

/* ---- both in the order of time --------------------------------------------------------------- */

/* They come nearly in order. 0 or -ENOMEM. */
static int insert(struct moments *m, uint64_t ns, void *of)
{
	size_t at = SORTED_UP_TO(m->all.v, m->all.n, ns, ns);

	if (!VEC_PUSH(&m->all))
		return -ENOMEM;
	memmove(m->all.v + at + 1, m->all.v + at, (m->all.n - 1 - at) * sizeof(m->all.v[0]));
	m->all.v[at] = (struct moment){ ns, of };
	return 0;
}

static int wait_for_call(struct graph_callbacks *n, struct made *m)
{
	if (n->waiting.all.n >= WAITING_MAX)
		return 0;
	if (insert(&n->waiting, m->time_ns, m))
		return -ENOMEM;
	m->waits = true;
	return 0;
}

static int remember(struct graph_callbacks *n, struct maker *m)
{
	if (n->recent.all.n >= MAKERS_MAX) {
		m->settled = true;
		return 0;
	}
	if (insert(&n->recent, m->call.start_ns, m))
		return -ENOMEM;
	m->refs++;
	return 0;
}

/* Calls of one thread do not overlap: the last one that had begun is it, or none. */
static struct maker *find_maker(const struct graph_callbacks *n, uint32_t tid, uint64_t ns)
{
	const size_t from = SORTED_UP_TO(n->recent.all.v, n->recent.all.n, ns, ns);

	for (size_t i = from; i-- > 0 && i + NEAR >= from;) {
		struct maker *m = n->recent.all.v[i].of;

		if (m->call.tid == tid)
			return ns <= m->call.end_ns ? m : NULL;
	}
	return NULL;
}

static size_t first_waiting(const struct graph_callbacks *n, uint64_t since_ns)
{
	return SORTED_BELOW(n->waiting.all.v, n->waiting.all.n, ns, since_ns);
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
	put_made(made_of(slot));
	slot->value = (uintptr_t)m;
	return 0;
}

static int push_made(struct graph_callbacks *n, const struct event *node)
{
	struct made *m = calloc(1, sizeof(*m));
	int err;

	if (!m)
		return -ENOMEM;
	*m = (struct made){ .time_ns = node->start_ns, .tid = node->tid, .refs = 1,
			    .by = find_maker(n, node->tid, node->start_ns) };
	if (m->by)
		m->by->refs++;
	err = m->by ? 0 : wait_for_call(n, m);
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
	original = made_of(map_find(&n->by_id, node->node.original));
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
		uint64_t id = n->ids.v[i];

		if (made_of(map_find(&n->by_id, id))->time_ns < ns)
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

	for (size_t i = from; i < n->waiting.all.n; i++) {
		struct made *made = n->waiting.all.v[i].of;

		if (made->time_ns > m->call.end_ns || made->tid != m->call.tid) {
			n->waiting.all.v[kept++] = n->waiting.all.v[i];
			continue;
		}
		if (made->refs) {	/* else it has become a clone */
			made->by = m;
			m->refs++;
			taken++;
		}
		stop_waiting(made);
	}
	n->waiting.all.n = kept;
	return taken;
}

int graph_callbacks_push_call(struct graph_callbacks *n, const struct event *call,
			      enum func_role role,
			 bool captured)
{
	struct maker *m;
	size_t taken;
	int err;

	if (!captured && first_waiting(n, call->start_ns) == n->waiting.all.n)
		return 0;
	m = calloc(1, sizeof(*m));
	if (!m)
		return -ENOMEM;
	captured_fill(&m->call, call, role);
	m->refs = 1;
	taken = take_waiting(n, m);
	err = captured || taken ? remember(n, m) : 0;
	put_maker(m);
	return err ? err : taken > 0;
}

bool graph_callbacks_is_waiting(const struct graph_callbacks *n)
{
	return n->waiting.all.n;
}

enum graph_evidence graph_callbacks_find(const struct graph_callbacks *n, uint64_t node,
				    const struct captured_call **call)
{
	const struct made *m = made_of(map_find(&n->by_id, node));

	*call = m && m->by && m->by->settled ? &m->by->call : NULL;
	return *call ? EVIDENCE_CALLBACK :
	       m && (m->by || m->waits) ? EVIDENCE_PENDING : EVIDENCE_UNRESOLVED;
}

/* Nodes that no call has made: they were added by hand, or the call was lost. */
static void give_up(struct graph_callbacks *n, uint64_t before_ns)
{
	size_t gone = first_waiting(n, before_ns);

	for (size_t i = 0; i < gone; i++)
		stop_waiting(n->waiting.all.v[i].of);
	VEC_DROP_FIRST(&n->waiting.all, gone);
}

/* Open ranges are known a moment after the call. */
void graph_callbacks_settle(struct graph_callbacks *n, uint64_t horizon_ns,
		       uint32_t (*innermost)(const void *ctx, uint32_t tid, uint64_t ns),
		       const void *ctx)
{
	size_t kept = 0;

	for (size_t i = 0; i < n->recent.all.n; i++) {
		struct maker *m = n->recent.all.v[i].of;

		if (num_add(m->call.end_ns, GRAPH_CALLBACKS_LATE_NS) > horizon_ns) {
			n->recent.all.v[kept++] = n->recent.all.v[i];
			continue;
		}
		m->call.range = innermost(ctx, m->call.tid, num_middle(m->call.start_ns,
								       m->call.end_ns));
		m->settled = true;
		put_maker(m);
	}
	n->recent.all.n = kept;
	if (horizon_ns > GRAPH_CALLBACKS_LATE_NS)
		give_up(n, horizon_ns - GRAPH_CALLBACKS_LATE_NS);
}
