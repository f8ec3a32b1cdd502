/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Maps, settings and helpers that every family of probes shares: the two rings, the set of
 * followed processes, the state of each thread, and how a record is sent and counted.
 */
#ifndef GPUPROF_MAPS_BPF_H
#define GPUPROF_MAPS_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "gpuprof/control.h"
#include "gpuprof/event.h"
#include "gpuprof/off.h"
#include "gpuprof/row.h"

/*
 * When the thread left the CPU, and what is to be told of that. The scheduler's hooks write it, on the
 * thread's own CPU but for who wakes it; while the thread itself is about to send a record they leave
 * the telling to it (`telling`), for records and numbers must have one order.
 */
struct off_state {
	__u64 since_ns;		/* 0: it is on a CPU */
	__u64 until_ns;		/* held back: it was back on one then; 0: nothing is held back */
	__u64 blocked_ns;	/* of the open call, off the CPU */
	__u32 watched;		/* the hooks care: its first record was sent, its last was not */
	__u32 telling;
	struct gp_off rec;
};

/*
 * One per thread that has called a catalogue function. Only the thread itself writes it (and its
 * own exit), so nothing here needs to be atomic. `rec` is the open call, laid out as it is sent.
 */
struct thread_state {
	__u32 seq;		/* numbers used so far */
	__u32 open;		/* rec is a call that has not returned */
	__u64 sp;		/* stack pointer at its entry: tells its return from a nested one's */
	__u64 jumps_with;	/* return address of a call of a row that jumps, seen at entry only */
	struct {
		struct gp_call head;
		__u64 words[GP_WORDS_LARGE + 2];	/* the last: a stack's id, ns off the CPU */
	} rec;
	struct off_state off;
};

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

struct seeds_t {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u32);	/* thread */
	__type(value, struct gp_seed);
};
extern struct seeds_t seeds SEC(".maps");

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
extern const volatile __u8 follow_children;	/* children of followed processes are followed too */
extern const volatile __u8 record_calls;	/* each call is sent; else they are added up */
extern const volatile __u64 wake_bytes;		/* this much waiting in `calls` wakes the reader */

/* What each row captures; index = cookie = row. */
extern const volatile struct gp_row rows[GP_ROWS_MAX];

/* Set by the loader while the programs run. */
extern volatile __u8 handed_over;
extern volatile __u8 returns;		/* GP_RETURNS_* */

/* The verifier wants to see the bound on the very register that is the index; left to itself, the
 * compiler may check a copy. */
static __always_inline volatile const struct gp_row *row_at(__u64 id)
{
	asm volatile("" : "+r"(id));
	return &rows[id < GP_ROWS_MAX ? id : 0];
}

/* Whether a link with this cookie has a say now. */
static __always_inline bool is_silent(__u64 cookie)
{
	return cookie & (handed_over ? GP_COOKIE_FILTERED : GP_COOKIE_WAITING);
}

/* A program may be preempted, so even a per-CPU counter must be added to atomically. */
#define count(field)                                                    \
	({                                                              \
		__u32 zero_ = 0;                                        \
		struct gp_counts *c_ = bpf_map_lookup_elem(&counts, &zero_); \
		if (c_)                                                 \
			__sync_fetch_and_add(&c_->field, 1);            \
	})

/*
 * The reader has a timer; a wakeup per record costs the target 5 to 20 times the record (an IPI
 * to an idle CPU). So wake only while crossing the mark: the window is wider than any record, and
 * a record that misses it under contention is found by the timer.
 */
static __always_inline __u64 wake_flags(void)
{
	__u64 over = bpf_ringbuf_query(&calls, BPF_RB_AVAIL_DATA) - wake_bytes;

	return over < 512 ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP;
}

/* A function of its own for the sake of its callers' frames. */
static __noinline int send_off(struct thread_state *st, __u64 until_ns)
{
	struct off_state *off = &st->off;
	__u64 dur = until_ns - off->since_ns;
	__u32 zero = 0;
	struct gp_counts *c = bpf_map_lookup_elem(&counts, &zero);

	if (dur > GP_DUR_MAX)
		dur = GP_DUR_MAX;
	off->rec.start_ns = off->since_ns;
	off->rec.dur_lo_ns = (__u32)dur;
	off->rec.dur_hi = dur >> 32;
	off->rec.seq = ++st->seq;
	off->since_ns = 0;
	off->until_ns = 0;
	if (!c)
		return 0;
	__sync_fetch_and_add(&c->hits[GP_OFF], 1);
	if (bpf_ringbuf_output(&calls, &off->rec, sizeof(off->rec), wake_flags()))
		__sync_fetch_and_add(&c->lost[GP_OFF], 1);
	return 0;
}

/* From here to telling_ends the thread's next record is its own. */
static __always_inline void telling_begins(struct thread_state *st)
{
	*(volatile __u32 *)&st->off.telling = 1;
}

/* What the thread has been off the CPU for meanwhile. */
static __always_inline void telling_ends(struct thread_state *st)
{
	if (*(volatile __u64 *)&st->off.until_ns) {
		if (!st->open) {
			send_off(st, st->off.until_ns);
		} else {
			st->off.blocked_ns += st->off.until_ns - st->off.since_ns;
			st->off.since_ns = 0;
			st->off.until_ns = 0;
		}
	}
	*(volatile __u32 *)&st->off.telling = 0;
}

/* Behind the record's words: how long the call was off the CPU. */
static __always_inline void add_blocked(struct thread_state *st, __u32 words)
{
	__u32 at = words + !!(st->rec.head.flags & GP_CALL_STACK);

	st->rec.head.flags &= ~GP_CALL_BLOCKED;
	if (!st->off.blocked_ns || at >= GP_WORDS_LARGE + 2)
		return;
	st->rec.words[at] = st->off.blocked_ns;
	st->rec.head.flags |= GP_CALL_BLOCKED;
}

/* Sends the thread's call record with the next number of the thread. words: GP_WORDS_* or 0. */
static __always_inline void send_call(struct thread_state *st, __u8 kind, __u32 words)
{
	__u32 zero = 0;
	struct gp_counts *c = bpf_map_lookup_elem(&counts, &zero);
	__u32 size = sizeof(struct gp_call) + 8 * words;

	if (st->rec.head.flags & GP_CALL_STACK)
		size += 8;
	if (st->rec.head.flags & GP_CALL_BLOCKED)
		size += 8;
	if (!c || kind >= GP_KINDS || size > sizeof(st->rec))
		return;
	st->rec.head.kind = kind;
	st->rec.head.seq = ++st->seq;
	__sync_fetch_and_add(&c->hits[kind], 1);
	if (bpf_ringbuf_output(&calls, &st->rec, size, wake_flags()))
		__sync_fetch_and_add(&c->lost[kind], 1);
}

/* Room for a record, with kind and time set and all else 0, for submit_task. NULL: the ring is
 * full, counted as lost. */
static __always_inline struct gp_task *reserve_task(__u8 kind)
{
	__u32 zero = 0;
	struct gp_counts *c = bpf_map_lookup_elem(&counts, &zero);
	struct gp_task *rec;

	if (!c || kind >= GP_KINDS)
		return NULL;
	__sync_fetch_and_add(&c->hits[kind], 1);
	rec = bpf_ringbuf_reserve(&tasks, sizeof(*rec), 0);
	if (!rec) {
		__sync_fetch_and_add(&c->lost[kind], 1);
		return NULL;
	}
	__builtin_memset(rec, 0, sizeof(*rec));
	rec->kind = kind;
	rec->time_ns = bpf_ktime_get_ns();
	return rec;
}

/* Sends what was reserved. The drain finds it with its timer: tasks never wake it. */
static __always_inline void submit_task(struct gp_task *rec)
{
	bpf_ringbuf_submit(rec, BPF_RB_NO_WAKEUP);
}

#endif
