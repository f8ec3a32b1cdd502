// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The user-mode registers of every thread of the processes in `looked_at`, without stopping any:
 * as the kernel saved them at the thread's entry. For `gpuprof stacks`, and for calls that began
 * before a session; no probe, on no call's path.
 */
#include "abi.bpf.h"

/* A record is too large for the stack; one reader at a time, so one is enough. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct gp_thread_regs);
} regs_buf SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u32);	/* thread group */
	__type(value, __u32);
} looked_at SEC(".maps");

/* Has it made a call that the probes saw, or is it in one? */
static __always_inline bool is_seen(struct task_struct *task)
{
	return bpf_task_storage_get(&threads, task, 0, 0);
}

SEC("?iter/task")
int task_regs(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct gp_thread_regs *rec;
	struct pt_regs *regs;
	__u32 zero = 0, tgid;

	if (!task)
		return 0;
	tgid = task->tgid;
	if (!bpf_map_lookup_elem(&looked_at, &tgid))
		return 0;
	rec = bpf_map_lookup_elem(&regs_buf, &zero);
	regs = (struct pt_regs *)bpf_task_pt_regs(task);
	if (!rec || !regs)
		return 0;
	rec->pid = tgid;
	rec->tid = task->pid;
	/* An int up to 6.18, something narrower in 7.3. */
	rec->flags = BPF_CORE_READ_BITFIELD(task, on_cpu) ? GP_REGS_ON_CPU : 0;
	if (is_seen(task))
		rec->flags |= GP_REGS_SEEN;
	copy_regs(rec, regs);
	bpf_seq_write(ctx->meta->seq, rec, sizeof(*rec));
	return 0;
}
