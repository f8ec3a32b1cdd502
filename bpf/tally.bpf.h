/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Calls added up per process and row in the kernel, for when no single call is needed.
 */
#ifndef GPUPROF_TALLY_BPF_H
#define GPUPROF_TALLY_BPF_H

#include "gpuprof/tally.h"
#include "bins.bpf.h"
#include "nest.bpf.h"

struct tallies_t {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(max_entries, 16384);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct gp_tally_key);
	__type(value, struct gp_tally);
} tallies SEC(".maps");

/*
 * Entries counted where the kernel's own filter admits one process only: the cookie is then a slot
 * that user space gave to (process, row), and no key needs to be made or looked up.
 */
struct slots_t {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, GP_SLOTS_MAX);
	__type(key, __u32);
	__type(value, __u64);
} slots SEC(".maps");

static const struct gp_tally empty_tally = {};

/* This CPU's tally of the current process and row, made when it is new. check_followed: the
 * caller does not know yet whether the process is followed. */
static __always_inline struct gp_tally *find_tally(__u64 row, bool check_followed)
{
	struct gp_tally_key key = { .process_ns = bpf_get_current_task_btf()->group_leader->start_time,
				    .pid = bpf_get_current_pid_tgid() >> 32, .row = row };
	struct gp_tally *t = bpf_map_lookup_elem(&tallies, &key);

	if (t)
		return t;
	if (check_followed && !is_followed(key.pid)) {
		count(foreign);
		return NULL;
	}
	bpf_map_update_elem(&tallies, &key, &empty_tally, BPF_NOEXIST);
	t = bpf_map_lookup_elem(&tallies, &key);
	if (!t)
		count(no_state);
	return t;
}

/* Programs may be preempted, so that two threads raise it at once; each try that fails has met a
 * larger one, or one as good as its own. */
static __always_inline void raise_max(__u64 *max, __u64 v)
{
	for (int i = 0; i < 3; i++) {
		__u64 old = *(volatile __u64 *)max;

		if (v <= old || __sync_val_compare_and_swap(max, old, v) == old)
			return;
	}
}

/* A call whose return is not followed. */
static __always_inline void tally_entry(__u64 row)
{
	struct gp_tally *t = find_tally(row, false);

	if (t)
		__sync_fetch_and_add(&t->entries, 1);
}

static __always_inline void tally_call(__u64 row, __u64 dur, __s32 result)
{
	struct gp_tally *t = find_tally(row, false);
	__u32 bin;

	if (!t)
		return;
	__sync_fetch_and_add(&t->count, 1);
	__sync_fetch_and_add(&t->total_ns, dur);
	if (result)
		__sync_fetch_and_add(&t->errors, 1);
	raise_max(&t->max_ns, dur);
	bin = bin_of(dur);
	if (bin < GP_BINS)
		__sync_fetch_and_add(&t->bins[bin], 1);
}

#endif
