/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the maps in which BPF adds calls up: sums over CPUs. */
#ifndef PROBE_TALLY_MAP_H
#define PROBE_TALLY_MAP_H

#include <stddef.h>

#include "gpuprof/event.h"

typedef void (*tally_fn)(void *ctx, const struct gp_tally_key *key, const struct gp_tally *sum);

/* Every tally of the hash, but those of our own process (the calibration's). 0 or -errno. */
int tally_each(int map_fd, tally_fn fn, void *ctx);

/* The slots that keys were given to, in order: count only. 0 or -errno. */
int tally_each_slot(int map_fd, const struct gp_tally_key *keys, size_t n, tally_fn fn, void *ctx);

#endif
