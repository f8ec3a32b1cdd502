/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* The ring of stacks, where each record is sent once. */
#ifndef GPUPROF_STACK_SEND_BPF_H
#define GPUPROF_STACK_SEND_BPF_H

#include "maps.bpf.h"

struct stacks_t {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
};
extern struct stacks_t stacks SEC(".maps");

/* Ids of what was sent. */
struct sent_t {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1);
	__type(key, __u64);
	__type(value, __u8);
};
extern struct sent_t sent SEC(".maps");

/* Sends a record of the ring `stacks` and keeps its id. False: there is no room; it is sent the
 * next time. */
static __always_inline bool send_once(const void *rec, __u64 len, __u8 kind, __u64 id)
{
	__u32 zero = 0;
	struct gp_counts *c = bpf_map_lookup_elem(&counts, &zero);
	__u8 yes = 1;

	if (!c)
		return false;
	__sync_fetch_and_add(&c->hits[kind], 1);
	if (bpf_ringbuf_output(&stacks, (void *)rec, len, BPF_RB_NO_WAKEUP)) {
		__sync_fetch_and_add(&c->lost[kind], 1);
		return false;
	}
	bpf_map_update_elem(&sent, &id, &yes, BPF_ANY);
	return true;
}

#endif
