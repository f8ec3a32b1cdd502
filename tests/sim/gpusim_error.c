// SPDX-License-Identifier: BSD-3-Clause
/*
 * The names of the result codes that the simulation can give, as the runtime and as the driver call
 * them, and those of NCCL.
 */
#include "gpusim_internal.h"

static const struct {
	int result;
	const char *runtime, *driver, *text;
	// clang-format off
} errors[] = {
	{ GPUSIM_OK, "cudaSuccess",
	  "CUDA_SUCCESS", "no error" },
	{ GPUSIM_INVALID_VALUE, "cudaErrorInvalidValue",
	  "CUDA_ERROR_INVALID_VALUE", "invalid argument" },
	{ GPUSIM_OUT_OF_MEMORY, "cudaErrorMemoryAllocation",
	  "CUDA_ERROR_OUT_OF_MEMORY", "out of memory" },
	{ GPUSIM_NOT_INITIALIZED, "cudaErrorInitializationError",
	  "CUDA_ERROR_NOT_INITIALIZED", "initialization error" },
	{ GPUSIM_INVALID_CONFIGURATION, "cudaErrorInvalidConfiguration",
	  NULL, "invalid launch configuration" },
	{ GPUSIM_INVALID_MEMCPY_DIRECTION, "cudaErrorInvalidMemcpyDirection",
	  NULL, "invalid copy direction" },
	{ GPUSIM_INSUFFICIENT_DRIVER, "cudaErrorInsufficientDriver",
	  NULL, "no simulated driver found" },
	{ GPUSIM_INVALID_DEVICE_FUNCTION, "cudaErrorInvalidDeviceFunction",
	  NULL, "invalid device function" },
	{ GPUSIM_NO_DEVICE, "cudaErrorNoDevice",
	  "CUDA_ERROR_NO_DEVICE", "no device" },
	{ GPUSIM_INVALID_DEVICE, "cudaErrorInvalidDevice",
	  "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal" },
	{ GPUSIM_INVALID_CONTEXT, "cudaErrorDeviceUninitialized",
	  "CUDA_ERROR_INVALID_CONTEXT", "invalid device context" },
	{ GPUSIM_INVALID_HANDLE, "cudaErrorInvalidResourceHandle",
	  "CUDA_ERROR_INVALID_HANDLE", "invalid handle" },
	{ GPUSIM_ILLEGAL_STATE, "cudaErrorIllegalState",
	  "CUDA_ERROR_ILLEGAL_STATE", "not allowed in this state" },
	{ GPUSIM_NOT_FOUND, "cudaErrorSymbolNotFound",
	  "CUDA_ERROR_NOT_FOUND", "symbol not found" },
	{ GPUSIM_NOT_READY, "cudaErrorNotReady",
	  "CUDA_ERROR_NOT_READY", "not ready" },
	{ GPUSIM_NOT_SUPPORTED, "cudaErrorNotSupported",
	  "CUDA_ERROR_NOT_SUPPORTED", "not supported by the simulation" },
	{ GPUSIM_CAPTURE_UNSUPPORTED, "cudaErrorStreamCaptureUnsupported",
	  "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", "not allowed while the stream captures" },
	{ GPUSIM_UNKNOWN, "cudaErrorUnknown",
	  "CUDA_ERROR_UNKNOWN", "unknown error" },
};
// clang-format on

const char *gpusim_error_name(int result, bool runtime)
{
	size_t i;

	for (i = 0; i < GPUSIM_COUNT(errors); i++)
		if (errors[i].result == result)
			return runtime ? errors[i].runtime : errors[i].driver;
	return NULL;
}

const char *gpusim_error_text(int result)
{
	size_t i;

	for (i = 0; i < GPUSIM_COUNT(errors); i++)
		if (errors[i].result == result)
			return errors[i].text;
	return NULL;
}

const char *gpusim_nccl_error_name(int result)
{
	static const char *const names[] = {
		"ncclSuccess",	     "ncclUnhandledCudaError", "ncclSystemError",
		"ncclInternalError", "ncclInvalidArgument",    "ncclInvalidUsage",
		"ncclRemoteError",   "ncclInProgress",
	};

	return result >= 0 && (size_t)result < GPUSIM_COUNT(names) ? names[result] : NULL;
}
