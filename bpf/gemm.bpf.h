/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Products of matrices that a thread is in: what is launched there is the product's, which knows
 * the operator around it.
 */
#ifndef GPUPROF_GEMM_BPF_H
#define GPUPROF_GEMM_BPF_H

#include "op_enter.bpf.h"
#include "product.bpf.h"

static __noinline __u64 hash_product(const struct gp_gemm *g)
{
	__u64 h = mix(*(const __u64 *)g, g->op);

	h = mix(mix(mix(h, g->m), g->n), g->k);
	for (__u32 i = 0; i < 3; i++)
		h = mix(h, g->ld[i]);
	return mix(h, g->batch) | GP_OPS_FIRST;
}

/* The first time. False: the ring is full. */
static __noinline int send_product(struct gp_gemm *g)
{
	__u64 id = bpf_get_current_pid_tgid();
	__u8 yes = 1;

	if (bpf_map_lookup_elem(&named, &g->id))
		return 1;
	g->start_ns = bpf_ktime_get_ns();
	g->pid = id >> 32;
	g->tid = (__u32)id;
	count(hits[GP_GEMM]);
	if (bpf_ringbuf_output(&calls, g, sizeof(*g), BPF_RB_NO_WAKEUP)) {
		count(lost[GP_GEMM]);
		return 0;
	}
	bpf_map_update_elem(&named, &g->id, &yes, BPF_ANY);
	return 1;
}

/* False: it is inside of another, or not followed. */
static __noinline int gemm_enter(struct pt_regs *ctx, __u64 row)
{
	struct thread_ops *t = ops_of_thread();
	__u64 sp = PT_REGS_SP(ctx);
	const struct op_frame *in;
	struct gp_gemm *g;

	if (!t || innermost_op(&t->gemms, sp) != NO_OP)
		return 0;
	describe_product(ctx, t, row);
	g = &t->product.gemm;
	in = calling_op(ctx, &t->ops, sp);
	g->op = in ? in->op : 0;
	g->id = hash_product(g);
	return send_product(g) && enter_op(&t->gemms, sp, g->id, g->op, 0);
}

static __noinline int gemm_return(struct pt_regs *ctx)
{
	struct thread_ops *t;

	if (!follow_ops)
		return 0;
	t = bpf_task_storage_get(&ops, bpf_get_current_task_btf(), 0, 0);
	return t ? return_op(&t->gemms, PT_REGS_SP(ctx) - RET_POPS) : 0;
}

#endif
