/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What stands in for a function of a library that is not simulated. The generated ones have no
 * prototypes: their callers have the vendor's.
 */
#ifndef STAND_IN_H
#define STAND_IN_H

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

/* A product of matrices begins with a handle, how either is transposed, and three sizes. */
#define PRODUCT(name)                                                                 \
	int name(void *handle, long a, long b, int m, int n)                          \
	{                                                                             \
		(void)a, (void)b;                                                     \
		return blas_launch(handle, m, n);                                     \
	}

/* One kernel on the handle's stream; 0, or the library's number of a failed execution. */
int blas_launch(void *handle, int m, int n) __attribute__((visibility("hidden")));

#endif
