/* SPDX-License-Identifier: BSD-3-Clause */
/* Made by scripts/gen-catalog from the vendor's headers: rows of catalog_cublaslt.c. */
	ROW(cublasLtCreate, .class = CLASS_INIT, .two = 1, .rare = 1),
	ROW(cublasLtDestroy, .class = CLASS_INIT, .two = 1, .rare = 1),
	ROW(cublasLtMatmul, .class = CLASS_LIBRARY, .stream = 7, .extra = GP_EXTRA_STACK_AT,
	     .extra_words = 1, .at = { 9 }),
	ROW(cublasLtMatmulAlgoGetHeuristic, .class = CLASS_LIBRARY),
	ROW(cublasLtMatrixTransform, .class = CLASS_LIBRARY, .stream = 11,
	     .extra = GP_EXTRA_STACK, .extra_words = 5),
