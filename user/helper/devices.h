/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The devices of this process, as its own CUDA driver describes them. Calls the driver: for the
 * helper's own thread alone, and never while CUPTI or the driver is calling us.
 */
#ifndef HELPER_DEVICES_H
#define HELPER_DEVICES_H

#include <stdbool.h>
#include <stdint.h>

#include "gpuprof/work.h"
#include "helper/names.h"
#include "helper/ring.h"

#define DEVICES_MAX 64

struct devices {
	bool known;
	uint32_t n;
	uint32_t cuda_version;		/* cuDriverGetVersion's; 0: unknown */
	struct gp_ring_device v[DEVICES_MAX];
};

/* Reads all and the version, once the driver answers. False: not yet. */
bool devices_read(struct devices *d, struct names *names, struct helper_ring *r);

#endif
