/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions that multiply matrices, where each has its arguments, and how a product is written: as
 * a text, which is the function of its frame (FRAME_GEMM).
 *
 *   cublasSgemm_v2 tn 48 8 64 x1 ld 64 64 48 float32 float32 float32
 *   cublasLtMatmul tn 48 8 64 x1 ld 64 64 48 bfloat16 bfloat16 bfloat16 bias
 *   cublasLtMatmul		its structs were not understood
 */
#ifndef CATALOG_GEMMS_H
#define CATALOG_GEMMS_H

#include <stdbool.h>
#include <stdint.h>

#include "gpuprof/gemm.h"

#define GEMM_NAME_MAX 48
#define GEMM_TEXT_MAX 256

struct gemm {
	char function[GEMM_NAME_MAX];
	char operation[3];		/* "tn": on A, on B */
	char type[3][GEMM_NAME_MAX];	/* of A, B, C: "float32" */
	uint64_t m, n, k;		/* C has m rows, n columns; 0: only function is known */
	uint64_t ld[3];
	uint64_t batch;
	bool bias;
};

/* The row of a function; -1: it is none. */
int gemm_find(const char *function);

/* What BPF has to know of a row; zero: there is no such. */
struct gp_gemm_row gemm_wire_row(unsigned int row);

/* False: the record is none that BPF sends. text: of GEMM_TEXT_MAX bytes. */
bool gemm_write(const struct gp_gemm *rec, char *text);

/* False: it is no such text. */
bool gemm_read(const char *text, struct gemm *out);

/* Multiplications and additions: of complex numbers four times as many. */
double gemm_flops(const struct gemm *g);

#endif
