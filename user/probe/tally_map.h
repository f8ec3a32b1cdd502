/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the maps in which BPF adds calls up: sums over CPUs, and over both maps. */
#ifndef PROBE_TALLY_MAP_H
#define PROBE_TALLY_MAP_H

#include <stddef.h>
#include <stdint.h>

#include "gpuprof/tally.h"

typedef void (*tally_fn)(void *ctx, const struct gp_tally_key *key, const struct gp_tally *sum);

struct tally_sink {
	tally_fn fn;
	void *ctx;
};

struct tally_slots {		/* counts without times; keys[slot] is what a slot counts */
	int map_fd;
	const struct gp_tally_key *keys;
	size_t n;
};

/* Each key once, but those of our own process (the calibration's), older processes first. Keys that
 * appear or go while we read are read the next time. 0 or -errno. */
int tally_each(int map_fd, const struct tally_slots *slots, const struct tally_sink *sink);

void tally_forget(int map_fd, uint32_t pid);	/* what was added up of processes that had ended */

#endif
