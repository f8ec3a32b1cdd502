/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * NVML as the simulated libnvidia-ml.so.1 offers it: functions, numbers and structs as those of
 * CUDA 12.0 and later. tests/nvml/check holds all of it against the real headers. Written from
 * their documentation, apart from what gpuprof knows of NVML, so that a mistake in one is found by
 * the other.
 */
#ifndef NVML_SIM_API_H
#define NVML_SIM_API_H

#include <stddef.h>
#include <stdint.h>

enum nvml_result {
	NVML_OK = 0,
	NVML_UNINITIALIZED = 1,
	NVML_INVALID_ARGUMENT = 2,
	NVML_NOT_SUPPORTED = 3,
	NVML_NOT_FOUND = 6,
	NVML_INSUFFICIENT_SIZE = 7,
	NVML_TIMEOUT = 10,
	NVML_GPU_IS_LOST = 15,
	NVML_NO_MEMORY = 20,
	NVML_VERSION_MISMATCH = 25,
};

enum { NVML_CLOCKS = 4 }; /* graphics, SM, memory, video */

enum nvml_event {
	NVML_EVENT_ECC_SINGLE = 1,
	NVML_EVENT_ECC_DOUBLE = 2,
	NVML_EVENT_XID = 8,
	NVML_EVENT_CLOCK = 16,
	NVML_EVENTS = NVML_EVENT_ECC_SINGLE | NVML_EVENT_ECC_DOUBLE | NVML_EVENT_XID |
		      NVML_EVENT_CLOCK, /* those that the double reports */
};

enum { NVML_GPM_GRAPHICS = 1, NVML_GPM_SM = 2, NVML_GPM_VERSION = 1 };
enum { NVML_MEMORY_V2 = 40 | 2 << 24 };

#define NVML_NO_INSTANCE 0xffffffffu /* no MIG instance */

struct nvml_device; /* the words behind handles */
struct nvml_event_set;
struct nvml_gpm_sample;

struct nvml_memory {
	unsigned long long total, free, used;
};

struct nvml_memory_v2 {
	unsigned int version;
	unsigned long long total, reserved, free, used;
};

struct nvml_process {
	unsigned int pid;
	unsigned long long used_bytes;
	unsigned int gpu_instance, compute_instance;
};

struct nvml_utilization {
	unsigned int gpu, memory;
};

struct nvml_event_data {
	struct nvml_device *device;
	unsigned long long type, data;
	unsigned int gpu_instance, compute_instance;
};

struct nvml_gpm_support {
	unsigned int version, supported;
};

struct nvml_gpm_metric {
	unsigned int id;
	int result;
	double value;
	const char *short_name, *long_name, *unit;
};

/* The real one ends with an array whose length grew from version to version of the header: only the
 * first `count` are there for sure. */
struct nvml_gpm_get {
	unsigned int version, count;
	struct nvml_gpm_sample *first, *second;
	struct nvml_gpm_metric metrics[];
};

#ifndef NVML_SIM_NO_FUNCTIONS
int nvmlInit_v2(void);
int nvmlInitWithFlags(unsigned int flags);
int nvmlShutdown(void);
const char *nvmlErrorString(int result);
int nvmlSystemGetDriverVersion(char *text, unsigned int size);
int nvmlSystemGetNVMLVersion(char *text, unsigned int size);
int nvmlDeviceGetCount_v2(unsigned int *count);
int nvmlDeviceGetHandleByIndex_v2(unsigned int index, struct nvml_device **device);
int nvmlDeviceGetHandleByUUID(const char *uuid, struct nvml_device **device);
int nvmlDeviceGetUUID(struct nvml_device *device, char *text, unsigned int size);
int nvmlDeviceGetName(struct nvml_device *device, char *text, unsigned int size);
int nvmlDeviceGetIndex(struct nvml_device *device, unsigned int *index);
int nvmlDeviceGetMemoryInfo(struct nvml_device *device, struct nvml_memory *memory);
int nvmlDeviceGetMemoryInfo_v2(struct nvml_device *device, struct nvml_memory_v2 *memory);
int nvmlDeviceGetComputeRunningProcesses_v3(struct nvml_device *device, unsigned int *count,
					    struct nvml_process *processes);
int nvmlDeviceGetUtilizationRates(struct nvml_device *device, struct nvml_utilization *rates);
int nvmlDeviceGetPowerUsage(struct nvml_device *device, unsigned int *mw);
int nvmlDeviceGetTotalEnergyConsumption(struct nvml_device *device, unsigned long long *mj);
int nvmlDeviceGetClockInfo(struct nvml_device *device, int clock, unsigned int *mhz);
int nvmlDeviceGetCurrentClocksThrottleReasons(struct nvml_device *device, unsigned long long *bits);
int nvmlDeviceGetCurrentClocksEventReasons(struct nvml_device *device, unsigned long long *bits);
int nvmlDeviceGetMigMode(struct nvml_device *device, unsigned int *now, unsigned int *pending);
int nvmlDeviceGetMaxMigDeviceCount(struct nvml_device *device, unsigned int *count);
int nvmlDeviceGetMigDeviceHandleByIndex(struct nvml_device *device, unsigned int index,
					struct nvml_device **mig);
int nvmlDeviceIsMigDeviceHandle(struct nvml_device *device, unsigned int *is_mig);
int nvmlDeviceGetDeviceHandleFromMigDeviceHandle(struct nvml_device *mig,
						 struct nvml_device **device);
int nvmlDeviceGetGpuInstanceId(struct nvml_device *device, unsigned int *id);
int nvmlDeviceGetComputeInstanceId(struct nvml_device *device, unsigned int *id);
int nvmlDeviceGetSupportedEventTypes(struct nvml_device *device, unsigned long long *types);
int nvmlEventSetCreate(struct nvml_event_set **set);
int nvmlDeviceRegisterEvents(struct nvml_device *device, unsigned long long types,
			     struct nvml_event_set *set);
int nvmlEventSetWait_v2(struct nvml_event_set *set, struct nvml_event_data *data,
			unsigned int timeout_ms);
int nvmlEventSetFree(struct nvml_event_set *set);
int nvmlGpmQueryDeviceSupport(struct nvml_device *device, struct nvml_gpm_support *support);
int nvmlGpmSampleAlloc(struct nvml_gpm_sample **sample);
int nvmlGpmSampleFree(struct nvml_gpm_sample *sample);
int nvmlGpmSampleGet(struct nvml_device *device, struct nvml_gpm_sample *sample);
int nvmlGpmMigSampleGet(struct nvml_device *device, unsigned int instance,
			struct nvml_gpm_sample *sample);
int nvmlGpmMetricsGet(struct nvml_gpm_get *get);
#endif

#endif
