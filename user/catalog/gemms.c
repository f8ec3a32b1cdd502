// SPDX-License-Identifier: BSD-3-Clause
/* A table by the prototypes of cublas_api.h and cublasLt.h (CUDA 11.8 to 13.1). */
#include "catalog/gemms.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct gemm_function {
	const char *name;
	const char *type;	/* of its elements; NULL: arguments say it */
	struct gp_gemm_row row;
};

/* alpha, A, lda, B, ldb, beta, C, ldc; the same of a batch of pointers, or with a stride behind
 * each leading dimension; and of Ex the type behind each matrix. */
#define ONE .ld = { 2, 4, 7 }
#define POINTERS .ld = { 2, 4, 7 }, .batch = 8
#define STRIDES .ld = { 2, 5, 9 }, .batch = 11
#define ONE_TYPED .type = { 2, 5, 9 }, .ld = { 3, 6, 10 }
#define POINTERS_TYPED .type = { 2, 5, 9 }, .ld = { 3, 6, 10 }, .batch = 11
#define STRIDES_TYPED .type = { 2, 6, 11 }, .ld = { 3, 7, 12 }, .batch = 14

#define EACH(name, type, ...) \
	{ name, type, { __VA_ARGS__ } }, { name "_64", type, { .is_wide = 1, __VA_ARGS__ } }
#define LETTER(letter, type) \
	EACH("cublas" letter "gemmBatched", type, POINTERS), \
	EACH("cublas" letter "gemmStridedBatched", type, STRIDES)

static const struct gemm_function functions[] = {
	{ "cublasLtMatmul", NULL, { .is_lt = 1 } },
	EACH("cublasSgemm_v2", "float32", ONE),
	EACH("cublasDgemm_v2", "float64", ONE),
	EACH("cublasCgemm_v2", "complex64", ONE),
	EACH("cublasZgemm_v2", "complex128", ONE),
	EACH("cublasHgemm", "float16", ONE),
	EACH("cublasCgemm3m", "complex64", ONE),
	EACH("cublasZgemm3m", "complex128", ONE),
	EACH("cublasCgemm3mBatched", "complex64", POINTERS),
	EACH("cublasCgemm3mStridedBatched", "complex64", STRIDES),
	LETTER("S", "float32"),
	LETTER("D", "float64"),
	LETTER("C", "complex64"),
	LETTER("Z", "complex128"),
	LETTER("H", "float16"),
	EACH("cublasSgemmEx", NULL, ONE_TYPED),
	EACH("cublasCgemmEx", NULL, ONE_TYPED),
	EACH("cublasCgemm3mEx", NULL, ONE_TYPED),
	EACH("cublasGemmEx", NULL, ONE_TYPED),
	EACH("cublasGemmBatchedEx", NULL, POINTERS_TYPED),
	EACH("cublasGemmStridedBatchedEx", NULL, STRIDES_TYPED),
};

#define FUNCTIONS (sizeof(functions) / sizeof(functions[0]))
_Static_assert(FUNCTIONS <= GP_GEMM_ROWS, "raise GP_GEMM_ROWS");

/* cudaDataType (library_types.h), called as PyTorch's types where it has them. */
static const char *const types[] = {
	"float32", "float64", "float16", "int8", "complex64", "complex128", "complex32", NULL,
	"uint8", NULL, "int32", NULL, NULL, NULL, "bfloat16", NULL,
	"int4", NULL, "uint4", NULL, "int16", NULL, "uint16", NULL,
	"int64", NULL, "uint64", NULL, "float8_e4m3fn", "float8_e5m2", "float8_e8m0fnu",
	"float6_e2m3fn", "float6_e3m2fn", "float4_e2m1fn",
};

int gemm_find(const char *function)
{
	for (size_t i = 0; i < FUNCTIONS; i++)
		if (!strcmp(function, functions[i].name))
			return (int)i;
	return -1;
}

struct gp_gemm_row gemm_wire_row(unsigned int row)
{
	return row < FUNCTIONS ? functions[row].row : (struct gp_gemm_row){ 0 };
}

static void write_type(const struct gp_gemm *rec, unsigned int i, char text[GEMM_NAME_MAX])
{
	const char *type = functions[rec->row].type;

	if (!type)
		type = rec->type[i] < sizeof(types) / sizeof(types[0]) ? types[rec->type[i]] : NULL;
	if (type)
		snprintf(text, GEMM_NAME_MAX, "%s", type);
	else
		snprintf(text, GEMM_NAME_MAX, "cudaDataType:%u", rec->type[i]);
}

bool gemm_write(const struct gp_gemm *rec, char *text)
{
	static const char letters[] = "ntc";
	char type[3][GEMM_NAME_MAX];

	if (rec->row >= FUNCTIONS)
		return false;
	snprintf(text, GEMM_TEXT_MAX, "%s", functions[rec->row].name);
	if (rec->operation[0] > 2 || rec->operation[1] > 2 || !rec->m || !rec->n || !rec->k)
		return true;
	for (unsigned int i = 0; i < 3; i++)
		write_type(rec, i, type[i]);
	snprintf(text, GEMM_TEXT_MAX, "%s %c%c %" PRIu64 " %" PRIu64 " %" PRIu64 " x%" PRIu64
		 " ld %" PRIu64 " %" PRIu64 " %" PRIu64 " %s %s %s%s", functions[rec->row].name,
		 letters[rec->operation[0]], letters[rec->operation[1]], rec->m, rec->n, rec->k,
		 rec->batch, rec->ld[0], rec->ld[1], rec->ld[2], type[0], type[1], type[2],
		 rec->bias ? " bias" : "");
	return true;
}

bool gemm_read(const char *text, struct gemm *out)
{
	char bias[5] = "";
	int n;

	memset(out, 0, sizeof(*out));
	n = sscanf(text, "%47s %2[ntc] %" SCNu64 " %" SCNu64 " %" SCNu64 " x%" SCNu64
		   " ld %" SCNu64 " %" SCNu64 " %" SCNu64 " %47s %47s %47s %4s", out->function,
		   out->operation, &out->m, &out->n, &out->k, &out->batch, &out->ld[0],
		   &out->ld[1], &out->ld[2], out->type[0], out->type[1], out->type[2], bias);
	out->bias = !strcmp(bias, "bias");
	return n == 1 || n >= 12;
}

double gemm_flops(const struct gemm *g)
{
	const bool is_complex = !strncmp(g->type[2], "complex", strlen("complex"));

	return 2.0 * (double)g->m * (double)g->n * (double)g->k * (double)g->batch *
	       (is_complex ? 4 : 1);
}
