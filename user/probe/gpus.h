/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The NVIDIA devices of this host, as their driver lists them in /proc/driver/nvidia/gpus, and
 * which of them a process has open or may see. Known without NVML, so: the index is the place in
 * the order of PCI addresses (as nvidia-smi's); MIG instances are not told apart from their GPU.
 */
#ifndef PROBE_GPUS_H
#define PROBE_GPUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/environment.h"
#include "probe/proc.h"

#define GPUS_MAX 64		/* a set of devices is a mask of u64 */
#define GPUS_DRIVER "/proc/driver/nvidia/gpus"

struct gpu {
	char address[20];	/* "0000:3b:00.0" */
	char uuid[48];		/* "GPU-..."; "" unknown */
	char model[64];
	unsigned int minor;	/* of /dev/nvidiaN */
};

struct gpus {
	bool present;		/* there is a driver: processes may have devices open */
	size_t n;		/* 0: nobody says which devices there are; then index = minor */
	struct gpu v[GPUS_MAX];	/* by index */
};

/* folder: GPUS_DRIVER. What cannot be read is left out. */
void gpus_read(struct gpus *g, const char *folder);

/* The text of a device's file `information`. Pure; false: it names no minor. */
bool gpus_parse_information(const char *text, struct gpu *out);

/* The device of an index ("2") or of (the beginning of) a UUID ("GPU-1a2b"). The index, or -ENOENT. */
int gpus_find(const struct gpus *g, const char *name);

/* Devices that the process has open, by its file descriptors and mappings. 0, or -EACCES, -ESRCH. */
int gpus_open_by(const struct gpus *g, struct proc *p, uint64_t *mask);

/*
 * Devices that CUDA_VISIBLE_DEVICES leaves it. False: all, or it cannot be told (its numbers count
 * in an order that depends on the models, and within a container from that one's first device).
 */
bool gpus_visible_to(const struct gpus *g, const struct environment *env, bool contained,
		     uint64_t *mask);

#endif
