// SPDX-License-Identifier: BSD-3-Clause
/* One table of rows, found by a hash of what tells them apart. */
#include "ledger/launched.h"

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

static struct key key_of(const struct event *kernel, enum graph_evidence evidence,
			 const struct captured_call *call)
{
	struct key key = { .pid = kernel->pid, .device = kernel->work->device,
			   .evidence = (uint32_t)evidence };

	memcpy(key.grid, kernel->work->grid, sizeof(key.grid));
	memcpy(key.block, kernel->work->block, sizeof(key.block));
	if (call) {
		key.tid = call->tid;
		key.range = call->range;
		key.func = call->func;
	}
	return key;
}

static bool is_row(const struct launched_row *r, const struct key *key, const char *name)
{
	return r->pid == key->pid && r->device == key->device && r->evidence == key->evidence &&
	       r->tid == key->tid && r->range == key->range && r->func == key->func &&
	       !memcmp(r->last.grid, key->grid, sizeof(key->grid)) &&
	       !memcmp(r->last.block, key->block, sizeof(key->block)) &&
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
		.range = key->range };
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

int launched_count(struct launched *l, const struct event *kernel, enum graph_evidence evidence,
		   const struct captured_call *call)
{
	const struct key key = key_of(kernel, evidence, call);
	struct launched_row *r = find_row(l, &key, kernel->text);
	uint64_t ns = kernel->end_ns - kernel->start_ns;

	if (!r)
		return -ENOMEM;
	r->count++;
	r->total_ns += ns;
	r->min_ns = num_min(r->min_ns, ns);
	r->max_ns = num_max(r->max_ns, ns);
	if (!r->name || strcmp(r->name, LAUNCHED_OTHER) != 0)
		r->last = *kernel->work;
	return 0;
}
