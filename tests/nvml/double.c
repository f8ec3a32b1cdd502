// SPDX-License-Identifier: BSD-3-Clause
/*
 * The simulated NVML's declarations against NVML's own header, at compile time, and a program of
 * that header which calls every function of the double: what it says, tests/nvml/check-double
 * compares. Knows nothing of how the double works.
 */
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <nvml.h>

#define NVML_SIM_NO_FUNCTIONS
#include "nvml_api.h"

#define SAME(a, b) \
	_Static_assert((unsigned long long)(a) == (unsigned long long)(b), #a " is " #b)
#define SIZE(theirs, ours) SAME(sizeof(theirs), sizeof(struct ours))
#define AT(theirs, member, ours, name)                                               \
	SAME(offsetof(theirs, member), offsetof(struct ours, name));                 \
	SAME(sizeof(((theirs *)0)->member), sizeof(((struct ours *)0)->name))

SAME(NVML_SUCCESS, NVML_OK);
SAME(NVML_ERROR_UNINITIALIZED, NVML_UNINITIALIZED);
SAME(NVML_ERROR_INVALID_ARGUMENT, NVML_INVALID_ARGUMENT);
SAME(NVML_ERROR_NOT_SUPPORTED, NVML_NOT_SUPPORTED);
SAME(NVML_ERROR_NOT_FOUND, NVML_NOT_FOUND);
SAME(NVML_ERROR_INSUFFICIENT_SIZE, NVML_INSUFFICIENT_SIZE);
SAME(NVML_ERROR_TIMEOUT, NVML_TIMEOUT);
SAME(NVML_ERROR_GPU_IS_LOST, NVML_GPU_IS_LOST);
SAME(NVML_ERROR_MEMORY, NVML_NO_MEMORY);
SAME(NVML_ERROR_ARGUMENT_VERSION_MISMATCH, NVML_VERSION_MISMATCH);
SAME(NVML_CLOCK_COUNT, NVML_CLOCKS);
SAME(nvmlEventTypeSingleBitEccError, NVML_EVENT_ECC_SINGLE);
SAME(nvmlEventTypeDoubleBitEccError, NVML_EVENT_ECC_DOUBLE);
SAME(nvmlEventTypeXidCriticalError, NVML_EVENT_XID);
SAME(nvmlEventTypeClock, NVML_EVENT_CLOCK);
SAME(NVML_GPM_METRIC_GRAPHICS_UTIL, NVML_GPM_GRAPHICS);
SAME(NVML_GPM_METRIC_SM_UTIL, NVML_GPM_SM);
SAME(NVML_GPM_METRICS_GET_VERSION, NVML_GPM_VERSION);
SAME(NVML_GPM_SUPPORT_VERSION, NVML_GPM_VERSION);
SAME(nvmlMemory_v2, NVML_MEMORY_V2);
SIZE(nvmlMemory_t, nvml_memory);
AT(nvmlMemory_t, total, nvml_memory, total);
AT(nvmlMemory_t, free, nvml_memory, free);
AT(nvmlMemory_t, used, nvml_memory, used);
SIZE(nvmlMemory_v2_t, nvml_memory_v2);
AT(nvmlMemory_v2_t, total, nvml_memory_v2, total);
AT(nvmlMemory_v2_t, reserved, nvml_memory_v2, reserved);
AT(nvmlMemory_v2_t, free, nvml_memory_v2, free);
AT(nvmlMemory_v2_t, used, nvml_memory_v2, used);
SIZE(nvmlProcessInfo_t, nvml_process);
AT(nvmlProcessInfo_t, pid, nvml_process, pid);
AT(nvmlProcessInfo_t, usedGpuMemory, nvml_process, used_bytes);
AT(nvmlProcessInfo_t, gpuInstanceId, nvml_process, gpu_instance);
AT(nvmlProcessInfo_t, computeInstanceId, nvml_process, compute_instance);
SIZE(nvmlUtilization_t, nvml_utilization);
AT(nvmlUtilization_t, gpu, nvml_utilization, gpu);
AT(nvmlUtilization_t, memory, nvml_utilization, memory);
SIZE(nvmlEventData_t, nvml_event_data);
AT(nvmlEventData_t, device, nvml_event_data, device);
AT(nvmlEventData_t, eventType, nvml_event_data, type);
AT(nvmlEventData_t, eventData, nvml_event_data, data);
AT(nvmlEventData_t, gpuInstanceId, nvml_event_data, gpu_instance);
AT(nvmlEventData_t, computeInstanceId, nvml_event_data, compute_instance);
SIZE(nvmlGpmSupport_t, nvml_gpm_support);
AT(nvmlGpmSupport_t, isSupportedDevice, nvml_gpm_support, supported);
SIZE(nvmlGpmMetric_t, nvml_gpm_metric);
AT(nvmlGpmMetric_t, metricId, nvml_gpm_metric, id);
AT(nvmlGpmMetric_t, nvmlReturn, nvml_gpm_metric, result);
AT(nvmlGpmMetric_t, value, nvml_gpm_metric, value);
AT(nvmlGpmMetric_t, metricInfo.shortName, nvml_gpm_metric, short_name);
AT(nvmlGpmMetric_t, metricInfo.unit, nvml_gpm_metric, unit);
AT(nvmlGpmMetricsGet_t, numMetrics, nvml_gpm_get, count);
AT(nvmlGpmMetricsGet_t, sample1, nvml_gpm_get, first);
AT(nvmlGpmMetricsGet_t, sample2, nvml_gpm_get, second);
SAME(offsetof(nvmlGpmMetricsGet_t, metrics), offsetof(struct nvml_gpm_get, metrics));

static void *library;

static void *find(const char *name)
{
	void *function = dlsym(library, name);

	if (!function)
		exit(printf("no %s\n", name));
	return function;
}

#define CALL(function, ...)                                                       \
	do {                                                                      \
		int result_ = (int)((__typeof__(&function))find(#function))(__VA_ARGS__); \
		if (result_)                                                      \
			printf(#function ": %d\n", result_);                      \
	} while (0)

static void say_identity(nvmlDevice_t device)
{
	char uuid[80], name[96], driver[80], nvml[80];
	unsigned int count, index;
	nvmlDevice_t found;

	CALL(nvmlSystemGetDriverVersion, driver, sizeof(driver));
	CALL(nvmlSystemGetNVMLVersion, nvml, sizeof(nvml));
	CALL(nvmlDeviceGetCount_v2, &count);
	CALL(nvmlDeviceGetUUID, device, uuid, sizeof(uuid));
	CALL(nvmlDeviceGetName, device, name, sizeof(name));
	CALL(nvmlDeviceGetIndex, device, &index);
	CALL(nvmlDeviceGetHandleByUUID, uuid, &found);
	printf("%s %s, %u devices, %u: %s, %s%s\n", driver, nvml, count, index, name, uuid,
	       found == device ? "" : ", lost");
}

static void say_state(nvmlDevice_t device)
{
	nvmlMemory_t memory;
	nvmlMemory_v2_t newer = { .version = nvmlMemory_v2 };
	nvmlProcessInfo_t processes[4];
	nvmlUtilization_t rates;
	unsigned int count = 4, mw, mhz;
	unsigned long long mj, reasons, others;

	CALL(nvmlDeviceGetMemoryInfo, device, &memory);
	CALL(nvmlDeviceGetMemoryInfo_v2, device, &newer);
	CALL(nvmlDeviceGetComputeRunningProcesses_v3, device, &count, processes);
	CALL(nvmlDeviceGetUtilizationRates, device, &rates);
	CALL(nvmlDeviceGetPowerUsage, device, &mw);
	CALL(nvmlDeviceGetTotalEnergyConsumption, device, &mj);
	CALL(nvmlDeviceGetClockInfo, device, NVML_CLOCK_MEM, &mhz);
	CALL(nvmlDeviceGetCurrentClocksThrottleReasons, device, &reasons);
	others = reasons;
#ifdef nvmlClocksEventReasonNone /* since 12.2 */
	CALL(nvmlDeviceGetCurrentClocksEventReasons, device, &others);
#endif
	printf("memory %llu of %llu and %llu, %u processes: %u has %llu, %u %% %u %%, %u mW, "
	       "%u MHz, %llx\n", memory.used, newer.used, memory.total, count, processes[0].pid,
	       processes[0].usedGpuMemory, rates.gpu, rates.memory, mw, mhz, reasons & others);
}

static void say_gpm(nvmlDevice_t device)
{
	static nvmlGpmMetricsGet_t get = { .version = NVML_GPM_METRICS_GET_VERSION, .numMetrics = 2 };
	nvmlGpmSupport_t support = { .version = NVML_GPM_SUPPORT_VERSION };

	CALL(nvmlGpmQueryDeviceSupport, device, &support);
	CALL(nvmlGpmSampleAlloc, &get.sample1);
	CALL(nvmlGpmSampleAlloc, &get.sample2);
	CALL(nvmlGpmSampleGet, device, get.sample1);
	CALL(nvmlGpmSampleGet, device, get.sample2);
	get.metrics[0].metricId = NVML_GPM_METRIC_ANY_TENSOR_UTIL;
	get.metrics[1].metricId = NVML_GPM_METRIC_DRAM_BW_UTIL;
	CALL(nvmlGpmMetricsGet, &get);
	printf("GPM %u: %g %s, %d\n", support.isSupportedDevice, get.metrics[0].value,
	       get.metrics[0].metricInfo.unit, get.metrics[1].nvmlReturn);
	CALL(nvmlGpmSampleFree, get.sample1);
	CALL(nvmlGpmSampleFree, get.sample2);
}

static void say_event(nvmlDevice_t device)
{
	unsigned long long types;
	nvmlEventData_t event;
	nvmlEventSet_t set;

	CALL(nvmlDeviceGetSupportedEventTypes, device, &types);
	CALL(nvmlEventSetCreate, &set);
	CALL(nvmlDeviceRegisterEvents, device, types & nvmlEventTypeXidCriticalError, set);
	CALL(nvmlEventSetWait_v2, set, &event, 20000);
	printf("event %llu: %llu%s\n", event.eventType, event.eventData,
	       event.device == device ? "" : " of another");
	CALL(nvmlEventSetFree, set);
}

static void say_mig(nvmlDevice_t device)
{
	nvmlGpmSample_t sample;
	nvmlDevice_t mig, whole;
	unsigned int now, pending, most, gpu, compute, is;

	CALL(nvmlDeviceGetMigMode, device, &now, &pending);
	CALL(nvmlDeviceGetMaxMigDeviceCount, device, &most);
	CALL(nvmlDeviceGetMigDeviceHandleByIndex, device, 1, &mig);
	CALL(nvmlDeviceIsMigDeviceHandle, mig, &is);
	CALL(nvmlDeviceGetDeviceHandleFromMigDeviceHandle, mig, &whole);
	CALL(nvmlDeviceGetGpuInstanceId, mig, &gpu);
	CALL(nvmlDeviceGetComputeInstanceId, mig, &compute);
	CALL(nvmlGpmSampleAlloc, &sample);
	CALL(nvmlGpmMigSampleGet, device, gpu, sample);
	CALL(nvmlGpmSampleFree, sample);
	printf("MIG %u %u %u: %u, instance %u %u%s\n", now, pending, most, is, gpu, compute,
	       whole == device ? "" : " of another");
}

int main(int argc, char **argv)
{
	nvmlDevice_t device = NULL, other = NULL;

	library = argc == 2 ? dlopen(argv[1], RTLD_NOW) : NULL;
	if (!library)
		return !!printf("usage: client LIBRARY\n");
	CALL(nvmlInit_v2);
	CALL(nvmlInitWithFlags, NVML_INIT_FLAG_NO_GPUS);
	CALL(nvmlShutdown);
	CALL(nvmlDeviceGetHandleByIndex_v2, 0, &device);
	CALL(nvmlDeviceGetHandleByIndex_v2, 1, &other);
	say_identity(device);
	say_state(device);
	say_gpm(device);
	say_event(device);
	say_mig(other);
	printf("%s\n", ((__typeof__(&nvmlErrorString))find("nvmlErrorString"))(NVML_ERROR_TIMEOUT));
	CALL(nvmlShutdown);
	return 0;
}
