// SPDX-License-Identifier: BSD-3-Clause
/* Per-CPU values, added up. A key that appears or goes while we read is read the next time. */
#include "probe/tally_map.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/map.h"
#include "base/vec.h"

static void add(struct gp_tally *sum, const struct gp_tally *cpu)
{
	sum->count += cpu->count;
	sum->entries += cpu->entries;
	sum->errors += cpu->errors;
	sum->total_ns += cpu->total_ns;
	if (cpu->max_ns > sum->max_ns)
		sum->max_ns = cpu->max_ns;
	for (int i = 0; i < GP_BINS; i++)
		sum->bins[i] += cpu->bins[i];
}

/* What the slots have counted, by row and pid: several files of a process may have given slots to one
 * row. */
static int read_slots(const struct tally_slots *slots, uint64_t *cpus, int n_cpus, struct map *out)
{
	for (uint32_t slot = 0; slot < slots->n; slot++) {
		const struct gp_tally_key *key = &slots->keys[slot];
		struct map_slot *sum;
		int err = bpf_map_lookup_elem(slots->map_fd, &slot, cpus);

		sum = err ? NULL : map_put(out, (uint64_t)key->pid << 32 | key->row, NULL);
		if (!sum)
			return err ? err : -ENOMEM;
		for (int i = 0; i < n_cpus; i++)
			sum->value += cpus[i];
	}
	return 0;
}

static void each_in_slots(const struct map *counted, const struct tally_sink *sink)
{
	for (size_t i = 0; i < counted->cap; i++) {
		const struct map_slot *s = &counted->slot[i];
		struct gp_tally_key key = { .pid = (uint32_t)(s->key >> 32), .row = (uint32_t)s->key };
		struct gp_tally sum = { .count = s->value };

		if (s->used && s->value && key.pid != (uint32_t)getpid())
			sink->fn(sink->ctx, &key, &sum);
	}
}

struct keys {
	VEC(struct gp_tally_key) all;
};

static int read_keys(int map_fd, struct keys *keys)
{
	struct gp_tally_key key, *last = NULL, *place;
	int err;

	while (!(err = bpf_map_get_next_key(map_fd, last, &key))) {
		last = &key;
		place = key.pid == (uint32_t)getpid() ? &key : VEC_PUSH(&keys->all);
		if (!place)
			return -ENOMEM;
		*place = key;
	}
	return err == -ENOENT ? 0 : err;
}

static int compare_keys(const void *a, const void *b)
{
	const struct gp_tally_key *x = a, *y = b;

	if (x->process_ns != y->process_ns)
		return x->process_ns < y->process_ns ? -1 : 1;
	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return (x->row > y->row) - (x->row < y->row);
}

static void each_in_hash(int map_fd, struct gp_tally *cpus, int n_cpus, struct keys *keys,
			 const struct tally_sink *sink)
{
	struct gp_tally sum;

	if (keys->all.n)
		qsort(keys->all.v, keys->all.n, sizeof(*keys->all.v), compare_keys);
	for (size_t i = 0; i < keys->all.n; i++) {
		if (bpf_map_lookup_elem(map_fd, &keys->all.v[i], cpus))
			continue;
		memset(&sum, 0, sizeof(sum));
		for (int k = 0; k < n_cpus; k++)
			add(&sum, &cpus[k]);
		sink->fn(sink->ctx, &keys->all.v[i], &sum);
	}
}

int tally_each(int map_fd, const struct tally_slots *slots, const struct tally_sink *sink)
{
	int n_cpus = libbpf_num_possible_cpus(), err;
	struct gp_tally *cpus = n_cpus > 0 ? calloc((size_t)n_cpus, sizeof(*cpus)) : NULL;
	struct map counted = { 0 };
	struct keys keys = { 0 };

	if (!cpus)
		return -ENOMEM;
	err = read_slots(slots, (uint64_t *)cpus, n_cpus, &counted);
	if (!err)
		err = read_keys(map_fd, &keys);
	if (!err) {
		each_in_slots(&counted, sink);
		each_in_hash(map_fd, cpus, n_cpus, &keys, sink);
	}
	map_free(&counted);
	VEC_FREE(&keys.all);
	free(cpus);
	return err;
}

void tally_forget(int map_fd, uint32_t pid)
{
	struct gp_tally_key key, before, *last = NULL;

	while (!bpf_map_get_next_key(map_fd, last, &key)) {
		bool is_its = key.pid == pid && !bpf_map_delete_elem(map_fd, &key);

		before = key;
		last = is_its ? NULL : &before;
	}
}
