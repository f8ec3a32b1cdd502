// SPDX-License-Identifier: BSD-3-Clause
/* Per-CPU values, added up. A key that appears or goes while we read is read the next time. */
#include "probe/tally_map.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void add(struct gp_tally *sum, const struct gp_tally *cpu)
{
	sum->count += cpu->count;
	sum->errors += cpu->errors;
	sum->total_ns += cpu->total_ns;
	if (cpu->max_ns > sum->max_ns)
		sum->max_ns = cpu->max_ns;
	for (int i = 0; i < GP_BINS; i++)
		sum->bins[i] += cpu->bins[i];
}

int tally_each(int map_fd, tally_fn fn, void *ctx)
{
	int n_cpus = libbpf_num_possible_cpus(), err;
	struct gp_tally_key key, *last = NULL;
	struct gp_tally *cpus, sum;

	cpus = n_cpus > 0 ? calloc((size_t)n_cpus, sizeof(*cpus)) : NULL;
	if (!cpus)
		return -ENOMEM;
	while (!(err = bpf_map_get_next_key(map_fd, last, &key))) {
		last = &key;
		if (key.pid == (uint32_t)getpid() || bpf_map_lookup_elem(map_fd, &key, cpus))
			continue;
		memset(&sum, 0, sizeof(sum));
		for (int i = 0; i < n_cpus; i++)
			add(&sum, &cpus[i]);
		fn(ctx, &key, &sum);
	}
	free(cpus);
	return err == -ENOENT ? 0 : err;
}

int tally_each_slot(int map_fd, const struct gp_tally_key *keys, size_t n, tally_fn fn, void *ctx)
{
	int n_cpus = libbpf_num_possible_cpus(), err = 0;
	uint64_t *cpus = n_cpus > 0 ? calloc((size_t)n_cpus, sizeof(*cpus)) : NULL;

	if (!cpus)
		return -ENOMEM;
	for (uint32_t slot = 0; slot < n && !err; slot++) {
		struct gp_tally sum = { 0 };

		err = bpf_map_lookup_elem(map_fd, &slot, cpus);
		for (int i = 0; i < n_cpus; i++)
			sum.count += cpus[i];
		if (!err && sum.count && keys[slot].pid != (uint32_t)getpid())
			fn(ctx, &keys[slot], &sum);
	}
	free(cpus);
	return err;
}
