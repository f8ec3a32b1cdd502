// SPDX-License-Identifier: BSD-3-Clause
/*
 * libcudart.so.13, the simulated runtime: its driver, the device and last error of each thread,
 * names of errors.
 */
#include "libcudart.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

#ifndef RUNTIME_VERSION
#define RUNTIME_VERSION 13000
#endif

enum { FLAG_PER_THREAD_STREAM = 2 };

struct runtime_driver runtime_driver;
struct runtime_streams runtime_legacy, runtime_per_thread;

static pthread_once_t loaded = PTHREAD_ONCE_INIT;
static int load_result = GPUSIM_INSUFFICIENT_DRIVER;
static __thread int device_of_thread;
static __thread int ready_device = -1; /* whose context is current here */
static __thread int last_error;

static const struct {
	const char *name;
	void **address;
	uint64_t flags;
} slots[] = {
#define ROW(name, function) { #name, (void **)&runtime_driver.name, 0 },
	RUNTIME_DRIVER_FUNCTIONS(ROW)
#undef ROW
#define ROW(name, function)                          \
	{ #name, (void **)&runtime_legacy.name, 0 }, \
		{ #name, (void **)&runtime_per_thread.name, FLAG_PER_THREAD_STREAM },
		RUNTIME_STREAM_FUNCTIONS(ROW)
#undef ROW
};

/* A real driver would take the simulation's functions for device code: refuse it. */
static void *open_driver(void)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);

	if (!library) {
		fprintf(stderr, "gpusim: %s\n", dlerror());
		return NULL;
	}
	if (!dlsym(library, "gpusim_write_truth")) {
		fprintf(stderr, "gpusim: the libcuda.so.1 found is not the simulated one\n");
		return NULL;
	}
	return library;
}

static __typeof__(cuGetProcAddress_v2) *get_address;

static void load(void)
{
	void *library = open_driver();
	size_t i;

	if (!library)
		return;
	get_address = dlsym(library, "cuGetProcAddress_v2");
	for (i = 0; i < sizeof(slots) / sizeof(slots[0]); i++)
		if (get_address(slots[i].name, slots[i].address, RUNTIME_VERSION, slots[i].flags,
				NULL))
			return;
	load_result = runtime_driver.cuInit(0);
}

void *runtime_driver_function(const char *name, uint64_t flags)
{
	void *found = NULL;

	if (get_address)
		get_address(name, &found, RUNTIME_VERSION, flags, NULL);
	return found;
}

int runtime_load(void)
{
	pthread_once(&loaded, load);
	return load_result;
}

int runtime_ready(void)
{
	CUcontext context;
	int result = runtime_load();

	if (result || ready_device == device_of_thread)
		return result;
	result = runtime_driver.cuDevicePrimaryCtxRetain(&context, device_of_thread);
	if (!result)
		result = runtime_driver.cuCtxSetCurrent(context);
	if (!result)
		ready_device = device_of_thread;
	return result;
}

int runtime_end(const struct gpusim_call *call, int result)
{
	if (result && result != GPUSIM_NOT_READY)
		last_error = result;
	return gpusim_call_end(call, result);
}

cudaError_t cudaGetDeviceCount(int *count)
{
	struct gpusim_call call = shim_begin(GPUSIM_FN_cudaGetDeviceCount);
	int result = runtime_load();

	if (!result)
		result = runtime_driver.cuDeviceGetCount(count);
	return runtime_end(&call, result);
}

cudaError_t cudaSetDevice(int device)
{
	struct gpusim_call call = shim_begin(GPUSIM_FN_cudaSetDevice);
	int before = device_of_thread;
	int result;

	device_of_thread = device;
	result = runtime_ready();
	if (result)
		device_of_thread = before;
	return runtime_end(&call, result);
}

cudaError_t cudaGetDevice(int *out)
{
	struct gpusim_call call = shim_begin(GPUSIM_FN_cudaGetDevice);

	if (out)
		*out = device_of_thread;
	return runtime_end(&call, out ? GPUSIM_OK : GPUSIM_INVALID_VALUE);
}

cudaError_t cudaDriverGetVersion(int *version)
{
	struct gpusim_call call = shim_begin(GPUSIM_FN_cudaDriverGetVersion);
	int result = runtime_load();

	if (!result)
		result = runtime_driver.cuDriverGetVersion(version);
	return runtime_end(&call, result);
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
	struct gpusim_call call = shim_begin(GPUSIM_FN_cudaRuntimeGetVersion);

	if (version)
		*version = RUNTIME_VERSION;
	return runtime_end(&call, version ? GPUSIM_OK : GPUSIM_INVALID_VALUE);
}

/* These two return an error that is not their own; it is their result, as a probe sees it. */
cudaError_t cudaGetLastError(void)
{
	struct gpusim_call call = shim_begin(GPUSIM_FN_cudaGetLastError);
	int result = last_error;

	last_error = GPUSIM_OK;
	return gpusim_call_end(&call, result);
}

SHIM(cudaError_t, cudaPeekAtLastError, (void), last_error)

const char *cudaGetErrorName(cudaError_t error)
{
	struct gpusim_call call = shim_begin(GPUSIM_FN_cudaGetErrorName);
	const char *name = gpusim_error_name(error, true);

	gpusim_call_end(&call, GPUSIM_OK);
	return name ? name : "unrecognized error code";
}

const char *cudaGetErrorString(cudaError_t error)
{
	struct gpusim_call call = shim_begin(GPUSIM_FN_cudaGetErrorString);
	const char *text = gpusim_error_text(error);

	gpusim_call_end(&call, GPUSIM_OK);
	return text ? text : "unrecognized error code";
}
