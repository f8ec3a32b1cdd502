/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* How a record is sent, numbered and counted. */
#ifndef GPUPROF_SEND_BPF_H
#define GPUPROF_SEND_BPF_H

#include "maps.bpf.h"

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

/* The thread's call record takes its next number, and is counted. */
static __always_inline void number_call(struct thread_state *st, struct gp_counts *c, __u8 kind)
{
	st->rec.head.kind = kind;
	st->rec.head.seq = ++st->seq;
	__sync_fetch_and_add(&c->hits[kind], 1);
}

/* Sends the thread's call record with the next number of the thread. words: GP_WORDS_* or 0. */
static __always_inline void send_call(struct thread_state *st, __u8 kind, __u32 words)
{
	__u32 zero = 0;
	struct gp_counts *c = bpf_map_lookup_elem(&counts, &zero);
	__u32 size = sizeof(struct gp_call) + 8 * words;

	if (st->rec.head.flags & GP_CALL_STACK)
		size += 8;
	if (st->rec.head.flags & GP_CALL_OP)
		size += 8;
	if (st->rec.head.flags & GP_CALL_MODULE)
		size += 8;
	if (st->rec.head.flags & GP_CALL_BLOCKED)
		size += 8;
	if (st->rec.head.flags & GP_CALL_LATE)
		size += 8;
	if (!c || kind >= GP_KINDS || size > sizeof(st->rec))
		return;
	number_call(st, c, kind);
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

/* The number that the thread itself knows: of the innermost of the namespaces that it has one in.
 * 0: unknown. */
static __always_inline __u32 own_tid(const struct task_struct *task)
{
	/* By a copy: before 6.2 the verifier forbids arithmetic on a pointer that it follows
	 * itself. */
	const struct pid *pid = BPF_CORE_READ(task, thread_pid);
	__u32 tid = 0;

	if (pid)
		bpf_probe_read_kernel(&tid, sizeof(tid),
				      (const char *)pid + bpf_core_field_offset(pid->numbers) +
				      (__u64)BPF_CORE_READ(pid, level) *
					      bpf_core_type_size(struct upid));
	return tid;
}

/* Sends the reserved record. The drain finds it with its timer: tasks never wake it. */
static __always_inline void submit_task(struct gp_task *rec)
{
	bpf_ringbuf_submit(rec, BPF_RB_NO_WAKEUP);
}

#endif
