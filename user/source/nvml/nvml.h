/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * NVML as a source of events: a thread of its own that reads devices once a second, more often in
 * the first one, and waits for their faults between, so that no other thread waits for a driver
 * that is slow or does not answer. Its events wait in a bounded queue for the engine. A thread
 * that does not end on request is left alone: it ends with the program.
 */
#ifndef SOURCE_NVML_NVML_H
#define SOURCE_NVML_NVML_H

#include "event/event.h"
#include "source/nvml/nvml_api.h"

enum nvml_state { NVML_STARTING, NVML_RUNNING, NVML_FAILED, NVML_ENDED };

struct nvml_status {
	enum nvml_state state;
	const char *doing;	/* the call it is in now, of those that may last */
	uint64_t since_ns;	/* ... since when */
	/* it failed because there is no such library, or none that we can use */
	bool unloaded;
	char why[192];		/* it failed, or the first thing that went wrong; "": nothing */
	char driver[NVML_VERSION_BYTES];	/* its version; "": not known yet */
	unsigned int devices;	/* with MIG instances */
	bool gpm;		/* a device reports its activity */
	bool pids_are_hosts;	/* else no use of devices is reported */
	uint64_t sent, dropped;	/* events; dropped where the queue was full */
};

struct nvml_instance {			/* of MIG */
	uint32_t number;		/* event/device_number.h */
	uint32_t gpu_instance, compute_instance;
	char uuid[NVML_UUID_BYTES];
};

struct nvml;

/* load: nvml_load. NULL + errno. */
struct nvml *nvml_start(int (*load)(struct nvml_api *api, char *why, unsigned int why_bytes));

/* delivers waiting events; 0 or the sink's error */
int nvml_pump(struct nvml *n, const struct event_sink *sink);
void nvml_status(struct nvml *n, struct nvml_status *out);
/* as of the last turn */
size_t nvml_instances(struct nvml *n, struct nvml_instance *out, size_t max);

void nvml_stop(struct nvml *n);		/* a last turn, and the end; does not wait */
bool nvml_wait(struct nvml *n, unsigned int ms);	/* true: it has ended, or failed, since */

/* After nvml_stop. One that has not ended keeps its memory, and a program's exit does not wait for
 * it. */
void nvml_free(struct nvml *n);

#endif
