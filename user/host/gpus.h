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
#include "host/environment.h"
#include "host/proc.h"

#define GPUS_MAX 64		/* a set of devices is a mask of u64 */
#define GPUS_INSTANCES_MAX 256
#define GPUS_DRIVER "/proc/driver/nvidia/gpus"
#define GPUS_CAPABILITIES "/proc/driver/nvidia/capabilities"

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

/* folder: GPUS_DRIVER; GPUS_CAPABILITIES. Unreadable entries are left out. */
void gpus_read(struct gpus *g, const char *folder);
void gpus_read_instances(struct gpus *g, const char *folder);

/* These are all, as NVML has them (cap is of no use). None: nothing is changed. */
void gpus_set_instances(struct gpus *g, const struct gpu_instance *found, size_t n);

/* The text of a device's file `information`. Pure; false: it names no minor. */
bool gpus_parse_information(const char *text, struct gpu *out);

/* a capability's file `access`: its minor; -1: it has none */
int gpus_parse_access(const char *text);

/* The device of an index ("2") or of (the beginning of) a UUID ("GPU-1a2b"). The index, or
 * -ENOENT. */
int gpus_find(const struct gpus *g, const char *name);

/* Is it the name of an instance? "0:1", "MIG-<uuid>" (or its beginning).
 * Which one: its place in g->instance, or -ENOENT. */
bool gpus_names_instance(const char *name);
int gpus_find_instance(const struct gpus *g, const char *name);

static inline bool gpu_set_has_instance(const struct gpu_set *set, size_t i)
{
	return set->instances[i / 64] >> i % 64 & 1;
}

struct gpu_set gpu_set_both(const struct gpu_set *a, const struct gpu_set *b);
/* "0:1,3" */
void gpu_set_print(struct strbuf *out, const struct gpu_set *set, const struct gpus *g);

/* Devices that the process has open, by its file descriptors and mappings. 0, or -EACCES,
 * -ESRCH. */
int gpus_open_by(const struct gpus *g, struct proc *p, struct gpu_set *set);

/*
 * Devices that CUDA_VISIBLE_DEVICES leaves it. False: all, or unknown (its numbers count in an
 * order that depends on the models, and within a container from that one's first device).
 */
bool gpus_visible_to(const struct gpus *g, const struct environment *env, bool contained,
		     struct gpu_set *set);

#endif
