// SPDX-License-Identifier: BSD-3-Clause
/*
 * libcuda.so.1, the simulated driver: memory whose addresses and bytes are had apart, streams with
 * a priority and functions that they call, which JAX asks for. An address is good without anything behind it.
 */
#include <stdio.h>

#include "libcuda.h"

enum { GRANULARITY = 2 << 20, PRIORITY_LEAST = 0, PRIORITY_GREATEST = -5 };

static int put(size_t *out, size_t value)
{
	if (!out)
		return GPUSIM_INVALID_VALUE;
	*out = value;
	return GPUSIM_OK;
}

static int reserve(CUdeviceptr *out, size_t bytes)
{
	uint64_t found = 0;
	int result = gpusim_range_reserve(bytes, &found);

	if (!out)
		return GPUSIM_INVALID_VALUE;
	*out = found;
	return result;
}

static int priorities(int *least, int *greatest)
{
	if (least)
		*least = PRIORITY_LEAST;
	if (greatest)
		*greatest = PRIORITY_GREATEST;
	return GPUSIM_OK;
}

/* As its attribute 33 has it. */
static int bus_id(char *out, int size, CUdevice device)
{
	if (!out || size <= 0)
		return GPUSIM_INVALID_VALUE;
	if (device < 0 || device >= gpusim_device_count())
		return GPUSIM_INVALID_DEVICE;
	snprintf(out, (size_t)size, "0000:%02x:00.0", (unsigned int)device + 1);
	return GPUSIM_OK;
}

SHIM_EXPORT(cuMemGetAllocationGranularity, (size_t *out, const void *properties, int option),
	put(out, GRANULARITY))
CUresult cuMemAddressReserve(CUdeviceptr *out, size_t bytes, size_t alignment, CUdeviceptr at,
			     unsigned long long flags) SHIM_NAME(cuMemAddressReserve);
SHIM_BYTES(CUresult, cuMemAddressReserve, (CUdeviceptr *out, size_t bytes, size_t alignment,
	CUdeviceptr at, unsigned long long flags), bytes, reserve(out, bytes))
SHIM_EXPORT(cuMemAddressFree, (CUdeviceptr at, size_t bytes), gpusim_range_free(at))
CUresult cuMemCreate(struct gpusim_physical **out, size_t bytes, const void *properties,
		     unsigned long long flags) SHIM_NAME(cuMemCreate);
SHIM_BYTES(CUresult, cuMemCreate, (struct gpusim_physical **out, size_t bytes,
	const void *properties, unsigned long long flags), bytes, gpusim_physical_alloc(bytes, out))
SHIM_EXPORT(cuMemRelease, (struct gpusim_physical *memory), gpusim_physical_free(memory))
SHIM_EXPORT(cuMemMap, (CUdeviceptr at, size_t bytes, size_t offset, struct gpusim_physical *memory,
	unsigned long long flags), memory ? GPUSIM_OK : GPUSIM_INVALID_VALUE)
SHIM_EXPORT(cuMemUnmap, (CUdeviceptr at, size_t bytes), GPUSIM_OK)
SHIM_EXPORT(cuMemSetAccess, (CUdeviceptr at, size_t bytes, const void *access, size_t count), GPUSIM_OK)
SHIM_EXPORT(cuStreamCreateWithPriority, (CUstream *out, unsigned int flags, int priority),
	gpusim_stream_create(flags, out))
SHIM_EXPORT(cuCtxGetStreamPriorityRange, (int *least, int *greatest), priorities(least, greatest))
SHIM_EXPORT(cuLaunchHostFunc, (CUstream stream, void (*fn)(void *data), void *data),
	gpusim_host_call(stream, fn, data))
SHIM_EXPORT(cuDeviceGetPCIBusId, (char *out, int size, CUdevice device), bus_id(out, size, device))
