// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The user-mode registers of every thread of the processes in `pids`, without stopping any: what
 * the kernel saved when the thread entered it. For `gpuprof stacks`; no probe, on no call's path.
 */
#include "abi.bpf.h"

/* A record is too large for the stack; one reader at a time, so one is enough. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct gp_thread_regs);
} regs_buf SEC(".maps");

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
	if (!bpf_map_lookup_elem(&pids, &tgid))
		return 0;
	rec = bpf_map_lookup_elem(&regs_buf, &zero);
	regs = (struct pt_regs *)bpf_task_pt_regs(task);
	if (!rec || !regs)
		return 0;
	rec->pid = tgid;
	rec->tid = task->pid;
	rec->flags = task->on_cpu ? GP_REGS_ON_CPU : 0;
	copy_regs(rec, regs);
	bpf_seq_write(ctx->meta->seq, rec, sizeof(*rec));
	return 0;
}
