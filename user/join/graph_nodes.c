// SPDX-License-Identifier: BSD-3-Clause
/* Nodes come nearly in order, again and again: one that is known is found where it was added. */
#include "join/graph_nodes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/map.h"
#include "base/sorted.h"

void exec_free(struct graph_exec *e)
{
	for (size_t i = 0; i < e->versions.n; i++)
		captured_put(e->versions.v[i].captured);
	e->room->nodes_left += e->nodes.n;
	VEC_FREE(&e->versions);
	VEC_FREE(&e->nodes);
	free(e);
}

/* The first stays, for its nodes; what came next is not known any more. */
static void forget_version(struct graph_exec *e)
{
	captured_put(e->versions.v[1].captured);
	captured_put(e->versions.v[2].captured);
	e->versions.v[1].captured = NULL;
	memmove(&e->versions.v[2], &e->versions.v[3],
		(VERSIONS_MAX - 3) * sizeof(e->versions.v[0]));
	e->versions.n--;
}

int exec_become(struct graph_exec *e, struct captured *captured, uint64_t since_ns)
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

void exec_launched(struct graph_exec *e, const struct event *call)
{
	const struct exec_launch l = { call->start_ns, call->end_ns, call->tid };

	if (e->launches < EXEC_LAUNCHES)
		e->first[e->launches] = l;
	e->last[e->launches++ % EXEC_LAUNCHES] = l;
}

static bool is_in(const struct exec_launch l[EXEC_LAUNCHES], uint32_t n, uint32_t tid, uint64_t ns)
{
	for (uint32_t i = 0; i < n && i < EXEC_LAUNCHES; i++)
		if (l[i].tid == tid && l[i].start_ns <= ns && ns <= l[i].end_ns)
			return true;
	return false;
}

bool exec_was_launched(const struct graph_exec *e, uint32_t tid, uint64_t ns)
{
	return is_in(e->first, e->launches, tid, ns) || is_in(e->last, e->launches, tid, ns);
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

static void fill(struct exec_node *node, const struct event *work)
{
	const struct work *w = &work->work;

	*node = (struct exec_node){
		.id = w->graph_node, .bytes = w->bytes,
		.kind = w->kind == WORK_KIND_PEER ? WORK_KIND_COPY : w->kind,
		.name = work->work.name ? XXH64(work->work.name, strlen(work->work.name), 1) | 1 : 0 };
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
	memmove(&e->nodes.v[at + 1], &e->nodes.v[at], (e->nodes.n - 1 - at) * sizeof(e->nodes.v[0]));
	fill(&e->nodes.v[at], work);
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

/* Of an update, whose nodes have other grids now than when they were first seen, each work is looked at
 * alone. */
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

/* An update brings the nodes of another graph into the order of the first one. That is its own order
 * only where there is but one. */
static bool is_ordered(const struct graph_exec *e, const struct exec_version *v)
{
	return v == e->versions.v || v->captured->streams == 1;
}

const struct captured_call *exec_call(struct graph_exec *e, const struct event *work, uint64_t ns,
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
	fill(&node, &(struct event){ .work = work->work });
	return v->fits && is_like(&v->captured->calls.v[at], &node) ? &v->captured->calls.v[at] : NULL;
}
