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

static inline CUdeviceptr cuda_address(const void *memory)
{
	return (CUdeviceptr)(uintptr_t)memory;
}

/* What a copy is by its addresses; from host to host it is nothing for a device. */
static inline enum gpusim_work_kind cuda_direction(CUdeviceptr to, CUdeviceptr from)
{
	bool to_device = gpusim_memory_is_device(to);
	bool from_device = gpusim_memory_is_device(from);

	if (to_device)
		return from_device ? GPUSIM_COPY_DTOD : GPUSIM_COPY_HTOD;
	return from_device ? GPUSIM_COPY_DTOH : 0;
}

/* Puts a copy or set on a stream; the caller says which kind the addresses must make. */
static inline CUresult cuda_transfer(struct gpusim_call *call, enum gpusim_work_kind wanted,
				     enum gpusim_work_kind found, CUstream stream)
{
	struct gpusim_work work = { .kind = found, .bytes = call->bytes };

	if (!call->bytes)
		return GPUSIM_OK;
	if (!found || (wanted && wanted != found))
		return GPUSIM_INVALID_VALUE;
	return gpusim_submit(stream, &work);
}

/* The same; the host waits for it unless it stays within the device. */
static inline CUresult cuda_transfer_now(struct gpusim_call *call, CUstream stream,
					 enum gpusim_work_kind wanted, enum gpusim_work_kind found)
{
	struct gpusim_work work = { .kind = found, .bytes = call->bytes };
	CUresult result;

	if (!call->bytes)
		return GPUSIM_OK;
	if (!found || (wanted && wanted != found))
		return GPUSIM_INVALID_VALUE;
	result = gpusim_submit(stream, &work);
	if (!result && found != GPUSIM_COPY_DTOD)
		gpusim_wait(stream, &work);
	return result;
}

static inline CUresult cuda_set(struct gpusim_call *call, CUdeviceptr to, CUstream stream)
{
	enum gpusim_work_kind found = gpusim_memory_is_device(to) ? GPUSIM_SET : 0;

	return gpusim_call_end(call, cuda_transfer(call, GPUSIM_SET, found, stream));
}

static inline CUresult cuda_alloc(struct gpusim_call *call, CUdeviceptr *out)
{
	uint64_t found = 0;
	CUresult result = GPUSIM_INVALID_VALUE;

	if (out)
		result = gpusim_memory_alloc(call->bytes, &found);
	if (!result)
		*out = found;
	return gpusim_call_end(call, result);
}

#endif
