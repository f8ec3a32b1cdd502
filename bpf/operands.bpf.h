/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* What is read of a process's tensors and products of matrices: its libraries' structs. */
#ifndef GPUPROF_OPERANDS_BPF_H
#define GPUPROF_OPERANDS_BPF_H

#include "gpuprof/gemm.h"
#include "maps.bpf.h"

/* What is read of a tensor, from its sizes on. */
struct tensor {
	__u64 dims;
	__u64 sizes[5], strides[5];	/* of more dimensions, sizes[0] is where they are */
	__u64 offset;
	__u64 elements;
	__u16 type;
	__u8 device[4];
	__u8 policy;			/* bits 2 and 3: whether these are its sizes */
	__u8 flags;
};

struct lt_layout {		/* cublasLtMatrixLayoutOpaque_t */
	__u32 type, order;
	__u64 rows, columns, ld;
	__s32 batch;
};

#define GEMM_ARGUMENTS 16	/* behind the first six */

/* What is read of a product of matrices. */
struct product {
	__u64 arguments[GEMM_ARGUMENTS];
	__u32 operation[10];	/* cublasLtMatmulDescOpaque_t */
	struct lt_layout layout;
	struct gp_gemm gemm;
};

#endif
