// SPDX-License-Identifier: BSD-3-Clause
/* A list and where each node is in it; the last takes the place of one that leaves. */
#include "join/carried.h"

#include <errno.h>
#include <string.h>

void carried_free(struct carried *c, struct graphs_room *room)
{
	room->made_left += c->all.n;
	VEC_FREE(&c->all);
	map_free(&c->by_node);
	map_free(&c->execs);
}

int carried_push(struct carried *c, struct graphs_room *room, const struct graphs_known *k)
{
	struct map_slot *slot = map_find(&c->by_node, k->node);
	struct graphs_known *at = slot ? &c->all.v[slot->value] : NULL;

	if (!at && !room->made_left)
		return 0;
	if (at && at->evidence == EVIDENCE_CALLBACK && k->evidence == EVIDENCE_ORDER)
		return 0;
	if (k->exec && !map_put(&c->execs, k->exec, NULL))
		return -ENOMEM;
	if (!at) {
		slot = map_put(&c->by_node, k->node, NULL);
		at = slot ? VEC_PUSH(&c->all) : NULL;
		if (!at) {
			map_del(&c->by_node, k->node);
			return -ENOMEM;
		}
		slot->value = c->all.n - 1;
		room->made_left--;
	}
	*at = *k;
	return 0;
}

static bool is_like(const struct captured_call *call, const struct work *work)
{
	return !call->has_shape || (!memcmp(call->grid, work->grid, sizeof(call->grid)) &&
				    !memcmp(call->block, work->block, sizeof(call->block)));
}

enum graph_evidence carried_find(const struct carried *c, uint64_t node, const struct work *work,
				 const struct captured_call **call)
{
	const struct map_slot *slot = map_find(&c->by_node, node);
	const struct graphs_known *k = slot ? &c->all.v[slot->value] : NULL;

	if (!k || (work && !is_like(&k->call, work)))
		return EVIDENCE_UNRESOLVED;
	*call = &k->call;
	return k->evidence;
}

static void drop(struct carried *c, size_t i)
{
	map_del(&c->by_node, c->all.v[i].node);
	if (i != --c->all.n) {
		c->all.v[i] = c->all.v[c->all.n];
		map_find(&c->by_node, c->all.v[i].node)->value = i;
	}
}

void carried_forget(struct carried *c, struct graphs_room *room, uint64_t exec)
{
	if (!c->all.n || (exec && !map_find(&c->execs, exec)))
		return;
	for (size_t i = c->all.n; i-- > 0;)
		if (!exec || c->all.v[i].exec == exec) {
			drop(c, i);
			room->made_left++;
		}
	if (exec)
		map_del(&c->execs, exec);
	else
		map_clear(&c->execs);
}
