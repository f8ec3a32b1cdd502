/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The host's devices by NVML, read into events: EVENT_USERs and an EVENT_SAMPLE for each device
 * and turn, EVENT_FAULTs as they come. Any call may block for as long as the driver likes: a
 * caller that must not wait uses a thread of its own (source/nvml/nvml.h). Knows no library,
 * only its functions.
 *
 * The instances of a GPU in MIG mode are devices of their own; NVML's figures of GPUs as a whole
 * (power, energy, clocks) are reported for their GPU, and never as theirs. A query that a device
 * does not support is left out for good at its first "not supported", "no permission" and the
 * like; after another failure it is left out once. The first of those failures that is not "not
 * supported" is kept for the report.
 *
 * A device that is lost (it fell off the bus, or is reset), or that enters or leaves MIG mode, may
 * come back for those only who begin anew: nvml_reader_reopen. It is known by its UUID, and keeps
 * its number.
 */
#ifndef SOURCE_NVML_NVML_READER_H
#define SOURCE_NVML_NVML_READER_H

#include <stdbool.h>
#include <stddef.h>

#include "event/event.h"
#include "source/nvml/nvml_api.h"

#define NVML_UNITS_MAX 512		/* GPUs of a host, and their MIG instances */
#define NVML_USERS_MAX 1024		/* processes of a device that are reported */

struct nvml_unit {			/* a GPU, or a MIG instance of one */
	struct nvmlDevice_st *handle, *gpu;
	char uuid[NVML_UUID_BYTES], name[NVML_NAME_BYTES];
	uint32_t number;		/* on the host: device_number.h */
	uint32_t gpu_instance, compute_instance;	/* NVML_NO_INSTANCE: it is a GPU */
	bool divided;			/* into instances: nothing runs on it but in these */
	bool has_mode;			/* ... and can be, or not */
	/* NVML reported it lost: it is not queried until it is found again */
	bool lost;
	bool gone;			/* an instance that is no more, or not now */
	bool seen;			/* when it was last looked for */
	bool users_refused;
	/* 1 << enum sample_field: not supported; a query succeeded */
	uint32_t refused, answered;
	uint64_t sampled_ns;		/* where its last sample ended */
	struct nvmlGpmSample_st *before, *now;	/* NULL: it has no GPM */
	uint64_t before_ns;		/* when `before` was taken; 0: it was not */
};

struct nvml_reader {
	const struct nvml_api *api;
	struct event_sink sink;		/* whatever it returns */
	bool pids_are_hosts;		/* else the processes are unknown, and none is reported */
	uint32_t own_pid;
	struct nvml_unit *units;
	size_t n;
	bool is_open;			/* between nvmlInit and nvmlShutdown */
	bool must_look;			/* devices are others than they were */
	uint64_t look_ns, pause_ns;	/* not before; then, not for so long */
	struct nvmlEventSet_st *events;	/* NULL: none can be waited for */
	bool renew_events;		/* they ended for a device that is lost */
	struct nvml_process *users;
	char trouble[160];		/* the first one; "" */
	char driver[NVML_VERSION_BYTES];
};

/* Initialises NVML and finds the devices; faults are waited for from here on, where their first
 * samples begin. 0, or -errno with why in r->trouble; close it in both cases. Zeroed but for api,
 * sink, pids_are_hosts, own_pid. */
int nvml_reader_open(struct nvml_reader *r, uint64_t (*clock)(void));
void nvml_reader_close(struct nvml_reader *r);

/* A turn. */
void nvml_reader_sample(struct nvml_reader *r, uint64_t now_ns);

/* Is a device lost, or another than it was, and is it time to look for it? At once, then after 1 s,
 * 2 s, 4 s, at last each minute, and never for more than a 20th of the time. */
bool nvml_reader_must_reopen(const struct nvml_reader *r, uint64_t now_ns);

/* NVML ends and begins anew. Right after a turn, so that no sample is missed: the time it takes
 * is in none. */
void nvml_reader_reopen(struct nvml_reader *r, uint64_t (*clock)(void));

/* Waits for at most ms, for a fault if any can come, and pushes it. False: none can come, it did
 * not wait. */
bool nvml_reader_wait(struct nvml_reader *r, unsigned int ms, uint64_t (*clock)(void));

bool nvml_reader_has_gpm(const struct nvml_reader *r);	/* any device */

#endif
