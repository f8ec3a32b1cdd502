// SPDX-License-Identifier: BSD-3-Clause
/*
 * libcuda.so.1, the simulated driver: start, devices, contexts, names of errors.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "shim.h"

#include "cuda_api.h"

enum { DRIVER_VERSION = 13000 };

static bool injecting; /* within cuInit the driver is not initialised yet, for any thread */

/* As the real driver when it starts, in a process whose environment asks for it. */
static void inject(void)
{
	const char *path = getenv("CUDA_INJECTION64_PATH");
	void *library = path && *path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
	int (*initialize)(void) = NULL;

	if (library)
		*(void **)&initialize = dlsym(library, "InitializeInjection");
	__atomic_store_n(&injecting, true, __ATOMIC_RELAXED);
	if (initialize)
		initialize();
	__atomic_store_n(&injecting, false, __ATOMIC_RELAXED);
}

CUresult cuInit(unsigned int flags)
{
	static pthread_once_t injected = PTHREAD_ONCE_INIT;
	struct gpusim_call call = shim_begin(GPUSIM_FN_cuInit);
	CUresult result = flags ? GPUSIM_INVALID_VALUE : gpusim_init();

#ifndef GPUSIM_PRIVATE_TWIN
	gpusim_scar_place((void (*)(void))cuInit);
#endif
	pthread_once(&injected, inject);
	gpusim_driver_is_up();
	if (!result && !gpusim_device_count())
		result = GPUSIM_NO_DEVICE;
	return gpusim_call_end(&call, result);
}

CUresult cuDriverGetVersion(int *version)
{
	const char *driver = getenv("GPUSIM_DRIVER");
	struct gpusim_call call = shim_begin(GPUSIM_FN_cuDriverGetVersion);

	if (version)
		*version = driver ? atoi(driver) : DRIVER_VERSION;
	return gpusim_call_end(&call, version ? GPUSIM_OK : GPUSIM_INVALID_VALUE);
}

/* The table by which CUPTI 13.2 begins: empty, and only where the simulated one plays that, since a
 * real CUPTI would go on to ask for others. */
CUresult cuGetExportTable(const void **table, const CUuuid *id)
{
	static const unsigned char cupti[] = { 0x7c, 0xb6, 0x3f, 0x9b, 0x9c, 0xa4, 0x8e, 0x42,
					       0xa4, 0x84, 0xbe, 0xb6, 0x6e, 0x6a, 0xed, 0x7f };
	static const size_t empty = sizeof(empty);
	const char *plays = getenv("GPUSIM_CUPTI");

	if (!plays || strcmp(plays, "13.2") || memcmp(id, cupti, sizeof(cupti)))
		return GPUSIM_NOT_FOUND;
	*table = &empty;
	return GPUSIM_OK;
}

CUresult cuDeviceGet(CUdevice *out, int ordinal)
{
	struct gpusim_call call = shim_begin(GPUSIM_FN_cuDeviceGet);
	CUresult result = GPUSIM_INVALID_VALUE;

	if (out) {
		*out = ordinal;
		result = ordinal >= 0 && ordinal < gpusim_device_count() ? GPUSIM_OK
									 : GPUSIM_INVALID_DEVICE;
	}
	return gpusim_call_end(&call, result);
}

CUresult cuDeviceGetCount(int *count)
{
	struct gpusim_call call = shim_begin(GPUSIM_FN_cuDeviceGetCount);
	CUresult result = count ? GPUSIM_OK : GPUSIM_INVALID_VALUE;

	if (__atomic_load_n(&injecting, __ATOMIC_RELAXED))
		result = GPUSIM_NOT_INITIALIZED;
	if (!result)
		*count = gpusim_device_count();
	return gpusim_call_end(&call, result);
}

/* An H100's, of those that programs ask for; by their public numbers, others are 0. */
enum { PCI_BUS = 33 };

static const int attributes[148] = {
	[1] = 1024, [2] = 1024, [3] = 1024, [4] = 64, /* threads of a block */
	[5] = 0x7fffffff, [6] = 65535, [7] = 65535, /* blocks of a grid */
	[8] = 49152, [9] = 65536, [10] = 32, [11] = 0x7fffffff, [12] = 65536,
	[13] = 1980000, [36] = 2619000, /* kHz: the clock, that of the memory */
	[14] = 512, [15] = 1, [16] = 132, [19] = 1, [31] = 1, [32] = 1,
	[37] = 5120, [38] = 52428800, [39] = 2048, [40] = 3, [41] = 1, [51] = 32,
	[75] = 9, [76] = 0, [78] = 1, [79] = 1, [80] = 1, [81] = 233472, [82] = 65536, [83] = 1,
	[87] = 2, [89] = 1, [90] = 1, [91] = 1, [95] = 1, [97] = 232448, [99] = 1, [102] = 1,
	[106] = 32, [111] = 1024, [115] = 1, [120] = 1,
};

CUresult cuDeviceGetAttribute(int *value, int attribute, CUdevice device)
{
	struct gpusim_call call = shim_begin(GPUSIM_FN_cuDeviceGetAttribute);
	CUresult result = GPUSIM_INVALID_VALUE;

	if (device < 0 || device >= gpusim_device_count()) {
		result = GPUSIM_INVALID_DEVICE;
	} else if (value && attribute > 0 &&
		   attribute < (int)(sizeof(attributes) / sizeof(attributes[0]))) {
		*value = attribute == PCI_BUS ? device + 1 : attributes[attribute];
		result = GPUSIM_OK;
	}
	return gpusim_call_end(&call, result);
}

SHIM(CUresult, cuDeviceGetName, (char *name, int size, CUdevice device),
	gpusim_device_name(device, name, size > 0 ? (size_t)size : 0))
SHIM(CUresult, cuDeviceGetUuid, (CUuuid *uuid, CUdevice device),
	gpusim_device_uuid(device, (unsigned char *)uuid))
SHIM(CUresult, cuDeviceGetUuid_v2, (CUuuid *uuid, CUdevice device),
	gpusim_device_uuid(device, (unsigned char *)uuid))

CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device)
{
	struct gpusim_call call = shim_begin(GPUSIM_FN_cuDeviceTotalMem_v2);
	uint64_t unused;
	CUresult result = bytes ? gpusim_device_memory(device, &unused, bytes)
				: GPUSIM_INVALID_VALUE;

	return gpusim_call_end(&call, result);
}

SHIM(CUresult, cuCtxCreate_v2, (CUcontext *out, unsigned int flags, CUdevice device),
	gpusim_context_create(device, out))
SHIM(CUresult, cuCtxDestroy_v2, (CUcontext context), gpusim_context_destroy(context))
SHIM(CUresult, cuCtxSetCurrent, (CUcontext context), gpusim_context_set_current(context))

CUresult cuCtxGetCurrent(CUcontext *out)
{
	struct gpusim_call call = shim_begin(GPUSIM_FN_cuCtxGetCurrent);

	if (out)
		*out = gpusim_context_current();
	return gpusim_call_end(&call, out ? GPUSIM_OK : GPUSIM_INVALID_VALUE);
}

CUresult cuCtxGetDevice(CUdevice *out)
{
	struct gpusim_call call = shim_begin(GPUSIM_FN_cuCtxGetDevice);
	struct gpusim_context *context = gpusim_context_current();

	if (!out)
		return gpusim_call_end(&call, GPUSIM_INVALID_VALUE);
	if (!context)
		return gpusim_call_end(&call, GPUSIM_INVALID_CONTEXT);
	*out = gpusim_context_device(context);
	return gpusim_call_end(&call, GPUSIM_OK);
}

SHIM(CUresult, cuCtxSynchronize, (void), gpusim_context_sync())
SHIM(CUresult, cuDevicePrimaryCtxRetain, (CUcontext *out, CUdevice device),
	gpusim_context_primary(device, out))

/* A primary context of the simulation lives as long as its process. */
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device)
{
	struct gpusim_call call = shim_begin(GPUSIM_FN_cuDevicePrimaryCtxRelease_v2);
	bool known = device >= 0 && device < gpusim_device_count();

	return gpusim_call_end(&call, known ? GPUSIM_OK : GPUSIM_INVALID_DEVICE);
}

CUresult cuGetErrorName(CUresult result, const char **out)
{
	struct gpusim_call call = shim_begin(GPUSIM_FN_cuGetErrorName);

	if (out)
		*out = gpusim_error_name(result, false);
	return gpusim_call_end(&call, out && *out ? GPUSIM_OK : GPUSIM_INVALID_VALUE);
}

CUresult cuGetErrorString(CUresult result, const char **out)
{
	struct gpusim_call call = shim_begin(GPUSIM_FN_cuGetErrorString);

	if (out)
		*out = gpusim_error_text(result);
	return gpusim_call_end(&call, out && *out ? GPUSIM_OK : GPUSIM_INVALID_VALUE);
}
