// SPDX-License-Identifier: BSD-3-Clause
/*
 * user/source/nvml/nvml_api.h against NVIDIA's nvml.h, at compile time: offsets, sizes, numbers, and the
 * types of functions where no struct is in them. HEADER: its version (129: 12.9); older ones have not all.
 */
#include <stddef.h>

#include <nvml.h>

#include "source/nvml/nvml_api.h"

#define EQUAL(ours, theirs) \
	_Static_assert((unsigned long long)(ours) == (unsigned long long)(theirs), #theirs);
#define SAME(ours, at, theirs, member) \
	EQUAL(offsetof(struct ours, at), offsetof(theirs, member)) \
	EQUAL(sizeof(((struct ours *)0)->at), sizeof(((theirs *)0)->member))

EQUAL(NVML_OK, NVML_SUCCESS)
EQUAL(NVML_UNINITIALIZED, NVML_ERROR_UNINITIALIZED)
EQUAL(NVML_INVALID_ARGUMENT, NVML_ERROR_INVALID_ARGUMENT)
EQUAL(NVML_NOT_SUPPORTED, NVML_ERROR_NOT_SUPPORTED)
EQUAL(NVML_NO_PERMISSION, NVML_ERROR_NO_PERMISSION)
EQUAL(NVML_NOT_FOUND, NVML_ERROR_NOT_FOUND)
EQUAL(NVML_INSUFFICIENT_SIZE, NVML_ERROR_INSUFFICIENT_SIZE)
EQUAL(NVML_DRIVER_NOT_LOADED, NVML_ERROR_DRIVER_NOT_LOADED)
EQUAL(NVML_TIMEOUT, NVML_ERROR_TIMEOUT)
EQUAL(NVML_FUNCTION_NOT_FOUND, NVML_ERROR_FUNCTION_NOT_FOUND)
EQUAL(NVML_GPU_IS_LOST, NVML_ERROR_GPU_IS_LOST)
EQUAL(NVML_RESET_REQUIRED, NVML_ERROR_RESET_REQUIRED)
EQUAL(NVML_VERSION_MISMATCH, NVML_ERROR_LIB_RM_VERSION_MISMATCH)
EQUAL(NVML_ARGUMENT_VERSION, 25)	/* not in 12.0 */
EQUAL(NVML_SM_CLOCK, NVML_CLOCK_SM)
EQUAL(NVML_MEMORY_CLOCK, NVML_CLOCK_MEM)
EQUAL(NVML_METRIC_SM, NVML_GPM_METRIC_SM_UTIL)
EQUAL(NVML_METRIC_OCCUPANCY, NVML_GPM_METRIC_SM_OCCUPANCY)
EQUAL(NVML_METRIC_TENSOR, NVML_GPM_METRIC_ANY_TENSOR_UTIL)
EQUAL(NVML_METRIC_DRAM, NVML_GPM_METRIC_DRAM_BW_UTIL)
EQUAL(NVML_EVENT_ECC_CORRECTED, nvmlEventTypeSingleBitEccError)
EQUAL(NVML_EVENT_ECC_UNCORRECTED, nvmlEventTypeDoubleBitEccError)
EQUAL(NVML_EVENT_XID, nvmlEventTypeXidCriticalError)
EQUAL(NVML_UUID_BYTES, NVML_DEVICE_UUID_V2_BUFFER_SIZE)
EQUAL(NVML_NAME_BYTES, NVML_DEVICE_NAME_V2_BUFFER_SIZE)
EQUAL(NVML_VERSION_BYTES, NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE)
EQUAL(NVML_GPM_VERSION, NVML_GPM_METRICS_GET_VERSION)
EQUAL(NVML_GPM_VERSION, NVML_GPM_SUPPORT_VERSION)
_Static_assert(NVML_METRICS_MAX >= NVML_GPM_METRIC_MAX, "no shorter than theirs");

SAME(nvml_memory, version, nvmlMemory_v2_t, version)
SAME(nvml_memory, total, nvmlMemory_v2_t, total)
SAME(nvml_memory, reserved, nvmlMemory_v2_t, reserved)
SAME(nvml_memory, free, nvmlMemory_v2_t, free)
SAME(nvml_memory, used, nvmlMemory_v2_t, used)
EQUAL(NVML_MEMORY_VERSION, nvmlMemory_v2)
SAME(nvml_process, pid, nvmlProcessInfo_t, pid)
SAME(nvml_process, used_bytes, nvmlProcessInfo_t, usedGpuMemory)
SAME(nvml_process, gpu_instance, nvmlProcessInfo_t, gpuInstanceId)
SAME(nvml_process, compute_instance, nvmlProcessInfo_t, computeInstanceId)
EQUAL(sizeof(struct nvml_process), sizeof(nvmlProcessInfo_t))
SAME(nvml_utilization, gpu, nvmlUtilization_t, gpu)
SAME(nvml_utilization, memory, nvmlUtilization_t, memory)
SAME(nvml_event, device, nvmlEventData_t, device)
SAME(nvml_event, type, nvmlEventData_t, eventType)
SAME(nvml_event, data, nvmlEventData_t, eventData)
SAME(nvml_event, gpu_instance, nvmlEventData_t, gpuInstanceId)
SAME(nvml_event, compute_instance, nvmlEventData_t, computeInstanceId)
EQUAL(sizeof(struct nvml_event), sizeof(nvmlEventData_t))
SAME(nvml_gpm_support, version, nvmlGpmSupport_t, version)
SAME(nvml_gpm_support, supported, nvmlGpmSupport_t, isSupportedDevice)
SAME(nvml_gpm_metric, id, nvmlGpmMetric_t, metricId)
SAME(nvml_gpm_metric, code, nvmlGpmMetric_t, nvmlReturn)
SAME(nvml_gpm_metric, value, nvmlGpmMetric_t, value)
SAME(nvml_gpm_metric, names, nvmlGpmMetric_t, metricInfo)
EQUAL(sizeof(struct nvml_gpm_metric), sizeof(nvmlGpmMetric_t))
SAME(nvml_gpm_get, version, nvmlGpmMetricsGet_t, version)
SAME(nvml_gpm_get, n, nvmlGpmMetricsGet_t, numMetrics)
SAME(nvml_gpm_get, before, nvmlGpmMetricsGet_t, sample1)
SAME(nvml_gpm_get, after, nvmlGpmMetricsGet_t, sample2)
EQUAL(offsetof(struct nvml_gpm_get, metric), offsetof(nvmlGpmMetricsGet_t, metrics))

#if HEADER >= 129
EQUAL(NVML_DEPRECATED, NVML_ERROR_DEPRECATED)
EQUAL(NVML_EVENT_ECC_STORM, nvmlEventTypeSingleBitEccErrorStorm)
EQUAL(NVML_EVENT_RETIRED, nvmlEventTypeDramRetirementEvent)
EQUAL(NVML_EVENT_RETIRE_FAILED, nvmlEventTypeDramRetirementFailure)
EQUAL(NVML_EVENT_POISON, nvmlEventTypeNonFatalPoisonError)
EQUAL(NVML_EVENT_POISON_FATAL, nvmlEventTypeFatalPoisonError)
EQUAL(NVML_EVENT_UNAVAILABLE, nvmlEventTypeGpuUnavailableError)
EQUAL(NVML_EVENT_RECOVERY, nvmlEventTypeGpuRecoveryAction)

/* Structs of ours for structs of theirs; whether the rest fits the compiler says. */
#define nvml_memory nvmlMemory_v2_st
#define nvml_process nvmlProcessInfo_v2_st
#define nvml_utilization nvmlUtilization_st
#define nvml_event nvmlEventData_st
/* Two take structs that have no tag in theirs. */
#define IS(member, name) (__builtin_strcmp(#member, name) == 0)
#define FITS(member, symbol, optional, arguments) \
	_Static_assert(IS(member, "gpm_supported") || IS(member, "gpm_metrics") || \
		       __builtin_types_compatible_p(__typeof__(symbol), unsigned int arguments), \
		       #symbol);
NVML_FUNCTIONS(FITS)
_Static_assert(__builtin_types_compatible_p(__typeof__(nvmlErrorString), const char *(nvmlReturn_t)),
	       "nvmlErrorString");
#endif
