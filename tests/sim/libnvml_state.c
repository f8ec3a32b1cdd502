// SPDX-License-Identifier: BSD-3-Clause
/*
 * The simulated NVML's states of a device: memory, processes, use, power, clocks.
 */
#include "libnvml.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PROCESSES = 256, DEFAULT_POWER_MW = 100000, DEFAULT_MHZ = 1000, SAMPLE_NS = 20000000 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static unsigned long long whole(double number)
{
	return number > 0 ? (unsigned long long)number : 0;
}

/* PID[/BYTES[/INSTANCE]] */
static struct nvml_process ordered_process(const char *value, bool mig)
{
	struct nvml_process process = { .gpu_instance = NVML_NO_INSTANCE,
					.compute_instance = NVML_NO_INSTANCE };
	char *end;

	process.pid = (unsigned int)strtoul(value, &end, 10);
	if (*end == '/')
		process.used_bytes = strtoull(end + 1, &end, 10);
	if (mig) {
		process.gpu_instance = *end == '/' ? (unsigned int)strtoul(end + 1, NULL, 10) : 1;
		process.compute_instance = 0;
	}
	return process;
}

static unsigned int add_ordered(int device, struct nvml_process *out, unsigned int room)
{
	struct nvml_facts facts;
	unsigned int i, count = 0;
	uint64_t ms = nvml_ms();

	nvml_facts_read(&facts);
	for (i = 0; i < facts.count && count < room; i++)
		if (nvml_fact_is(&facts.all[i], "process",
				 (struct nvml_device){ device, NVML_EVERY }) &&
		    facts.all[i].from_ms <= ms && ms < facts.all[i].until_ms)
			out[count++] = ordered_process(facts.all[i].value, nvml_instances(device) > 0);
	return count;
}

static unsigned int instance_of(const struct nvml_presence *process)
{
	return process->device.instance ? (unsigned int)process->device.instance : 1;
}

/* Who has a context on the device, and who is ordered to. In MIG mode who names no instance is in
 * the first one. */
static unsigned int processes_of(int device, struct nvml_process *out, unsigned int room)
{
	struct nvml_presence all[PROCESSES];
	unsigned int i, seen = nvml_board_read(device, all, PROCESSES), count = 0;
	bool mig = nvml_instances(device) > 0;
	double context_bytes;

	nvml_fact_number("context_bytes", device, 0, &context_bytes);
	for (i = 0; i < seen && count < room; i++)
		if (all[i].pid && all[i].device.contexts)
			out[count++] = (struct nvml_process){
				.pid = (unsigned int)all[i].pid,
				.used_bytes = all[i].device.memory_bytes + whole(context_bytes),
				.gpu_instance = mig ? instance_of(&all[i]) : NVML_NO_INSTANCE,
				.compute_instance = mig ? 0 : NVML_NO_INSTANCE };
	return count + add_ordered(device, out + count, room - count);
}

static bool is_in(const struct nvml_process *process, const struct nvml_device *device)
{
	return device->instance < 0 || process->gpu_instance == (unsigned int)device->instance + 1;
}

int nvmlDeviceGetComputeRunningProcesses_v3(struct nvml_device *device, unsigned int *count,
					    struct nvml_process *processes)
{
	int result = nvml_enter_device(__func__, device, count);
	struct nvml_process all[PROCESSES];
	unsigned int i, seen, in = 0;

	if (result)
		return result;
	seen = processes_of(device->index, all, PROCESSES);
	for (i = 0; i < seen; i++)
		if (is_in(&all[i], device))
			all[in++] = all[i];
	i = *count;
	*count = in;
	if (i < in)
		return NVML_INSUFFICIENT_SIZE;
	if (in && !processes)
		return NVML_INVALID_ARGUMENT;
	memcpy(processes, all, in * sizeof(*all));
	return NVML_OK;
}

/* An instance has its share of the device's memory. */
static struct nvml_memory memory_of(const struct nvml_device *device)
{
	const char *text = getenv("GPUSIM_MEMORY_BYTES");
	struct nvml_memory memory = { .total = text && *text ? strtoull(text, NULL, 0) : 16ULL << 30 };
	struct nvml_process all[PROCESSES];
	unsigned int i, count = processes_of(device->index, all, PROCESSES);

	if (device->instance >= 0)
		memory.total /= GPUSIM_INSTANCES;
	for (i = 0; i < count; i++)
		if (is_in(&all[i], device))
			memory.used += all[i].used_bytes;
	memory.free = memory.used < memory.total ? memory.total - memory.used : 0;
	return memory;
}

NVML_GET(nvmlDeviceGetMemoryInfo, (struct nvml_device *device, struct nvml_memory *memory),
	nvml_enter_device(__func__, device, memory), memory, memory_of(device))

int nvmlDeviceGetMemoryInfo_v2(struct nvml_device *device, struct nvml_memory_v2 *memory)
{
	int result = nvml_enter_device(__func__, device, memory);
	struct nvml_memory all;

	if (result)
		return result;
	if (memory->version != NVML_MEMORY_V2)
		return NVML_VERSION_MISMATCH;
	all = memory_of(device);
	memory->total = all.total;
	memory->reserved = 0;
	memory->free = all.free;
	memory->used = all.used;
	return NVML_OK;
}

/* Since it was last asked, or the init; not of less than SAMPLE_NS. */
static unsigned int percent_busy(int device)
{
	static struct {
		uint64_t at_ns, busy_ns;
		unsigned int percent;
	} last[GPUSIM_BOARD_DEVICES];
	uint64_t now_ns = nvml_now_ns(), since_ns, ran_ns;
	uint64_t busy_ns = nvml_board_busy_ns((struct nvml_device){ device, NVML_EVERY }, now_ns);
	unsigned int percent;

	pthread_mutex_lock(&lock);
	if (!last[device].at_ns)
		last[device].at_ns = nvml_started_ns();
	since_ns = now_ns - last[device].at_ns;
	if (since_ns >= SAMPLE_NS) {
		ran_ns = busy_ns > last[device].busy_ns ? busy_ns - last[device].busy_ns : 0;
		last[device].percent =
			ran_ns < since_ns ? (unsigned int)(ran_ns * 100 / since_ns) : 100;
		last[device].at_ns = now_ns;
		last[device].busy_ns = busy_ns;
	}
	percent = last[device].percent;
	pthread_mutex_unlock(&lock);
	return percent;
}

/* In MIG mode nothing says this, as with the real one. */
int nvmlDeviceGetUtilizationRates(struct nvml_device *device, struct nvml_utilization *rates)
{
	int result = nvml_enter_device(__func__, device, rates);
	double gpu, memory;

	if (result)
		return result;
	if (nvml_instances(device->index))
		return NVML_NOT_SUPPORTED;
	result = nvml_fact_number("utilization", device->index, percent_busy(device->index), &gpu);
	if (!result)
		result = nvml_fact_number("memory_utilization", device->index, 0, &memory);
	if (result)
		return result;
	rates->gpu = (unsigned int)whole(gpu);
	rates->memory = (unsigned int)whole(memory);
	return NVML_OK;
}

int nvmlDeviceGetPowerUsage(struct nvml_device *device, unsigned int *mw)
{
	int result = nvml_enter_whole(__func__, device, mw);
	double power;

	if (result)
		return result;
	result = nvml_fact_number("power_mw", device->index, DEFAULT_POWER_MW, &power);
	if (!result)
		*mw = (unsigned int)whole(power);
	return result;
}

/* The power of now, since it was last asked; at the init it is 0. */
int nvmlDeviceGetTotalEnergyConsumption(struct nvml_device *device, unsigned long long *mj)
{
	static struct {
		uint64_t at_ns;
		double mj;
	} last[GPUSIM_BOARD_DEVICES];
	int result = nvml_enter_whole(__func__, device, mj);
	uint64_t now_ns = nvml_now_ns(), from_ns;
	double power;

	if (result)
		return result;
	result = nvml_fact_number("power_mw", device->index, DEFAULT_POWER_MW, &power);
	if (result)
		return result;
	pthread_mutex_lock(&lock);
	from_ns = last[device->index].at_ns ? last[device->index].at_ns : nvml_started_ns();
	last[device->index].mj += power * (double)(now_ns - from_ns) / 1e9;
	last[device->index].at_ns = now_ns;
	power = last[device->index].mj;
	pthread_mutex_unlock(&lock);
	result = nvml_fact_number("energy_mj", device->index, power, &power);
	if (!result)
		*mj = whole(power);
	return result;
}

int nvmlDeviceGetClockInfo(struct nvml_device *device, int clock, unsigned int *mhz)
{
	int result = nvml_enter_whole(__func__, device, mhz);
	char name[16];
	double value;

	if (result)
		return result;
	if (clock < 0 || clock >= NVML_CLOCKS)
		return NVML_INVALID_ARGUMENT;
	snprintf(name, sizeof(name), "clock.%d", clock);
	result = nvml_fact_number(name, device->index, DEFAULT_MHZ, &value);
	if (!result)
		*mhz = (unsigned int)whole(value);
	return result;
}

static int clock_reasons(const char *function, const struct nvml_device *device,
			 unsigned long long *bits)
{
	int result = nvml_enter_whole(function, device, bits);
	double value;

	if (result)
		return result;
	result = nvml_fact_number("throttle", device->index, 0, &value);
	if (!result)
		*bits = whole(value);
	return result;
}

int nvmlDeviceGetCurrentClocksThrottleReasons(struct nvml_device *device, unsigned long long *bits)
{
	return clock_reasons(__func__, device, bits);
}

int nvmlDeviceGetCurrentClocksEventReasons(struct nvml_device *device, unsigned long long *bits)
{
	return clock_reasons(__func__, device, bits);
}
