/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Inside libcuda.so.1, the simulated driver: what its functions have in common with their twins for
 * the per-thread default stream. Inline, since every file is compiled twice into one library.
 */
#ifndef LIBCUDA_H
#define LIBCUDA_H

#include "shim.h"

#include "cuda_api.h"

static inline CUstream cuda_or_per_thread(CUstream stream)
{
	return stream ? stream : GPUSIM_STREAM_PER_THREAD;
}

/* A function of a stream, and its twin to which no stream means that of the thread. */
#define CUDA_TWINS(name, parameters, known_bytes, result)                      \
	SHIM_BYTES(CUresult, name, parameters, known_bytes, result)            \
	SHIM_BYTES(CUresult, name##_ptsz, parameters, known_bytes,             \
		   (stream = cuda_or_per_thread(stream), result))

static inline CUdeviceptr cuda_address(const void *memory)
{
	return (CUdeviceptr)(uintptr_t)memory;
}

struct cuda_way {
	enum gpusim_work_kind kind; /* 0: nothing for a device */
	bool pageable;
};

/* What a copy is by its addresses. */
static inline struct cuda_way cuda_direction(CUdeviceptr to, CUdeviceptr from)
{
	bool to_device = gpusim_memory_is_device(to);
	bool from_device = gpusim_memory_is_device(from);

	if (to_device && from_device)
		return (struct cuda_way){ GPUSIM_COPY_DTOD, false };
	if (to_device)
		return (struct cuda_way){ GPUSIM_COPY_HTOD, !gpusim_host_is_pinned(from) };
	if (from_device)
		return (struct cuda_way){ GPUSIM_COPY_DTOH, !gpusim_host_is_pinned(to) };
	return (struct cuda_way){ 0, false };
}

/*
 * Puts a copy or set on a stream; the caller says which kind the addresses must make. As in CUDA, a
 * copy of pageable memory is over when the call returns, but small ones to the device.
 */
static inline CUresult cuda_transfer(struct gpusim_call *call, enum gpusim_work_kind wanted,
				     struct cuda_way found, CUstream stream)
{
	struct gpusim_work work = { .kind = found.kind, .bytes = call->bytes,
				    .pageable = found.pageable };
	bool staged = found.kind == GPUSIM_COPY_HTOD && call->bytes <= GPUSIM_STAGED_BYTES;
	CUresult result;

	if (!call->bytes)
		return GPUSIM_OK;
	if (!found.kind || (wanted && wanted != found.kind))
		return GPUSIM_INVALID_VALUE;
	result = gpusim_submit(stream, &work);
	if (!result && found.pageable && !staged)
		result = gpusim_wait(stream, &work);
	return result;
}

/* The same; the host waits for it unless it stays within the device. */
static inline CUresult cuda_transfer_now(struct gpusim_call *call, CUstream stream,
					 enum gpusim_work_kind wanted, struct cuda_way found)
{
	struct gpusim_work work = { .kind = found.kind, .bytes = call->bytes,
				    .pageable = found.pageable };
	CUresult result;

	if (!call->bytes)
		return GPUSIM_OK;
	if (!found.kind || (wanted && wanted != found.kind))
		return GPUSIM_INVALID_VALUE;
	result = gpusim_submit(stream, &work);
	if (!result && found.kind != GPUSIM_COPY_DTOD)
		gpusim_wait(stream, &work);
	return result;
}

static inline CUresult cuda_set(struct gpusim_call *call, CUdeviceptr to, CUstream stream)
{
	struct cuda_way found = { gpusim_memory_is_device(to) ? GPUSIM_SET : 0, false };

	return cuda_transfer(call, GPUSIM_SET, found, stream);
}

static inline CUresult cuda_alloc(struct gpusim_call *call, CUdeviceptr *out)
{
	uint64_t found = 0;
	CUresult result = GPUSIM_INVALID_VALUE;

	if (out)
		result = call->function == GPUSIM_FN_cuMemAlloc_v2 ?
			 gpusim_memory_alloc(call->bytes, &found) :
			 gpusim_pool_alloc(call->bytes, &found);
	if (!result)
		*out = found;
	return result;
}

#endif
