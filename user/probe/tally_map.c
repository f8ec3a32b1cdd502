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

static uint64_t pack_key(const struct gp_tally_key *key)
{
	return (uint64_t)key->pid << 32 | key->row;
}

/* What the slots have counted, by key: several files of a process may have given slots to one row. */
static int read_slots(const struct tally_slots *slots, uint64_t *cpus, int n_cpus, struct map *out)
{
	for (uint32_t slot = 0; slot < slots->n; slot++) {
		struct map_slot *sum;
		int err = bpf_map_lookup_elem(slots->map_fd, &slot, cpus);

		sum = err ? NULL : map_put(out, pack_key(&slots->keys[slot]), NULL);
		if (!sum)
			return err ? err : -ENOMEM;
		for (int i = 0; i < n_cpus; i++)
			sum->value += cpus[i];
	}
	return 0;
}

static int each_in_hash(int map_fd, struct gp_tally *cpus, int n_cpus, struct map *slots,
			const struct tally_sink *sink)
{
	struct gp_tally_key key, *last = NULL;
	struct map_slot *slot;
	struct gp_tally sum;
	int err;

	while (!(err = bpf_map_get_next_key(map_fd, last, &key))) {
		last = &key;
		if (key.pid == (uint32_t)getpid() || bpf_map_lookup_elem(map_fd, &key, cpus))
			continue;
		memset(&sum, 0, sizeof(sum));
		for (int i = 0; i < n_cpus; i++)
			add(&sum, &cpus[i]);
		slot = map_find(slots, pack_key(&key));
		if (slot) {
			sum.count += slot->value;
			slot->value = 0;
		}
		sink->fn(sink->ctx, &key, &sum);
	}
	return err == -ENOENT ? 0 : err;
}

/* The hash has not all keys of the slots; what it had is zero now. */
static void each_left_over(const struct map *slots, const struct tally_sink *sink)
{
	for (size_t i = 0; i < slots->cap; i++) {
		const struct map_slot *s = &slots->slot[i];
		struct gp_tally_key key = { (uint32_t)(s->key >> 32), (uint32_t)s->key };
		struct gp_tally sum = { .count = s->value };

		if (s->used && s->value && key.pid != (uint32_t)getpid())
			sink->fn(sink->ctx, &key, &sum);
	}
}

int tally_each(int map_fd, const struct tally_slots *slots, const struct tally_sink *sink)
{
	int n_cpus = libbpf_num_possible_cpus(), err;
	struct gp_tally *cpus = n_cpus > 0 ? calloc((size_t)n_cpus, sizeof(*cpus)) : NULL;
	struct map counted = { 0 };

	if (!cpus)
		return -ENOMEM;
	err = read_slots(slots, (uint64_t *)cpus, n_cpus, &counted);
	if (!err)
		err = each_in_hash(map_fd, cpus, n_cpus, &counted, sink);
	if (!err)
		each_left_over(&counted, sink);
	map_free(&counted);
	free(cpus);
	return err;
}
