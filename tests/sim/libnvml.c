// SPDX-License-Identifier: BSD-3-Clause
/*
 * The simulated NVML's beginning and end: counted inits, handles, what every function checks
 * first, and what the system says of itself.
 */
#include "libnvml.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static struct nvml_device handles[GPUSIM_BOARD_DEVICES][1 + GPUSIM_INSTANCES];
static unsigned int inits;
static uint64_t started_ns;
static uint64_t begun_ms; /* when NVML began the last time */

uint64_t nvml_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

uint64_t nvml_started_ns(void)
{
	return __atomic_load_n(&started_ns, __ATOMIC_RELAXED);
}

uint64_t nvml_ms(void)
{
	uint64_t began_ns = nvml_started_ns();

	return began_ns ? (nvml_now_ns() - began_ns) / 1000000 : 0;
}

int nvml_devices(void)
{
	const char *text = getenv("GPUSIM_DEVICES");
	long count = text && *text ? strtol(text, NULL, 0) : 1;

	return count < 0 ? 0 : count > GPUSIM_BOARD_DEVICES ? GPUSIM_BOARD_DEVICES : (int)count;
}

int nvml_instances(int device)
{
	double count;

	nvml_fact_number("mig", device, 0, &count);
	return count > GPUSIM_INSTANCES ? GPUSIM_INSTANCES : (int)count;
}

struct nvml_device *nvml_handle(int device, int instance)
{
	return &handles[device][1 + instance];
}

static bool is_handle(const struct nvml_device *device)
{
	size_t offset = (size_t)((uintptr_t)device - (uintptr_t)handles);

	return offset < sizeof(handles) && offset % sizeof(*device) == 0 &&
	       device->index < nvml_devices() && device->instance < nvml_instances(device->index);
}

/* What is ordered for the function: a code, or no end. */
static int ordered(const char *function, int index)
{
	const struct nvml_device device = { index, NVML_EVERY };
	struct nvml_facts facts;
	const char *value;
	char name[80];

	nvml_facts_read(&facts);
	snprintf(name, sizeof(name), "hang.%s", function);
	while (nvml_fact_find(&facts, name, device, nvml_ms()))
		pause();
	snprintf(name, sizeof(name), "error.%s", function);
	value = nvml_fact_find(&facts, name, device, nvml_ms());
	return value ? (int)strtol(value, NULL, 10) : NVML_OK;
}

int nvml_enter(const char *function, const void *argument)
{
	int result = ordered(function, NVML_EVERY);

	if (result)
		return result;
	if (!__atomic_load_n(&inits, __ATOMIC_ACQUIRE))
		return NVML_UNINITIALIZED;
	return argument ? NVML_OK : NVML_INVALID_ARGUMENT;
}

/* What a reset makes of the device, for who began before it was over; NVML_OK: nothing. */
static int reset_of(int device)
{
	const struct nvml_device whole = { device, NVML_EVERY };
	uint64_t ms = nvml_ms(), begun = __atomic_load_n(&begun_ms, __ATOMIC_RELAXED);
	struct nvml_facts facts;
	unsigned int i;

	nvml_facts_read(&facts);
	for (i = 0; i < facts.count; i++)
		if (nvml_fact_is(&facts.all[i], "reset", whole) && facts.all[i].from_ms <= ms &&
		    (ms < facts.all[i].until_ms || begun < facts.all[i].until_ms))
			return (int)strtol(facts.all[i].value, NULL, 10);
	return NVML_OK;
}

int nvml_enter_device(const char *function, const struct nvml_device *device, const void *argument)
{
	int result = ordered(function, device && is_handle(device) ? device->index : NVML_EVERY);
	double lost;

	if (result)
		return result;
	if (!__atomic_load_n(&inits, __ATOMIC_ACQUIRE))
		return NVML_UNINITIALIZED;
	if (!argument || !is_handle(device))
		return NVML_INVALID_ARGUMENT;
	result = reset_of(device->index);
	if (result)
		return result;
	nvml_fact_number("lost", device->index, 0, &lost);
	return lost > 0 || nvml_board_vanished(device->index) ? NVML_GPU_IS_LOST : NVML_OK;
}

int nvml_enter_whole(const char *function, const struct nvml_device *device, const void *argument)
{
	int result = nvml_enter_device(function, device, argument);

	return result                   ? result :
	       device->instance >= 0 ? NVML_INVALID_ARGUMENT : NVML_OK;
}

static void say(void)
{
	const char *quiet = getenv("GPUSIM_QUIET");
	static bool said;

	if (!__atomic_exchange_n(&said, true, __ATOMIC_RELAXED) && (!quiet || strcmp(quiet, "1") != 0))
		fprintf(stderr, "gpusim: simulated NVML (no real device)\n");
}

static void make_handles(void)
{
	int i, instance;

	for (i = 0; i < GPUSIM_BOARD_DEVICES; i++)
		for (instance = -1; instance < GPUSIM_INSTANCES; instance++)
			*nvml_handle(i, instance) = (struct nvml_device){ i, instance };
}

static int init(const char *function)
{
	uint64_t never = 0;
	int result = ordered(function, NVML_EVERY);

	if (result)
		return result;
	say();
	make_handles();
	__atomic_compare_exchange_n(&started_ns, &never, nvml_now_ns(), false, __ATOMIC_RELAXED,
				    __ATOMIC_RELAXED);
	if (!__atomic_fetch_add(&inits, 1, __ATOMIC_ACQ_REL))
		__atomic_store_n(&begun_ms, nvml_ms(), __ATOMIC_RELAXED);
	return NVML_OK;
}

int nvmlInit_v2(void)
{
	return init(__func__);
}

int nvmlInitWithFlags(unsigned int flags)
{
	return flags & ~7u ? NVML_INVALID_ARGUMENT : init(__func__);
}

int nvmlShutdown(void)
{
	int result = nvml_enter(__func__, &inits);

	if (!result)
		__atomic_sub_fetch(&inits, 1, __ATOMIC_ACQ_REL);
	return result;
}

const char *nvmlErrorString(int result)
{
	static const char *const texts[] = {
		[NVML_OK] = "Success",
		[NVML_UNINITIALIZED] = "Uninitialized",
		[NVML_INVALID_ARGUMENT] = "Invalid Argument",
		[NVML_NOT_SUPPORTED] = "Not Supported",
		[4] = "Insufficient Permissions",
		[NVML_NOT_FOUND] = "Not Found",
		[NVML_INSUFFICIENT_SIZE] = "Insufficient Size",
		[9] = "Driver Not Loaded",
		[NVML_TIMEOUT] = "Timeout",
		[NVML_GPU_IS_LOST] = "GPU is lost",
		[18] = "Driver/library version mismatch",
		[NVML_NO_MEMORY] = "Insufficient Memory",
		[NVML_VERSION_MISMATCH] = "Argument version mismatch",
	};
	size_t count = sizeof(texts) / sizeof(texts[0]);

	return result >= 0 && (size_t)result < count && texts[result] ? texts[result] : "Unknown Error";
}

static int say_gpusim(const char *function, char *text, unsigned int size)
{
	int result = nvml_enter(function, text);

	if (result)
		return result;
	return snprintf(text, size, "gpusim") < (int)size ? NVML_OK : NVML_INSUFFICIENT_SIZE;
}

int nvmlSystemGetDriverVersion(char *text, unsigned int size)
{
	return say_gpusim(__func__, text, size);
}

int nvmlSystemGetNVMLVersion(char *text, unsigned int size)
{
	return say_gpusim(__func__, text, size);
}
