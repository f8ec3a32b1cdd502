/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Times off the CPU, recorded by the scheduler's hooks, in one order with the thread's own records.
 */
#ifndef GPUPROF_OFFCPU_BPF_H
#define GPUPROF_OFFCPU_BPF_H

#include "send.bpf.h"

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
	if (c) {
		__sync_fetch_and_add(&c->hits[GP_OFF], 1);
		if (bpf_ringbuf_output(&calls, &off->rec, sizeof(off->rec), wake_flags()))
			__sync_fetch_and_add(&c->lost[GP_OFF], 1);
	}
	off->since_ns = 0;	/* until then the hooks leave rec alone */
	off->until_ns = 0;
	return 0;
}

/* How long the thread has ever waited for a CPU; 0: this kernel does not count it. */
static __always_inline __u64 run_delay(const struct task_struct *task)
{
	return bpf_core_field_exists(task->sched_info.run_delay) ? task->sched_info.run_delay : 0;
}

/* From the scheduler's clock to ours, by the latest return to a CPU that was reported; 0: none
 * was. */
extern volatile __u64 arrival_clock;

/* The kernel's own time of a thread's latest arrival on a CPU. */
static __always_inline __u64 last_arrival(const struct task_struct *task)
{
	return bpf_core_field_exists(task->sched_info.last_arrival) ?
		       task->sched_info.last_arrival : 0;
}

/*
 * The thread is on a CPU, and its return to it was not reported: under load, 6.18 leaves out about
 * one switch in a thousand, in its own sched_switch event, too. It was off the CPU until it was
 * woken, and then waited for one as long as the kernel has counted; where that is not known (its
 * wake was not reported either, or there was none: a stop), until the kernel has it arrive on one.
 * Where neither is, an open call was blocked all the time, and outside of calls it is unknown.
 */
static __noinline int end_unreported(struct thread_state *st, const struct task_struct *task)
{
	__u64 now = bpf_ktime_get_ns(), since = st->off.since_ns, ready = st->off.rec.woken_ns;
	__u64 delay = run_delay(task), until;
	bool is_known;

	if (!st->open && st->off.rec.flags & GP_OFF_RUNNABLE)
		ready = since;
	is_known = delay && ready >= since && !(st->open && st->off.stopped);
	until = is_known ? ready + delay - st->off.run_delay_ns :
			   last_arrival(task) + arrival_clock;
	if (!is_known)
		is_known = arrival_clock && until > since;
	if (until > now || !is_known)
		until = now;
	if (st->open) {
		st->off.blocked_ns += until - since;
		st->off.since_ns = 0;
		return 0;
	}
	if (!is_known)
		st->off.rec.flags = GP_OFF_END_UNKNOWN;
	return send_off(st, until);
}

/* From here to recording_end the thread's next record is its own. */
static __always_inline void recording_begin(struct thread_state *st)
{
	*(volatile __u32 *)&st->off.recording = 1;
	if (st->off.since_ns && !*(volatile __u64 *)&st->off.until_ns)
		end_unreported(st, bpf_get_current_task_btf());
}

/* The reason why the thread has been off the CPU meanwhile. */
static __always_inline void recording_end(struct thread_state *st)
{
	if (*(volatile __u64 *)&st->off.until_ns && st->off.since_ns) {
		if (!st->open) {
			send_off(st, st->off.until_ns);
		} else {
			st->off.blocked_ns += st->off.until_ns - st->off.since_ns;
			st->off.since_ns = 0;
			st->off.until_ns = 0;
		}
	}
	*(volatile __u32 *)&st->off.recording = 0;
}

#endif
