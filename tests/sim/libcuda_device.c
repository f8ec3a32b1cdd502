// SPDX-License-Identifier: BSD-3-Clause
/*
 * libcuda.so.1, the simulated driver: start, devices, contexts, names of errors.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

#include "shim.h"

#include "cuda_api.h"

enum { DRIVER_VERSION = 13000 };

/* As the real driver when it starts, in a process whose environment asks for it. */
static void inject(void)
{
	const char *path = getenv("CUDA_INJECTION64_PATH");
	void *library = path && *path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
	int (*initialize)(void) = NULL;

	if (library)
		*(void **)&initialize = dlsym(library, "InitializeInjection");
	if (initialize)
		initialize();
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

	if (!result && !gpusim_device_count())
		result = GPUSIM_NO_DEVICE;
	return gpusim_call_end(&call, result);
}

CUresult cuDriverGetVersion(int *version)
{
	struct gpusim_call call = shim_begin(GPUSIM_FN_cuDriverGetVersion);

	if (version)
		*version = DRIVER_VERSION;
	return gpusim_call_end(&call, version ? GPUSIM_OK : GPUSIM_INVALID_VALUE);
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

	if (count)
		*count = gpusim_device_count();
	return gpusim_call_end(&call, count ? GPUSIM_OK : GPUSIM_INVALID_VALUE);
}

/* An H100's, of those that a launch's occupancy needs. */
CUresult cuDeviceGetAttribute(int *value, int attribute, CUdevice device)
{
	static const int values[] = {
		[8] = 49152, [10] = 32, [12] = 65536, [16] = 132, [39] = 2048, [75] = 9, [76] = 0,
		[81] = 233472, [82] = 65536, [97] = 232448, [106] = 32, [111] = 1024,
	};
	struct gpusim_call call = shim_begin(GPUSIM_FN_cuDeviceGetAttribute);
	CUresult result = GPUSIM_INVALID_VALUE;

	if (device < 0 || device >= gpusim_device_count()) {
		result = GPUSIM_INVALID_DEVICE;
	} else if (value && attribute > 0 && attribute < (int)(sizeof(values) / sizeof(values[0]))) {
		*value = values[attribute];
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
