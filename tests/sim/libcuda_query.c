// SPDX-License-Identifier: BSD-3-Clause
/*
 * libcuda.so.1, the simulated driver: what frameworks ask of pointers, contexts and streams.
 */
#include <string.h>

#include "libcuda.h"

/* Numbers of CUpointer_attribute. */
enum { POINTER_CONTEXT = 1, POINTER_TYPE, POINTER_ON_DEVICE, POINTER_ON_HOST, POINTER_DEVICE = 9,
       POINTER_START, POINTER_BYTES };
enum { TYPE_HOST = 1, TYPE_DEVICE };

static int get_pointer(void *out, int attribute, CUdeviceptr address)
{
	struct gpusim_allocation found;
	bool on_host;
	uint64_t word = 0;
	size_t bytes = sizeof(word);

	if (!out || !gpusim_memory_find(address, &found))
		return GPUSIM_INVALID_VALUE;
	on_host = found.kind == GPUSIM_PINNED_MEMORY;
	if (attribute == POINTER_ON_HOST && !on_host)
		return GPUSIM_INVALID_VALUE;
	switch (attribute) {
	case POINTER_CONTEXT:
		word = (uint64_t)(uintptr_t)gpusim_context_current();
		break;
	case POINTER_TYPE:
		word = on_host ? TYPE_HOST : TYPE_DEVICE;
		bytes = sizeof(int);
		break;
	case POINTER_ON_DEVICE:
	case POINTER_ON_HOST:
		word = address;
		break;
	case POINTER_DEVICE:
		word = (uint64_t)found.device;
		bytes = sizeof(int);
		break;
	case POINTER_START:
		word = found.address;
		break;
	case POINTER_BYTES:
		word = found.bytes;
		break;
	default: /* flags: a byte or an int of 0 */
		bytes = 1;
	}
	memcpy(out, &word, bytes);
	return GPUSIM_OK;
}

/* Of a pointer that is none all answers are 0, and it is no error. */
static int get_pointers(unsigned int count, const int *attributes, void **out, CUdeviceptr address)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		if (get_pointer(out[i], attributes[i], address))
			memset(out[i], 0, attributes[i] == POINTER_TYPE ? sizeof(int) : 1);
	return GPUSIM_OK;
}

static int get_range(CUdeviceptr *start, size_t *bytes, CUdeviceptr address)
{
	struct gpusim_allocation found;

	if (!gpusim_memory_find(address, &found))
		return GPUSIM_NOT_FOUND;
	if (start)
		*start = found.address;
	if (bytes)
		*bytes = found.bytes;
	return GPUSIM_OK;
}

SHIM_EXPORT(cuPointerGetAttribute, (void *out, int attribute, CUdeviceptr address),
	get_pointer(out, attribute, address))
SHIM_EXPORT(cuPointerGetAttributes, (unsigned int count, const int *attributes, void **out,
	CUdeviceptr address), get_pointers(count, attributes, out, address))
SHIM_EXPORT(cuMemGetAddressRange_v2, (CUdeviceptr *start, size_t *bytes, CUdeviceptr address),
	get_range(start, bytes, address))

/* ---- contexts ---------------------------------------------------------------------------------- */

static __thread CUcontext pushed[16];
static __thread unsigned int pushed_count;

static int push(CUcontext context)
{
	CUcontext before = gpusim_context_current();
	int result = gpusim_context_set_current(context);

	if (!result)
		pushed[pushed_count++ % 16] = before;
	return result;
}

static int pop(CUcontext *out)
{
	if (out)
		*out = gpusim_context_current();
	if (!pushed_count)
		return GPUSIM_INVALID_CONTEXT;
	return gpusim_context_set_current(pushed[--pushed_count % 16]);
}

static int get_limit(size_t *value)
{
	if (!value)
		return GPUSIM_INVALID_VALUE;
	*value = 1024;
	return GPUSIM_OK;
}

static int primary_state(CUdevice device, unsigned int *flags, int *active)
{
	if (!flags || !active)
		return GPUSIM_INVALID_VALUE;
	if (device < 0 || device >= gpusim_device_count())
		return GPUSIM_INVALID_DEVICE;
	*flags = 0;
	*active = gpusim_context_is_primary_made(device);
	return GPUSIM_OK;
}

SHIM_EXPORT(cuCtxPushCurrent_v2, (CUcontext context), push(context))
SHIM_EXPORT(cuCtxPopCurrent_v2, (CUcontext *out), pop(out))
SHIM_EXPORT(cuCtxGetLimit, (size_t *value, int limit), get_limit(value))
SHIM_EXPORT(cuCtxSetLimit, (int limit, size_t value), GPUSIM_OK)
SHIM_EXPORT(cuDevicePrimaryCtxGetState, (CUdevice device, unsigned int *flags, int *active),
	primary_state(device, flags, active))

/* ---- streams ----------------------------------------------------------------------------------- */

static int is_capturing(CUstream stream, int *status)
{
	struct gpusim_graph *graph;
	uint64_t id;
	int result = gpusim_capture_query(stream, &id, &graph);

	if (!status)
		return GPUSIM_INVALID_VALUE;
	*status = graph != NULL;
	return result;
}

static int stream_context(CUcontext *out)
{
	if (!out)
		return GPUSIM_INVALID_VALUE;
	*out = gpusim_context_current();
	return GPUSIM_OK;
}

SHIM_EXPORT(cuStreamIsCapturing, (CUstream stream, int *status), is_capturing(stream, status))
SHIM_EXPORT(cuStreamGetCtx, (CUstream stream, CUcontext *out), stream_context(out))
