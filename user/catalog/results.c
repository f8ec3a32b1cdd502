// SPDX-License-Identifier: BSD-3-Clause
/* Looks result codes up in the generated, sorted tables. */
#include "catalog/results.h"

#include <stdlib.h>
#include <string.h>

struct result_row {
	int32_t code;
	const char *name;
};

#include "catalog/results_table.h"

#define SHARED(library, of) { #library, of##_results, \
			      sizeof(of##_results) / sizeof(of##_results[0]) }
#define TABLE(library) SHARED(library, library)

static const struct {
	const char *library;
	const struct result_row *rows;
	size_t n;
} tables[] = {
	TABLE(cudart), TABLE(cuda), TABLE(nccl), TABLE(nvrtc), TABLE(nvjitlink),
	TABLE(nvptxcompiler), TABLE(cublas), SHARED(cublaslt, cublas), TABLE(cudnn),
};

static int compare(const void *key, const void *row)
{
	int32_t a = *(const int32_t *)key, b = ((const struct result_row *)row)->code;

	return (a > b) - (a < b);
}

const char *result_name(const char *library, int32_t code)
{
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		const struct result_row *row;

		if (strcmp(tables[i].library, library))
			continue;
		row = bsearch(&code, tables[i].rows, tables[i].n, sizeof(*row), compare);
		return row ? row->name : NULL;
	}
	return NULL;
}
