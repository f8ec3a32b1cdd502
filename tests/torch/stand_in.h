/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What stands in for a function of a library that is not simulated. The generated ones have no
 * prototypes: their callers have the vendor's.
 */
#ifndef STAND_IN_H
#define STAND_IN_H

#include <stdint.h>
#include <stdio.h>

#include "cudart_api.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

enum { STAND_IN_FAILED = 1 };

#define MISSING(name)                                                       \
	int name(void)                                                      \
	{                                                                   \
		fprintf(stderr, "gpusim: " #name " is not simulated\n");    \
		return STAND_IN_FAILED;                                     \
	}

#define NOTHING(name)     \
	int name(void)    \
	{                 \
		return 0; \
	}

/* A product, whose rows and columns are the arguments of these numbers, after the handle from 1. */
#define PRODUCT(name, m, n)                                                           \
	int name(void *handle, long a, long b, long c, long d, long e, long f)        \
	{                                                                             \
		const long arguments[] = { 0, a, b, c, d, e, f };                     \
										      \
		return blas_launch(handle, (int)arguments[m], (int)arguments[n]);     \
	}

/* One kernel on the handle's stream; 0, or the library's number of a failed execution. */
int blas_launch(void *handle, int m, int n) __attribute__((visibility("hidden")));

/* Of a product's kernel: tiles of the result, split along the inner size, for which the larger outer
 * one stands: a large product takes as long as it would. */
static inline unsigned int product_tiles(uint64_t size)
{
	enum { TILE = 128 };

	return size ? (unsigned int)((size + TILE - 1) / TILE) : 1;
}

static inline dim3 product_grid(uint64_t m, uint64_t n)
{
	return (dim3){ product_tiles(m), product_tiles(n), product_tiles(m > n ? m : n) };
}

#endif
