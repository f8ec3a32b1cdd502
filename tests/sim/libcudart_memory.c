// SPDX-License-Identifier: BSD-3-Clause
/*
 * libcudart.so.13, the simulated runtime: memory, copies, sets. Twins are for the per-thread default
 * stream.
 */
#include "libcudart.h"

#include <string.h>

struct copy {
	void *to;
	const void *from;
	size_t bytes;
	int kind;
};

static CUdeviceptr address(const void *memory)
{
	return (CUdeviceptr)(uintptr_t)memory;
}

static int copy_on_host(const struct copy *c)
{
	memmove(c->to, c->from, c->bytes);
	return GPUSIM_OK;
}

static int copy_now(const struct runtime_streams *driver, const struct copy *c)
{
	switch (c->kind) {
	case cudaMemcpyHostToHost:
		return copy_on_host(c);
	case cudaMemcpyHostToDevice:
		return driver->cuMemcpyHtoD(address(c->to), c->from, c->bytes);
	case cudaMemcpyDeviceToHost:
		return driver->cuMemcpyDtoH(c->to, address(c->from), c->bytes);
	case cudaMemcpyDeviceToDevice:
		return driver->cuMemcpyDtoD(address(c->to), address(c->from), c->bytes);
	case cudaMemcpyDefault:
		return driver->cuMemcpy(address(c->to), address(c->from), c->bytes);
	default:
		return GPUSIM_INVALID_MEMCPY_DIRECTION;
	}
}

static int copy_later(const struct runtime_streams *driver, const struct copy *c, CUstream stream)
{
	switch (c->kind) {
	case cudaMemcpyHostToHost:
		return copy_on_host(c);
	case cudaMemcpyHostToDevice:
		return driver->cuMemcpyHtoDAsync(address(c->to), c->from, c->bytes, stream);
	case cudaMemcpyDeviceToHost:
		return driver->cuMemcpyDtoHAsync(c->to, address(c->from), c->bytes, stream);
	case cudaMemcpyDeviceToDevice:
		return driver->cuMemcpyDtoDAsync(address(c->to), address(c->from), c->bytes,
						 stream);
	case cudaMemcpyDefault:
		return driver->cuMemcpyAsync(address(c->to), address(c->from), c->bytes, stream);
	default:
		return GPUSIM_INVALID_MEMCPY_DIRECTION;
	}
}

/* A pointer of the runtime is an address of the driver; who wants no byte gets no address. */
static int alloc(void **out, size_t bytes)
{
	CUdeviceptr found = 0;
	int result = GPUSIM_INVALID_VALUE;

	if (out)
		result = bytes ? runtime_driver.cuMemAlloc(&found, bytes) : GPUSIM_OK;
	if (!result)
		*out = (void *)(uintptr_t)found;
	return result;
}

static int alloc_later(const struct runtime_streams *driver, void **out, size_t bytes,
		       CUstream stream)
{
	CUdeviceptr found = 0;
	int result = GPUSIM_INVALID_VALUE;

	if (out)
		result = bytes ? driver->cuMemAllocAsync(&found, bytes, stream) : GPUSIM_OK;
	if (!result)
		*out = (void *)(uintptr_t)found;
	return result;
}

static int free_unless_null(void *memory)
{
	return memory ? runtime_driver.cuMemFree(address(memory)) : GPUSIM_OK;
}

RUNTIME_CALL(cudaMemcpy, (void *to, const void *from, size_t bytes, int kind), bytes,
	     copy_now(&runtime_legacy, &(struct copy){ to, from, bytes, kind }))
RUNTIME_CALL(cudaMemcpy_ptds, (void *to, const void *from, size_t bytes, int kind), bytes,
	     copy_now(&runtime_per_thread, &(struct copy){ to, from, bytes, kind }))
RUNTIME_CALL(cudaMemcpyAsync,
	     (void *to, const void *from, size_t bytes, int kind, cudaStream_t stream), bytes,
	     copy_later(&runtime_legacy, &(struct copy){ to, from, bytes, kind }, stream))
RUNTIME_CALL(cudaMemcpyAsync_ptsz,
	     (void *to, const void *from, size_t bytes, int kind, cudaStream_t stream), bytes,
	     copy_later(&runtime_per_thread, &(struct copy){ to, from, bytes, kind }, stream))

RUNTIME_CALL(cudaMemset, (void *to, int value, size_t bytes), bytes,
	     runtime_legacy.cuMemsetD8(address(to), (unsigned char)value, bytes))
RUNTIME_CALL(cudaMemset_ptds, (void *to, int value, size_t bytes), bytes,
	     runtime_per_thread.cuMemsetD8(address(to), (unsigned char)value, bytes))
RUNTIME_CALL(cudaMemsetAsync, (void *to, int value, size_t bytes, cudaStream_t stream), bytes,
	     runtime_legacy.cuMemsetD8Async(address(to), (unsigned char)value, bytes, stream))
RUNTIME_CALL(cudaMemsetAsync_ptsz, (void *to, int value, size_t bytes, cudaStream_t stream), bytes,
	     runtime_per_thread.cuMemsetD8Async(address(to), (unsigned char)value, bytes, stream))

RUNTIME_CALL(cudaMalloc, (void **out, size_t bytes), bytes, alloc(out, bytes))
RUNTIME_CALL(cudaMallocAsync, (void **out, size_t bytes, cudaStream_t stream), bytes,
	     alloc_later(&runtime_legacy, out, bytes, stream))
RUNTIME_CALL(cudaMallocAsync_ptsz, (void **out, size_t bytes, cudaStream_t stream), bytes,
	     alloc_later(&runtime_per_thread, out, bytes, stream))
RUNTIME_CALL(cudaMallocHost, (void **out, size_t bytes), bytes,
	     runtime_driver.cuMemHostAlloc(out, bytes, 0))
RUNTIME_CALL(cudaHostAlloc, (void **out, size_t bytes, unsigned int flags), bytes,
	     runtime_driver.cuMemHostAlloc(out, bytes, flags))

RUNTIME_CALL(cudaFree, (void *memory), 0, free_unless_null(memory))
RUNTIME_CALL(cudaFreeAsync, (void *memory, cudaStream_t stream), 0,
	     runtime_legacy.cuMemFreeAsync(address(memory), stream))
RUNTIME_CALL(cudaFreeAsync_ptsz, (void *memory, cudaStream_t stream), 0,
	     runtime_per_thread.cuMemFreeAsync(address(memory), stream))
RUNTIME_CALL(cudaFreeHost, (void *memory), 0, runtime_driver.cuMemFreeHost(memory))
RUNTIME_CALL(cudaMemGetInfo, (size_t * free_bytes, size_t *total_bytes), 0,
	     runtime_driver.cuMemGetInfo(free_bytes, total_bytes))

/* ---- what a pointer is ------------------------------------------------------------------------- */

enum { NO_DEVICE = -2 };
enum { UNREGISTERED, HOST, DEVICE };

struct pointer_attributes {
	int type, device;
	void *on_device, *on_host;
	long reserved[8];
};
_Static_assert(sizeof(struct pointer_attributes) == 88, "ABI of cudaPointerAttributes");

static int get_attributes(struct pointer_attributes *out, void *memory)
{
	struct gpusim_allocation found;

	if (!out)
		return GPUSIM_INVALID_VALUE;
	memset(out, 0, sizeof(*out));
	out->type = UNREGISTERED;
	out->device = NO_DEVICE;
	out->on_host = memory;
	if (!gpusim_memory_find(address(memory), &found))
		return GPUSIM_OK;
	out->type = found.kind == GPUSIM_PINNED_MEMORY ? HOST : DEVICE;
	out->device = found.device;
	out->on_device = memory;
	if (out->type == DEVICE)
		out->on_host = NULL;
	return GPUSIM_OK;
}

RUNTIME_EXPORT(cudaPointerGetAttributes, (struct pointer_attributes *out, void *memory),
	get_attributes(out, memory))
RUNTIME_EXPORT_BYTES(cudaHostRegister, (void *memory, size_t bytes, unsigned int flags), bytes,
	gpusim_host_register(memory, bytes))
RUNTIME_EXPORT(cudaHostUnregister, (void *memory), gpusim_host_unregister(memory))
/* Page-locked: the host may follow a pointer to managed memory. */
RUNTIME_EXPORT_BYTES(cudaMallocManaged, (void **out, size_t bytes, unsigned int flags), bytes,
	gpusim_host_alloc(bytes, out))

/* ---- further copies ---------------------------------------------------------------------------- */

struct rows {
	size_t to_pitch, from_pitch, width, height;
};

/* One copy where the rows lie close, else as many as there are rows. */
static int copy_rows(struct copy c, const struct rows *rows, CUstream stream)
{
	size_t row;
	int result = GPUSIM_OK;

	if (rows->width > rows->to_pitch || rows->width > rows->from_pitch)
		return GPUSIM_INVALID_VALUE;
	c.bytes = rows->width * rows->height;
	if (rows->width == rows->to_pitch && rows->width == rows->from_pitch)
		return copy_later(&runtime_legacy, &c, stream);
	c.bytes = rows->width;
	for (row = 0; !result && row < rows->height; row++) {
		result = copy_later(&runtime_legacy, &c, stream);
		c.to = (char *)c.to + rows->to_pitch;
		c.from = (const char *)c.from + rows->from_pitch;
	}
	return result;
}

RUNTIME_EXPORT_BYTES(cudaMemcpy2DAsync,
	(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
	 size_t height, int kind, cudaStream_t stream), width * height,
	copy_rows((struct copy){ to, from, 0, kind },
		  &(struct rows){ to_pitch, from_pitch, width, height }, stream))
RUNTIME_EXPORT_BYTES(cudaMemcpyPeerAsync,
	(void *to, int to_device, const void *from, int from_device, size_t bytes,
	 cudaStream_t stream), bytes,
	runtime_legacy.cuMemcpyDtoDAsync(address(to), address(from), bytes, stream))

/* ---- memory and events of other processes ------------------------------------------------------ */

struct ipc_handle {
	char bytes[64];
};
#define UNSUPPORTED(name, parameters) RUNTIME_EXPORT(name, parameters, GPUSIM_NOT_SUPPORTED)
UNSUPPORTED(cudaIpcGetMemHandle, (struct ipc_handle *out, void *memory))
UNSUPPORTED(cudaIpcOpenMemHandle, (void **out, struct ipc_handle handle, unsigned int flags))
UNSUPPORTED(cudaIpcCloseMemHandle, (void *memory))
UNSUPPORTED(cudaIpcGetEventHandle, (struct ipc_handle *out, cudaEvent_t event))
UNSUPPORTED(cudaIpcOpenEventHandle, (cudaEvent_t * out, struct ipc_handle handle))
