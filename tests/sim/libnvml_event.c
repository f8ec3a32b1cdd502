// SPDX-License-Identifier: BSD-3-Clause
/*
 * The simulated NVML's events: those that are ordered, once for each set that had registered for
 * them when they happened.
 */
#include "libnvml.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ASK_MS = 5, XID_OFF_THE_BUS = 79 };

struct nvml_event_set {
	unsigned long long types[GPUSIM_BOARD_DEVICES];
	uint64_t got; /* a bit for each fact, by its place */
	uint64_t vanished; /* a bit for each device */
};

static const struct {
	const char *name;
	unsigned long long type;
} names[] = {
	{ "xid", NVML_EVENT_XID },
	{ "ecc_single", NVML_EVENT_ECC_SINGLE },
	{ "ecc_double", NVML_EVENT_ECC_DOUBLE },
	{ "clock_event", NVML_EVENT_CLOCK },
};

_Static_assert(NVML_FACTS <= 64, "a bit for each fact");

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

NVML_GET(nvmlDeviceGetSupportedEventTypes, (struct nvml_device *device, unsigned long long *types),
	nvml_enter_device(__func__, device, types), types, NVML_EVENTS)

int nvmlEventSetCreate(struct nvml_event_set **set)
{
	int result = nvml_enter(__func__, set);

	if (result)
		return result;
	*set = calloc(1, sizeof(**set));
	return *set ? NVML_OK : NVML_NO_MEMORY;
}

int nvmlEventSetFree(struct nvml_event_set *set)
{
	int result = nvml_enter(__func__, set);

	if (!result)
		free(set);
	return result;
}

/* The device of the fact that this set waits for, or NULL; an event of every device is the
 * first's. */
static struct nvml_device *match(const struct nvml_event_set *set, const struct nvml_fact *fact,
				 unsigned long long *type)
{
	int device = fact->device == NVML_EVERY ? 0 : fact->device;
	size_t i;

	if (device < 0 || device >= GPUSIM_BOARD_DEVICES)
		return NULL;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(fact->name, names[i].name) && set->types[device] & names[i].type) {
			*type = names[i].type;
			return nvml_handle(device, -1);
		}
	return NULL;
}

static bool take_fact(struct nvml_event_set *set, struct nvml_event_data *data)
{
	struct nvml_facts facts;
	unsigned int i;
	uint64_t ms = nvml_ms();

	nvml_facts_read(&facts);
	for (i = 0; i < facts.count; i++) {
		if (set->got >> i & 1 || facts.all[i].from_ms > ms)
			continue;
		data->device = match(set, &facts.all[i], &data->type);
		if (!data->device)
			continue;
		data->data = strtoull(facts.all[i].value, NULL, 0);
		if (facts.all[i].instance >= 0) {
			data->gpu_instance = (unsigned int)facts.all[i].instance + 1;
			data->compute_instance = 0;
		}
		set->got |= 1ULL << i;
		return true;
	}
	return false;
}

static bool take_vanished(struct nvml_event_set *set, struct nvml_event_data *data)
{
	int i;

	for (i = 0; i < nvml_devices(); i++)
		if (set->types[i] & NVML_EVENT_XID && !(set->vanished >> i & 1) &&
		    nvml_board_vanished(i)) {
			set->vanished |= 1ULL << i;
			data->device = nvml_handle(i, -1);
			data->type = NVML_EVENT_XID;
			data->data = XID_OFF_THE_BUS;
			return true;
		}
	return false;
}

static bool take(struct nvml_event_set *set, struct nvml_event_data *data)
{
	bool taken;

	pthread_mutex_lock(&lock);
	*data = (struct nvml_event_data){ .gpu_instance = NVML_NO_INSTANCE,
					  .compute_instance = NVML_NO_INSTANCE };
	taken = take_fact(set, data) || take_vanished(set, data);
	pthread_mutex_unlock(&lock);
	return taken;
}

/* With only the new types in the set. */
static void skip_past(struct nvml_event_set *set)
{
	struct nvml_event_data unused;

	while (take_fact(set, &unused))
		;
}

int nvmlDeviceRegisterEvents(struct nvml_device *device, unsigned long long types,
			     struct nvml_event_set *set)
{
	int result = nvml_enter_device(__func__, device, set);
	unsigned long long before;

	if (result)
		return result;
	if (types & ~(unsigned long long)NVML_EVENTS)
		return NVML_NOT_SUPPORTED;
	if (device->instance >= 0)
		return NVML_INVALID_ARGUMENT;
	pthread_mutex_lock(&lock);
	before = set->types[device->index];
	set->types[device->index] = types & ~before;
	skip_past(set);
	set->types[device->index] = before | types;
	pthread_mutex_unlock(&lock);
	return NVML_OK;
}

int nvmlEventSetWait_v2(struct nvml_event_set *set, struct nvml_event_data *data,
			unsigned int timeout_ms)
{
	int result = nvml_enter(__func__, set && data ? set : NULL);
	uint64_t until_ns = nvml_now_ns() + timeout_ms * 1000000ULL;
	struct timespec pause = { .tv_nsec = ASK_MS * 1000000 };

	if (result)
		return result;
	while (!take(set, data)) {
		if (nvml_now_ns() >= until_ns)
			return NVML_TIMEOUT;
		nanosleep(&pause, NULL);
	}
	return NVML_OK;
}
