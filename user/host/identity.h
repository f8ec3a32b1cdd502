/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The identity of a process, beyond its name: user, rank, job, pod, container, devices. Read
 * from procfs; of its environment only ranks, jobs, pods and devices are read. Unknown fields
 * are "".
 */
#ifndef HOST_IDENTITY_H
#define HOST_IDENTITY_H

#include "base/map.h"
#include "base/str.h"
#include "host/gpus.h"
#include "host/proc.h"

struct identity {
	char user[48];		/* the real user, by name, else by number */
	char rank[12], rank_source[32];
	char job[64], job_source[8];	/* "slurm", "pbs", "lsf", "flux" */
	char pod[80], pod_uid[48];	/* pod: its name, where it is known, else its UID */
	char container[72];	/* as runtimes print it: 12 digits of an id, or a name */
	char container_id[72], runtime[16];
	char devices[128];	/* indices: "0,3"; of MIG instances "0:1" */
	char devices_source[8];	/* "open", or "visible" (by CUDA_VISIBLE_DEVICES): not opened yet */
	char ns_pid[12];	/* in the innermost pid namespace, where that is not the host's */
	char cgroup[256];
};

/* The part that is the same for all processes of this host; one thread. */
struct identity_room {
	struct gpus gpus;
	char node[65];		/* the host's own name */
	struct map users;	/* uid -> name, by address in names */
	struct strpool *names;
};

int identity_room_init(struct identity_room *room);	/* 0 or -ENOMEM */
void identity_room_free(struct identity_room *room);

void identity_read(struct identity_room *room, struct proc *p, struct identity *out);

/* Only what changes while a process runs: devices, devices_source. */
void identity_read_devices(struct identity_room *room, struct proc *p, struct identity *out);

/* Calls fn for each member that is known, by its name. Ends with fn's first value other than 0. */
int identity_each(const struct identity *id,
		  int (*fn)(void *ctx, const char *key, const char *value), void *ctx);

/* The name of the pod that a process of a pod is in; false: it cannot be known. */
bool identity_pod_name(const char *node, struct proc *p, char *out, size_t size);

#endif
