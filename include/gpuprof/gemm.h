/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Products of matrices, as programs ask cuBLAS for them; shared by user space and BPF.
 *
 *   cublasSgemm_v2(handle, operation on A, on B, m, n, k, ..., lda, ..., ldb, ..., ldc)
 *   cublasLtMatmul(handle, operation, alpha, A, layout of A, B, layout of B, ... layout of D, ...)
 *
 * What cublasLt calls an operation and a layout are structs that its header does not show. Those of
 * its versions 11.11, 12.1, 12.4, 12.8, 12.9, 13.1 and 13.10 are alike; what they say is believed
 * where the three layouts fit each other.
 */
#ifndef GPUPROF_GEMM_H
#define GPUPROF_GEMM_H

#include "event.h"

#define GP_GEMM_ROWS 64
#define GP_OP_GEMM (GP_OPS_FIRST | 0x100)	/* + the function's row: of its cookie */

/* Where a function has what: numbers of arguments, from 6 = 0. None of them is 0. */
struct gp_gemm_row {
	gp_u8 is_lt;		/* of cublasLt: all is in structs */
	gp_u8 is_wide;		/* its numbers have 64 bits, else 32 */
	gp_u8 ld[3];		/* leading dimensions of A, B and C */
	gp_u8 type[3];		/* of their elements; 0: the function says it */
	gp_u8 batch;		/* how many products; 0: one */
	gp_u8 pad[7];
};

struct gp_gemm {		/* pid and tid are where gp_call has them */
	gp_u8 kind;
	gp_u8 row;
	gp_u8 bias;		/* it adds a vector to the product */
	gp_u8 operation[2];	/* on A and B: 0 none, 1 transposed, 2 and conjugated */
	gp_u8 type[3];		/* of A, B and C: cudaDataType, unless the function says it */
	gp_u64 start_ns;
	gp_u64 id;		/* of the product in this operator */
	gp_u32 pid;
	gp_u32 tid;
	gp_u64 op;		/* the operator around it; 0: none */
	gp_u64 m, n, k;		/* C has m rows and n columns; all are 0: it is not known */
	gp_u64 ld[3];
	gp_u64 batch;
};

_Static_assert(sizeof(struct gp_gemm_row) == 16, "row of a function that multiplies");
_Static_assert(sizeof(struct gp_gemm) == 96, "record of a product");

#endif
