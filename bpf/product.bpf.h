/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* Which product of matrices a function of cuBLAS is asked for, by its arguments. */
#ifndef GPUPROF_PRODUCT_BPF_H
#define GPUPROF_PRODUCT_BPF_H

#include "op.bpf.h"

/* Places of cublasLtMatmul's arguments behind the first six, and in its operation. */
#define LT_LAYOUT_B 0
#define LT_LAYOUT_D 5
#define LT_OPERATION_A 5
#define LT_OPERATION_B 6
#define LT_EPILOGUE 9
#define LT_EPILOGUE_BIAS 4
#define COLUMN_MAJOR 0

extern const volatile struct gp_gemm_row gemms[GP_GEMM_ROWS];

static __always_inline volatile const struct gp_gemm_row *gemm_row(__u64 id)
{
	asm volatile("" : "+r"(id));
	return &gemms[id < GP_GEMM_ROWS ? id : 0];
}

/* The arguments behind the first six. False: they cannot be read. */
static __noinline int read_more_arguments(struct pt_regs *ctx, struct thread_ops *t)
{
	__u64 stack = PT_REGS_SP(ctx) + STACK_ARGS_OFFSET - 8 * MORE_REGS;

	if (bpf_probe_read_user(t->product.arguments, sizeof(t->product.arguments), (void *)stack))
		return 0;
	for (__u32 i = 0; i < MORE_REGS; i++)
		t->product.arguments[i] = more_reg(ctx, i);
	return 1;
}

/* One of them; the upper half of a number of 32 bits is undefined. */
static __noinline __u64 number_at(const struct thread_ops *t, __u64 at, __u64 is_wide)
{
	__u64 value;

	at &= GEMM_ARGUMENTS - 1;
	asm volatile("" : "+r"(at));
	value = t->product.arguments[at & (GEMM_ARGUMENTS - 1)];
	return is_wide ? value : (__u32)value;
}

static __noinline int read_product(struct pt_regs *ctx, struct thread_ops *t, __u64 id)
{
	volatile const struct gp_gemm_row *row = gemm_row(id);
	struct gp_gemm *g = &t->product.gemm;
	__u64 wide = row->is_wide, mask = wide ? ~0ull : 0xffffffff;

	g->operation[0] = PT_REGS_PARM2(ctx);
	g->operation[1] = PT_REGS_PARM3(ctx);
	g->m = PT_REGS_PARM4(ctx) & mask;
	g->n = PT_REGS_PARM5(ctx) & mask;
	g->k = PT_REGS_PARM6(ctx) & mask;
	for (__u32 i = 0; i < 3; i++) {
		g->ld[i] = number_at(t, row->ld[i], wide);
		if (row->type[i])
			g->type[i] = number_at(t, row->type[i], 0);
	}
	if (row->batch)
		g->batch = number_at(t, row->batch, wide);
	return 1;
}

/* The matrix that has this layout: its type and leading dimension. False: it cannot be read, or is
 * not by columns. */
static __noinline int read_layout(struct thread_ops *t, __u64 at, __u32 i)
{
	struct lt_layout *l = &t->product.layout;

	if (bpf_probe_read_user(l, sizeof(*l), (void *)at) || l->order != COLUMN_MAJOR || i > 2)
		return 0;
	asm volatile("" : "+r"(i));
	if (i > 2)
		return 0;
	t->product.gemm.type[i] = l->type;
	t->product.gemm.ld[i] = l->ld;
	return 1;
}

/* The operand A or B has the rows and columns that the product wants. */
static __always_inline bool fits(const struct lt_layout *l, __u8 operation, __u64 rows,
				 __u64 columns)
{
	return operation ? l->rows == columns && l->columns == rows :
			   l->rows == rows && l->columns == columns;
}

static __noinline int read_operation(struct pt_regs *ctx, struct thread_ops *t)
{
	struct gp_gemm *g = &t->product.gemm;

	if (bpf_probe_read_user(t->product.operation, sizeof(t->product.operation),
				(void *)PT_REGS_PARM2(ctx)))
		return 0;
	g->operation[0] = t->product.operation[LT_OPERATION_A];
	g->operation[1] = t->product.operation[LT_OPERATION_B];
	g->bias = !!(t->product.operation[LT_EPILOGUE] & LT_EPILOGUE_BIAS);
	return 1;
}

static __noinline int read_matmul(struct pt_regs *ctx, struct thread_ops *t)
{
	struct gp_gemm *g = &t->product.gemm;
	const struct lt_layout *l = &t->product.layout;

	if (!read_operation(ctx, t) || !read_layout(t, t->product.arguments[LT_LAYOUT_D], 2))
		return 0;
	g->m = l->rows;
	g->n = l->columns;
	g->batch = l->batch;
	if (!read_layout(t, PT_REGS_PARM5(ctx), 0))
		return 0;
	g->k = g->operation[0] ? l->rows : l->columns;
	return fits(l, g->operation[0], g->m, g->k) &&
	       read_layout(t, t->product.arguments[LT_LAYOUT_B], 1) &&
	       fits(l, g->operation[1], g->k, g->n);
}

/* What is asked for, into t->product.gemm. */
static __noinline int describe_product(struct pt_regs *ctx, struct thread_ops *t, __u64 row)
{
	struct gp_gemm *g = &t->product.gemm;
	int known;

	__builtin_memset(g, 0, sizeof(*g));
	g->batch = 1;
	known = read_more_arguments(ctx, t) &&
		(gemm_row(row)->is_lt ? read_matmul(ctx, t) : read_product(ctx, t, row));
	if (!known)
		__builtin_memset(g, 0, sizeof(*g));
	g->kind = GP_GEMM;
	g->row = row;
	return known;
}

#endif
