/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The part of libnvidia-ml.so.1 that gpuprof calls, by its ABI: numbers, structs and functions
 * under names of ours, so that nothing of NVIDIA's is needed to build. The tags of structs
 * behind pointers are NVML's. tests/nvml/check-double holds all of it against the real headers,
 * from 12.0 on.
 */
#ifndef SOURCE_NVML_NVML_API_H
#define SOURCE_NVML_NVML_API_H

#include <stdbool.h>
#include <stdint.h>

#define NVML_LIBRARY "libnvidia-ml.so.1"

/* Codes that are treated specially; nvmlErrorString has the meaning of the others. */
enum nvml_code {
	NVML_OK = 0,
	NVML_UNINITIALIZED = 1,
	NVML_INVALID_ARGUMENT = 2,
	NVML_NOT_SUPPORTED = 3,
	NVML_NO_PERMISSION = 4,
	NVML_NOT_FOUND = 6,
	NVML_INSUFFICIENT_SIZE = 7,
	NVML_DRIVER_NOT_LOADED = 9,
	NVML_TIMEOUT = 10,
	NVML_FUNCTION_NOT_FOUND = 13,
	NVML_GPU_IS_LOST = 15,
	NVML_RESET_REQUIRED = 16,
	/* the library is of another driver than the kernel module */
	NVML_VERSION_MISMATCH = 18,
	NVML_ARGUMENT_VERSION = 25,
	NVML_DEPRECATED = 26,
};

enum { NVML_SM_CLOCK = 1, NVML_MEMORY_CLOCK = 2 };

enum nvml_metric {
	NVML_METRIC_SM = 2,		/* all in percent */
	NVML_METRIC_OCCUPANCY = 3,
	NVML_METRIC_TENSOR = 5,
	NVML_METRIC_DRAM = 10,
};

/* Types of events. */
#define NVML_EVENT_ECC_CORRECTED 0x1ull
#define NVML_EVENT_ECC_UNCORRECTED 0x2ull
#define NVML_EVENT_XID 0x8ull
#define NVML_EVENT_ECC_STORM 0x200ull
#define NVML_EVENT_RETIRED 0x400ull
#define NVML_EVENT_RETIRE_FAILED 0x800ull
#define NVML_EVENT_POISON 0x1000ull
#define NVML_EVENT_POISON_FATAL 0x2000ull
#define NVML_EVENT_UNAVAILABLE 0x4000ull
#define NVML_EVENT_RECOVERY 0x8000ull

#define NVML_UUID_BYTES 96
#define NVML_NAME_BYTES 96
#define NVML_VERSION_BYTES 80
#define NVML_NO_INSTANCE 0xffffffffu	/* of MIG */
#define NVML_NO_BYTES UINT64_MAX	/* of a process's memory: unknown */
#define NVML_METRICS_MAX 210		/* the array's length in headers of 13.0; it was less */
#define NVML_GPM_VERSION 1u

struct nvmlDevice_st;
struct nvmlEventSet_st;
struct nvmlGpmSample_st;

struct nvml_memory {
	uint32_t version;		/* NVML_MEMORY_VERSION */
	uint32_t pad;
	uint64_t total, reserved, free, used;
};
#define NVML_MEMORY_VERSION ((uint32_t)sizeof(struct nvml_memory) | 2u << 24)

struct nvml_process {
	uint32_t pid, pad;
	uint64_t used_bytes;
	uint32_t gpu_instance, compute_instance;
};

struct nvml_utilization {
	uint32_t gpu, memory;
};

struct nvml_event {
	struct nvmlDevice_st *device;
	uint64_t type, data;
	uint32_t gpu_instance, compute_instance;
};

struct nvml_gpm_support {
	uint32_t version, supported;
};

struct nvml_gpm_metric {
	uint32_t id, code;
	double value;
	const char *names[3];
};

struct nvml_gpm_get {
	uint32_t version, n;
	struct nvmlGpmSample_st *before, *after;
	struct nvml_gpm_metric metric[NVML_METRICS_MAX];
};

/* member, symbol, may the library lack it?, arguments; all return an enum nvml_code. */
#define NVML_FUNCTIONS(F) \
	F(init, nvmlInit_v2, false, (void)) \
	F(shutdown, nvmlShutdown, false, (void)) \
	F(driver_version, nvmlSystemGetDriverVersion, false, (char *text, unsigned int bytes)) \
	F(count, nvmlDeviceGetCount_v2, false, (unsigned int *n)) \
	F(device, nvmlDeviceGetHandleByIndex_v2, false, \
	  (unsigned int i, struct nvmlDevice_st **d)) \
	F(uuid, nvmlDeviceGetUUID, false, \
	  (struct nvmlDevice_st *d, char *text, unsigned int bytes)) \
	F(name, nvmlDeviceGetName, false, \
	  (struct nvmlDevice_st *d, char *text, unsigned int bytes)) \
	F(index, nvmlDeviceGetIndex, false, (struct nvmlDevice_st *d, unsigned int *index)) \
	F(memory, nvmlDeviceGetMemoryInfo_v2, true, \
	  (struct nvmlDevice_st *d, struct nvml_memory *m)) \
	F(processes, nvmlDeviceGetComputeRunningProcesses_v3, true, \
	  (struct nvmlDevice_st *d, unsigned int *n, struct nvml_process *p)) \
	F(utilization, nvmlDeviceGetUtilizationRates, true, \
	  (struct nvmlDevice_st *d, struct nvml_utilization *u)) \
	F(power, nvmlDeviceGetPowerUsage, true, (struct nvmlDevice_st *d, unsigned int *mw)) \
	F(energy, nvmlDeviceGetTotalEnergyConsumption, true, \
	  (struct nvmlDevice_st *d, unsigned long long *mj)) \
	F(clock, nvmlDeviceGetClockInfo, true, \
	  (struct nvmlDevice_st *d, unsigned int type, unsigned int *mhz)) \
	F(clock_reasons, nvmlDeviceGetCurrentClocksEventReasons, true, \
	  (struct nvmlDevice_st *d, unsigned long long *bits)) \
	F(clock_reasons_old, nvmlDeviceGetCurrentClocksThrottleReasons, true, \
	  (struct nvmlDevice_st *d, unsigned long long *bits)) \
	F(mig_mode, nvmlDeviceGetMigMode, true, \
	  (struct nvmlDevice_st *d, unsigned int *now, unsigned int *pending)) \
	F(mig_max, nvmlDeviceGetMaxMigDeviceCount, true, \
	  (struct nvmlDevice_st *d, unsigned int *n)) \
	F(mig_device, nvmlDeviceGetMigDeviceHandleByIndex, true, \
	  (struct nvmlDevice_st *d, unsigned int i, struct nvmlDevice_st **mig)) \
	F(gpu_instance, nvmlDeviceGetGpuInstanceId, true, \
	  (struct nvmlDevice_st *d, unsigned int *id)) \
	F(compute_instance, nvmlDeviceGetComputeInstanceId, true, \
	  (struct nvmlDevice_st *d, unsigned int *id)) \
	F(event_set, nvmlEventSetCreate, true, (struct nvmlEventSet_st **set)) \
	F(event_types, nvmlDeviceGetSupportedEventTypes, true, \
	  (struct nvmlDevice_st *d, unsigned long long *types)) \
	F(event_register, nvmlDeviceRegisterEvents, true, \
	  (struct nvmlDevice_st *d, unsigned long long types, struct nvmlEventSet_st *set)) \
	F(event_wait, nvmlEventSetWait_v2, true, \
	  (struct nvmlEventSet_st *set, struct nvml_event *event, unsigned int ms)) \
	F(event_free, nvmlEventSetFree, true, (struct nvmlEventSet_st *set)) \
	F(gpm_supported, nvmlGpmQueryDeviceSupport, true, \
	  (struct nvmlDevice_st *d, struct nvml_gpm_support *s)) \
	F(gpm_alloc, nvmlGpmSampleAlloc, true, (struct nvmlGpmSample_st **s)) \
	F(gpm_free, nvmlGpmSampleFree, true, (struct nvmlGpmSample_st *s)) \
	F(gpm_sample, nvmlGpmSampleGet, true, \
	  (struct nvmlDevice_st *d, struct nvmlGpmSample_st *s)) \
	F(gpm_mig_sample, nvmlGpmMigSampleGet, true, \
	  (struct nvmlDevice_st *d, unsigned int gpu_instance, struct nvmlGpmSample_st *s)) \
	F(gpm_metrics, nvmlGpmMetricsGet, true, (struct nvml_gpm_get *get))

struct nvml_api {			/* NULL: the library has it not */
#define NVML_MEMBER(member, symbol, optional, arguments) unsigned int (*member) arguments;
	NVML_FUNCTIONS(NVML_MEMBER)
	const char *(*error)(unsigned int code);
};

/* Loads the library, which stays: 0, or -errno with the reason in why (not logged). */
int nvml_load(struct nvml_api *api, char *why, unsigned int why_bytes);

#endif
