/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Maps and settings that every family of probes shares: the two rings, the set of followed
 * processes, the threads, the counters.
 */
#ifndef GPUPROF_MAPS_BPF_H
#define GPUPROF_MAPS_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "gpuprof/control.h"
#include "gpuprof/row.h"
#include "state.bpf.h"

struct calls_t {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 8 << 20);
};
extern struct calls_t calls SEC(".maps");

struct tasks_t {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
};
extern struct tasks_t tasks SEC(".maps");

struct threads_t {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct thread_state);
};
extern struct threads_t threads SEC(".maps");

struct pids_t {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u32);	/* thread group */
	__type(value, __u32);	/* its parent, 0: named by the user */
};
extern struct pids_t pids SEC(".maps");

struct in_flight_t {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u32);	/* thread */
	__type(value, __u32);
};
extern struct in_flight_t in_flight SEC(".maps");

struct code_t {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u32);	/* thread group */
	__type(value, struct gp_code);
};
extern struct code_t code SEC(".maps");

struct counts_t {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct gp_counts);
};
extern struct counts_t counts SEC(".maps");

/* Settings, written by the loader before the programs are loaded. */
extern const volatile __u8 follow_all;		/* every process, not only those in `pids` */
extern const volatile __u8 follow_children;	/* ... and children of these */
extern const volatile __u64 wake_bytes;		/* this much waiting in `calls` wakes the reader */
/* copied of each stack, whole blocks; 0: no stacks */
extern const volatile __u32 stack_bytes;

/* The words to capture of each row; index = cookie = row. */
extern const volatile struct gp_row rows[GP_ROWS_MAX];

/* Set by the loader while the programs run. */
extern volatile __u8 handed_over;
extern volatile __u8 returns;		/* GP_RETURNS_* */
extern volatile __u64 quiet;		/* 1 << generation: its links begin no calls */
/* Of each group: calls that began before had links that are gone. */
extern volatile __u64 gone_ns[GP_GROUPS];

/* The verifier wants to see the bound on the very register that is the index; left to itself, the
 * compiler may check a copy. */
static __always_inline volatile const struct gp_row *row_at(__u64 id)
{
	asm volatile("" : "+r"(id));
	return &rows[id < GP_ROWS_MAX ? id : 0];
}

/* Does a link with this cookie record nothing now? */
static __always_inline bool link_is_inactive(__u64 cookie)
{
	return cookie & (handed_over ? GP_COOKIE_FILTERED : GP_COOKIE_WAITING) ||
	       1 << (cookie >> GP_COOKIE_GENERATION_SHIFT & 7) & quiet;
}

/* A program may be preempted, so even a per-CPU counter must be added to atomically. */
#define count(field)                                                    \
	({                                                              \
		__u32 zero_ = 0;                                        \
		struct gp_counts *c_ = bpf_map_lookup_elem(&counts, &zero_); \
		if (c_)                                                 \
			__sync_fetch_and_add(&c_->field, 1);            \
	})

/* A hash of all words that are mixed in, one after the other. */
static __always_inline __u64 mix(__u64 h, __u64 v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15ull;
	return h ^ h >> 32;
}

#endif
