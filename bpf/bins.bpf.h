/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* The histogram's bins. source/bpf/tallied.c has the inverse. */
#ifndef GPUPROF_BINS_BPF_H
#define GPUPROF_BINS_BPF_H

#include "maps.bpf.h"
#include "gpuprof/tally.h"

/* Floor of the binary logarithm, v > 0. The BPF target has no instruction for it. */
static __always_inline __u32 log2_of(__u64 v)
{
	__u32 e = 0;

	if (v >> 32) {
		e += 32;
		v >>= 32;
	}
	if (v >> 16) {
		e += 16;
		v >>= 16;
	}
	if (v >> 8) {
		e += 8;
		v >>= 8;
	}
	if (v >> 4) {
		e += 4;
		v >>= 4;
	}
	if (v >> 2) {
		e += 2;
		v >>= 2;
	}
	return e + (v >> 1);
}

/* The bin of a duration. */
static __always_inline __u32 bin_of(__u64 v)
{
	__u32 e;

	if (v < 1 << GP_BIN_BITS)
		return v;
	e = log2_of(v) - GP_BIN_BITS;
	return ((e + 1) << GP_BIN_BITS) + ((v >> e) & ((1 << GP_BIN_BITS) - 1));
}

#endif
