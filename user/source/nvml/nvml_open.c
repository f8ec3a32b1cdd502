// SPDX-License-Identifier: BSD-3-Clause
/*
 * NVML's beginning and end, once and, for devices that are lost, again. Each costs every device a few
 * milliseconds that are in no sample, and on a host without the persistence mode seconds: so not often.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/num.h"
#include "base/time.h"
#include "event/device_number.h"
#include "source/nvml/nvml_reader.h"

#define PAUSE_MIN_NS NS_PER_SEC
#define PAUSE_MAX_NS (60 * NS_PER_SEC)
#define SHARE 20		/* of the time that it took it is left alone */

static bool is_instance(const struct nvml_unit *u)
{
	return device_number_is_instance(u->number);
}

/* ---- the beginning and the end ---------------------------------------------------------------- */

static int begin(struct nvml_reader *r, uint64_t (*clock)(void))
{
	unsigned int code = r->api->init();
	int err;

	if (code) {
		nvml_note(r, "nvmlInit_v2", code);
		if (!*r->trouble)
			snprintf(r->trouble, sizeof(r->trouble), "nvmlInit_v2: not supported");
		return -EIO;
	}
	r->is_open = true;
	if (r->api->driver_version(r->driver, sizeof(r->driver)))
		*r->driver = '\0';
	r->driver[sizeof(r->driver) - 1] = '\0';
	err = nvml_units_find(r, clock);
	if (!err)
		nvml_faults_open(r);
	return err;
}

/* No handle is good any more. Without nvmlShutdown if it never began. */
static void end(struct nvml_reader *r)
{
	if (r->events)
		r->api->event_free(r->events);
	r->events = NULL;
	for (size_t i = 0; i < r->n; i++) {
		struct nvml_unit *u = &r->units[i];

		nvml_gpm_close(r, u);
		u->handle = u->gpu = NULL;
		u->gone |= is_instance(u);
		u->seen = false;
	}
	if (r->is_open)
		r->api->shutdown();
	r->is_open = false;
}

int nvml_reader_open(struct nvml_reader *r, uint64_t (*clock)(void))
{
	r->users = calloc(NVML_USERS_MAX, sizeof(*r->users));
	r->units = calloc(NVML_UNITS_MAX, sizeof(*r->units));
	return r->users && r->units ? begin(r, clock) : -ENOMEM;
}

void nvml_reader_close(struct nvml_reader *r)
{
	end(r);
	free(r->units);
	free(r->users);
	r->units = NULL;
	r->users = NULL;
	r->n = 0;
}

/* ---- what is lost ----------------------------------------------------------------------------- */

/* A handle of before a reset may be refused as none. */
static bool is_gone(unsigned int code, bool answered)
{
	return code == NVML_GPU_IS_LOST || code == NVML_RESET_REQUIRED || code == NVML_UNINITIALIZED ||
	       code == NVML_NOT_FOUND || (code == NVML_INVALID_ARGUMENT && answered);
}

static void lose_gpu(struct nvml_reader *r, struct nvml_unit *u, uint64_t now_ns)
{
	if (!u->lost)
		nvml_tell_fault(r, u, FAULT_LOST, 0, now_ns);
	u->lost = true;
}

bool nvml_lose(struct nvml_reader *r, struct nvml_unit *u, unsigned int code, bool answered,
	       uint64_t now_ns)
{
	const struct nvmlDevice_st *gpu = u->gpu;

	if (!is_gone(code, answered))
		return false;
	if (is_instance(u) && (code == NVML_NOT_FOUND || code == NVML_INVALID_ARGUMENT)) {
		nvml_gpm_close(r, u);	/* its GPU may be well */
		u->gone = true;
		return true;
	}
	for (size_t i = 0; i < r->n; i++) {
		if (r->units[i].gpu != gpu || r->units[i].gone)
			continue;
		if (is_instance(&r->units[i]))
			r->units[i].lost = true;
		else
			lose_gpu(r, &r->units[i], now_ns);
	}
	return true;
}

/* ---- and comes back --------------------------------------------------------------------------- */

bool nvml_reader_must_reopen(const struct nvml_reader *r, uint64_t now_ns)
{
	bool must = r->must_look;

	for (size_t i = 0; i < r->n && !must; i++)
		must = r->units[i].lost && !r->units[i].gone;
	return must && now_ns >= r->look_ns;
}

/* After a minute in which nobody wanted it, it is as the first time. */
static uint64_t next_pause(const struct nvml_reader *r, uint64_t now_ns)
{
	if (now_ns > num_add(r->look_ns, PAUSE_MAX_NS))
		return PAUSE_MIN_NS;
	return num_max(PAUSE_MIN_NS, num_min(2 * r->pause_ns, PAUSE_MAX_NS));
}

void nvml_reader_reopen(struct nvml_reader *r, uint64_t (*clock)(void))
{
	uint64_t began_ns = clock(), ended_ns;

	r->pause_ns = next_pause(r, began_ns);
	r->must_look = r->renew_events = false;
	end(r);
	begin(r, clock);	/* if not: nothing is seen, and all is lost for now */
	ended_ns = clock();
	for (size_t i = 0; i < r->n; i++)
		if (!r->units[i].seen && !is_instance(&r->units[i]))
			lose_gpu(r, &r->units[i], ended_ns);
	r->look_ns = ended_ns + num_max(r->pause_ns, SHARE * (ended_ns - began_ns));
}
