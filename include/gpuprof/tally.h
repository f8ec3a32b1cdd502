/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* Calls that are added up in the kernel, by process and row: where no single one is needed. */
#ifndef GPUPROF_TALLY_H
#define GPUPROF_TALLY_H

#include "types.h"

/*
 * One gp_tally per process and row, on each CPU. Durations go into a log-linear histogram: 16 bins an
 * octave, so a quantile is at most 1/16 too high.
 */
#define GP_BIN_BITS 4
#define GP_BINS ((48 - GP_BIN_BITS + 1) << GP_BIN_BITS)

#define GP_SLOTS_MAX 16384	/* see bpf/tally.bpf.h */

struct gp_tally_key {
	gp_u64 process_ns;	/* the birth of its process: tells two owners of one pid apart; 0: of the
				 * one that the kernel's own filter admits */
	gp_u32 pid;
	gp_u32 row;
};

struct gp_tally {
	gp_u64 count;		/* calls that returned; where only entries are counted, those */
	gp_u64 entries;		/* further calls, not followed to their return */
	gp_u64 errors;		/* of `count`, result not 0 */
	gp_u64 total_ns;
	gp_u64 max_ns;
	gp_u32 bins[GP_BINS];
};

_Static_assert(sizeof(struct gp_tally_key) == 16, "tally key");
_Static_assert(sizeof(struct gp_tally) == 40 + 4 * GP_BINS, "tally");

#endif
