/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Which processes are followed, and the state of a thread that is seen for the first time.
 */
#ifndef GPUPROF_THREADS_BPF_H
#define GPUPROF_THREADS_BPF_H

#include "send.bpf.h"

static __always_inline bool is_followed(__u32 tgid)
{
	return follow_all || bpf_map_lookup_elem(&pids, &tgid);
}

/* Was it in a call when its probes came? Then its end is sent though it has made no call since. */
static __always_inline bool is_in_flight(struct task_struct *task)
{
	__u32 tid = task->pid;

	return bpf_map_lookup_elem(&in_flight, &tid);
}

/* From now on the scheduler's hooks record it. */
static __always_inline struct thread_state *enable_offcpu(struct thread_state *st, __u64 id)
{
	st->off.rec.kind = GP_OFF;
	st->off.rec.pid = id >> 32;
	st->off.rec.tid = (__u32)id;
	*(volatile __u32 *)&st->off.watched = 1;
	return st;
}

/*
 * A function of its own with its record in the ring, not on the stack: from 6.13 on a probe
 * program whose frame is larger than 48 bytes gets a per-CPU stack, and probe programs are
 * preemptible: two threads of one CPU would overwrite each other's locals.
 */
static __noinline struct thread_state *register_thread(struct task_struct *task)
{
	__u64 id = bpf_get_current_pid_tgid();
	__u32 tgid = id >> 32;
	struct thread_state *st;
	struct gp_task *rec;

	if (!is_followed(tgid)) {
		count(foreign);
		return NULL;
	}
	st = bpf_task_storage_get(&threads, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!st) {
		count(no_state);
		return NULL;
	}
	rec = reserve_task(GP_TASK_NEW);
	if (!rec)
		return enable_offcpu(st, id);
	rec->start_ns = task->start_time;
	rec->process_ns = task->group_leader->start_time;
	rec->pid = tgid;
	rec->tid = (__u32)id;
	bpf_get_current_comm(rec->comm, sizeof(rec->comm));
	rec->own_tid = own_tid(task);
	submit_task(rec);
	return enable_offcpu(st, id);
}

#endif
