// SPDX-License-Identifier: BSD-3-Clause
/* One table of rows, found by a hash of what tells them apart. */
#include "facts/launched.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/num.h"

/* What tells rows apart, but for the name. No padding. */
struct key {
	uint32_t pid, device;
	uint32_t grid[3], block[3];
	uint32_t tid, range;
	uint32_t func, evidence;
	uint64_t node, open_ns;
};

void launched_cut(struct launched *l)
{
	for (size_t i = 0; i < l->rows.n; i++)
		free(l->rows.v[i].name);
	l->rows.n = 0;
	map_clear(&l->by_key);
}

void launched_free(struct launched *l)
{
	launched_cut(l);
	VEC_FREE(&l->rows);
	map_free(&l->by_key);
}

static void fill_call(struct launched_row *r, enum graph_evidence evidence,
		      const struct captured_call *call)
{
	r->evidence = (uint8_t)evidence;
	r->tid = call ? call->tid : 0;
	r->range = call ? call->range : 0;
	r->func = call ? call->func : 0;
}

static struct key key_of(const struct launched_row *r)
{
	struct key key = { .pid = r->pid, .device = r->device, .evidence = r->evidence,
			   .tid = r->tid, .range = r->range, .func = r->func, .node = r->node,
			   .open_ns = r->open_ns };

	memcpy(key.grid, r->last.grid, sizeof(key.grid));
	memcpy(key.block, r->last.block, sizeof(key.block));
	return key;
}

static bool is_row(const struct launched_row *r, const struct key *key, const char *name)
{
	return r->node == key->node && r->open_ns == key->open_ns && r->pid == key->pid &&
	       r->device == key->device && r->evidence == key->evidence &&
	       r->tid == key->tid && r->range == key->range && r->func == key->func &&
	       kernel_launch_is_like(&r->last, key->grid, key->block) &&
	       (r->name && name ? !strcmp(r->name, name) : r->name == name);
}

static struct launched_row *add_row(struct launched *l, uint64_t hash, const struct key *key,
				    const char *name)
{
	char *copy = name ? strdup(name) : NULL;
	struct map_slot *slot = copy || !name ? map_put(&l->by_key, hash, NULL) : NULL;
	struct launched_row *r = slot ? VEC_PUSH(&l->rows) : NULL;

	if (!r) {
		map_del(&l->by_key, hash);
		free(copy);
		return NULL;
	}
	*r = (struct launched_row){
		.pid = key->pid, .device = key->device, .name = copy, .min_ns = UINT64_MAX,
		.evidence = (uint8_t)key->evidence, .func = (uint16_t)key->func, .tid = key->tid,
		.range = key->range, .node = key->node, .open_ns = key->open_ns };
	memcpy(r->last.grid, key->grid, sizeof(key->grid));
	memcpy(r->last.block, key->block, sizeof(key->block));
	slot->value = l->rows.n - 1;
	return r;
}

static struct launched_row *find_row(struct launched *l, const struct key *key, const char *name)
{
	uint64_t hash = XXH64(key, sizeof(*key), name ? XXH64(name, strlen(name), 0) : 0);
	const struct key other = { .pid = key->pid, .device = key->device };
	const struct map_slot *slot;

	for (; (slot = map_find(&l->by_key, hash)); hash++)
		if (is_row(&l->rows.v[slot->value], key, name))
			return &l->rows.v[slot->value];
	if (l->rows.n >= LAUNCHED_MAX && (!name || strcmp(name, LAUNCHED_OTHER) != 0 ||
					  memcmp(key, &other, sizeof(other)) != 0))
		return find_row(l, &other, LAUNCHED_OTHER);
	return add_row(l, hash, key, name);
}

static int add(struct launched *l, const struct launched_row *from)
{
	const struct key key = key_of(from);
	struct launched_row *r = find_row(l, &key, from->name);

	if (!r)
		return -ENOMEM;
	r->count += from->count;
	r->total_ns += from->total_ns;
	r->min_ns = num_min(r->min_ns, from->min_ns);
	r->max_ns = num_max(r->max_ns, from->max_ns);
	if (!r->name || strcmp(r->name, LAUNCHED_OTHER) != 0)
		r->last = from->last;
	return 0;
}

bool launched_waits(enum graph_evidence evidence, const struct captured_call *call)
{
	return evidence == EVIDENCE_PENDING || (evidence == EVIDENCE_ORDER && !call->settled);
}

int launched_count(struct launched *l, const struct event *kernel, enum graph_evidence evidence,
		   const struct captured_call *call)
{
	uint64_t ns = kernel->end_ns - kernel->start_ns;
	struct launched_row one = {
		.pid = kernel->pid, .device = kernel->work->device, .name = (char *)kernel->text,
		.node = evidence == EVIDENCE_PENDING ? kernel->work->graph_node : 0,
		.count = 1, .total_ns = ns, .min_ns = ns, .max_ns = ns };

	kernel_launch_of(&one.last, kernel->work);
	fill_call(&one, evidence, call);
	if (evidence == EVIDENCE_ORDER && !call->settled)
		one.open_ns = call->start_ns + (call->end_ns - call->start_ns) / 2;
	return add(l, &one);
}

int launched_resolve(struct launched *waiting, struct launched *to, launched_find_fn find,
		     void *ctx)
{
	struct launched all = *waiting;
	int err = 0;

	*waiting = (struct launched){ .rows = { 0 } };
	for (size_t i = 0; i < all.rows.n && !err; i++) {
		struct launched_row *r = &all.rows.v[i];
		const struct captured_call *call = NULL;
		enum graph_evidence evidence = find(ctx, r, &call);

		if (evidence != EVIDENCE_PENDING) {
			fill_call(r, evidence, call);
			r->node = r->open_ns = 0;
		}
		err = add(evidence == EVIDENCE_PENDING ? waiting : to, r);
	}
	launched_free(&all);
	return err;
}
