// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The user-mode registers of every thread of the processes in `pids`, without stopping any: what
 * the kernel saved when the thread entered it. For `gpuprof stacks`; no probe, on no call's path.
 */
#include "maps.bpf.h"
#include "gpuprof/regs.h"

/* A record is too large for the stack; one reader at a time, so one is enough. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct gp_thread_regs);
} regs_buf SEC(".maps");

#if defined(__TARGET_ARCH_x86)
static __always_inline void copy_regs(struct gp_thread_regs *rec, const struct pt_regs *r)
{
	rec->pc = r->ip;
	rec->reg[0] = r->ax;
	rec->reg[1] = r->dx;
	rec->reg[2] = r->cx;
	rec->reg[3] = r->bx;
	rec->reg[4] = r->si;
	rec->reg[5] = r->di;
	rec->reg[6] = r->bp;
	rec->reg[7] = r->sp;
	rec->reg[8] = r->r8;
	rec->reg[9] = r->r9;
	rec->reg[10] = r->r10;
	rec->reg[11] = r->r11;
	rec->reg[12] = r->r12;
	rec->reg[13] = r->r13;
	rec->reg[14] = r->r14;
	rec->reg[15] = r->r15;
	rec->known = 0xffff;
}
#elif defined(__TARGET_ARCH_arm64)
static __always_inline void copy_regs(struct gp_thread_regs *rec, const struct pt_regs *r)
{
	const struct user_pt_regs *user = (const struct user_pt_regs *)r;

	rec->pc = user->pc;
	for (int i = 0; i < 31; i++)
		rec->reg[i] = user->regs[i];
	rec->reg[31] = user->sp;
	rec->known = 0xffffffff;
}
#else
#error "gpuprof reads registers of x86-64 and arm64 only"
#endif

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
