/* SPDX-License-Identifier: BSD-3-Clause */
/* The names of result codes, per library of the catalogue. */
#ifndef CATALOG_RESULTS_H
#define CATALOG_RESULTS_H

#include <stdint.h>

/* ("cudart", 35) -> "cudaErrorInsufficientDriver"; NULL: unknown library or code. */
const char *result_name(const char *library, int32_t code);

#endif
