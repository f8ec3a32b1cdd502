/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The NVIDIA devices of this host, as their driver lists them in /proc/driver/nvidia/gpus, and
 * which of them a process has open or may see. Known without NVML, so: the index is the place in
 * the order of PCI addresses (as nvidia-smi's), and a MIG instance's (0:1) that in the order of GPU
 * and compute instances, without its UUID, until gpus_set_instances.
 */
#ifndef HOST_GPUS_H
#define HOST_GPUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "host/proc.h"

#define GPUS_MAX 64		/* a set of devices is a mask of u64 */
#define GPUS_INSTANCES_MAX 256

struct gpu {
	char address[20];	/* "0000:3b:00.0" */
	char uuid[48];		/* "GPU-..."; "" unknown */
	char model[64];
	unsigned int minor;	/* of /dev/nvidiaN */
};

struct gpu_instance {		/* of MIG */
	unsigned int gpu, place;	/* 0:1: its GPU's index, and nvidia-smi's "MIG Dev" */
	unsigned int gi, ci;	/* GPU instance, compute instance */
	int cap;		/* N of /dev/nvidia-caps/nvidia-capN; -1: unknown */
	char uuid[64];		/* "MIG-..."; "" unknown */
};

struct gpus {
	bool present;		/* there is a driver: processes may have devices open */
	size_t n;		/* 0: the list of devices is unknown; then index = minor */
	struct gpu v[GPUS_MAX];	/* by index */
	size_t n_instances;
	struct gpu_instance instance[GPUS_INSTANCES_MAX];
};

struct gpu_set {
	uint64_t gpus;		/* also those of the instances */
	uint64_t instances[GPUS_INSTANCES_MAX / 64];
};

/* Devices and instances; unreadable ones are left out. */
void gpus_read(struct gpus *g);

/* These are all, as NVML has them (cap is of no use). None: nothing is changed. */
void gpus_set_instances(struct gpus *g, const struct gpu_instance *found, size_t n);

/* The index of a device, by an index ("2") or (the beginning of) a UUID ("GPU-1a2b"), or the place
 * of an instance ("0:1", "MIG-<uuid>" or its beginning) in g->instance. -ENOENT: there is none. */
int gpus_find(const struct gpus *g, const char *name, bool *is_instance);

static inline bool gpu_set_has_instance(const struct gpu_set *set, size_t i)
{
	return set->instances[i / 64] >> i % 64 & 1;
}

/* "0:1,3" */
void gpu_set_print(struct strbuf *out, const struct gpu_set *set, const struct gpus *g);

/* The devices that a process uses. source: "open", or "visible" (by CUDA_VISIBLE_DEVICES): not
 * opened yet. */
struct gpu_set gpus_of_process(const struct gpus *g, struct proc *p, const char **source);

#endif
