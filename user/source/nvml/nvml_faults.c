// SPDX-License-Identifier: BSD-3-Clause
/* What goes wrong in devices, as NVML's events say it when it happens. */
#include "base/time.h"
#include "source/nvml/nvml_reader.h"

static const struct {
	uint64_t type;
	enum fault_what what;
} faults[] = {
	{ NVML_EVENT_XID, FAULT_XID },
	{ NVML_EVENT_ECC_CORRECTED, FAULT_ECC_CORRECTED },
	{ NVML_EVENT_ECC_UNCORRECTED, FAULT_ECC_UNCORRECTED },
	{ NVML_EVENT_ECC_STORM, FAULT_ECC_STORM },
	{ NVML_EVENT_RETIRED, FAULT_RETIRED },
	{ NVML_EVENT_RETIRE_FAILED, FAULT_RETIRE_FAILED },
	{ NVML_EVENT_POISON, FAULT_POISON },
	{ NVML_EVENT_POISON_FATAL, FAULT_POISON_FATAL },
	{ NVML_EVENT_UNAVAILABLE, FAULT_UNAVAILABLE },
	{ NVML_EVENT_RECOVERY, FAULT_RECOVERY },
};
#define FAULTS (sizeof(faults) / sizeof(faults[0]))

static void register_unit(struct nvml_reader *r, const struct nvml_unit *u)
{
	unsigned long long supported = 0, wanted = 0;
	unsigned int code;

	for (size_t i = 0; i < FAULTS; i++)
		wanted |= faults[i].type;
	if (r->api->event_types(u->handle, &supported) || !(supported & wanted))
		return;
	code = r->api->event_register(u->handle, supported & wanted, r->events);
	if (code && code != NVML_NOT_SUPPORTED)
		nvml_note(r, "nvmlDeviceRegisterEvents", code);
}

void nvml_faults_open(struct nvml_reader *r)
{
	const struct nvml_api *api = r->api;

	if (!api->event_set || !api->event_types || !api->event_register || !api->event_wait ||
	    !api->event_free)
		return;
	if (api->event_set(&r->events)) {
		r->events = NULL;
		return;
	}
	for (size_t i = 0; i < r->n; i++)
		if (r->units[i].gpu_instance == NVML_NO_INSTANCE && !r->units[i].lost)
			register_unit(r, &r->units[i]);
}

void nvml_tell_fault(struct nvml_reader *r, const struct nvml_unit *u, enum fault_what what,
		     uint64_t number, uint64_t now_ns)
{
	const struct event ev = { .kind = EVENT_FAULT, .fault.what = (uint8_t)what, .start_ns = now_ns,
				  .fault.value = number, .fault.number = u->number, .fault.uuid = u->uuid,
				  .fault.name = *u->name ? u->name : NULL };

	r->sink.push(r->sink.ctx, &ev);
}

/* In MIG mode a fault may be of one instance, or of a GPU instance with all that are in it. */
static bool is_of(const struct nvml_event *e, const struct nvml_unit *u)
{
	return !u->gone && u->gpu == e->device && e->gpu_instance != NVML_NO_INSTANCE &&
	       u->gpu_instance == e->gpu_instance &&
	       (e->compute_instance == NVML_NO_INSTANCE || u->compute_instance == e->compute_instance);
}

static void tell_units(struct nvml_reader *r, const struct nvml_event *e, enum fault_what what,
		       uint64_t now_ns)
{
	uint64_t number = what == FAULT_XID ? e->data : 0;
	bool told = false;

	for (size_t i = 0; i < r->n; i++) {
		if (!is_of(e, &r->units[i]))
			continue;
		nvml_tell_fault(r, &r->units[i], what, number, now_ns);
		told = true;
	}
	for (size_t i = 0; i < r->n && !told; i++)
		if (r->units[i].handle == e->device)
			nvml_tell_fault(r, &r->units[i], what, number, now_ns);
}

static void tell(struct nvml_reader *r, const struct nvml_event *e, uint64_t now_ns)
{
	for (size_t i = 0; i < FAULTS && e->device; i++)
		if (e->type == faults[i].type)
			tell_units(r, e, faults[i].what, now_ns);
}

bool nvml_reader_wait(struct nvml_reader *r, unsigned int ms, uint64_t (*clock)(void))
{
	struct nvml_event e = { .gpu_instance = NVML_NO_INSTANCE,
				.compute_instance = NVML_NO_INSTANCE };
	unsigned int code;

	if (!r->events)
		return false;
	code = r->api->event_wait(r->events, &e, ms);
	if (!code) {
		tell(r, &e, clock());
		return true;
	}
	if (code == NVML_TIMEOUT)
		return true;
	/* A device that is lost ends a wait at once, each time; its sample says which one it is. */
	r->renew_events = code == NVML_GPU_IS_LOST;
	if (!r->renew_events)
		nvml_note(r, "nvmlEventSetWait_v2", code);
	r->api->event_free(r->events);
	r->events = NULL;
	return false;
}
