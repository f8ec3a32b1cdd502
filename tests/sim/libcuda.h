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

/* A function that only programs made with CUDA's own headers call, so cuda_api.h has it not. */
#define SHIM_EXPORT(name, parameters, result)     \
	CUresult name parameters SHIM_NAME(name); \
	SHIM(CUresult, name, parameters, result)

static inline CUdeviceptr cuda_address(const void *memory)
{
	return (CUdeviceptr)(uintptr_t)memory;
}

/* What a copy is by its addresses; kind 0: nothing for a device. */
static inline struct gpusim_work cuda_direction(CUdeviceptr to, CUdeviceptr from)
{
	bool to_device = gpusim_memory_is_device(to);
	bool from_device = gpusim_memory_is_device(from);
	struct gpusim_work work = { .to = to, .from = from };

	if (to_device && from_device)
		work.kind = GPUSIM_COPY_DTOD;
	else if (to_device)
		work.kind = GPUSIM_COPY_HTOD;
	else if (from_device)
		work.kind = GPUSIM_COPY_DTOH;
	if (to_device != from_device)
		work.pageable = !gpusim_host_is_pinned(to_device ? from : to);
	return work;
}

/*
 * Puts a copy or set on a stream; the caller says which kind the addresses must make. As in CUDA, a
 * copy of pageable memory is over when the call returns, but small ones to the device.
 */
static inline CUresult cuda_transfer(struct gpusim_call *call, enum gpusim_work_kind wanted,
				     struct gpusim_work work, CUstream stream)
{
	bool staged = work.kind == GPUSIM_COPY_HTOD && call->bytes <= GPUSIM_STAGED_BYTES;
	CUresult result;

	work.bytes = call->bytes;
	if (!call->bytes)
		return GPUSIM_OK;
	if (!work.kind || (wanted && wanted != work.kind))
		return GPUSIM_INVALID_VALUE;
	result = gpusim_submit(stream, &work);
	if (!result && work.pageable && !staged)
		result = gpusim_wait(stream, &work);
	return result;
}

/* The same; the host waits for it unless it stays within the device. */
static inline CUresult cuda_transfer_now(struct gpusim_call *call, CUstream stream,
					 enum gpusim_work_kind wanted, struct gpusim_work work)
{
	CUresult result;

	work.bytes = call->bytes;
	if (!call->bytes)
		return GPUSIM_OK;
	if (!work.kind || (wanted && wanted != work.kind))
		return GPUSIM_INVALID_VALUE;
	result = gpusim_submit(stream, &work);
	if (!result && work.kind != GPUSIM_COPY_DTOD)
		gpusim_wait(stream, &work);
	return result;
}

/* So many times `size` bytes as make call->bytes. */
static inline CUresult cuda_set(struct gpusim_call *call, CUdeviceptr to, uint32_t value,
				uint32_t size, CUstream stream)
{
	struct gpusim_work work = { .to = to, .value = value, .value_bytes = size };

	work.kind = gpusim_memory_is_device(to) ? GPUSIM_SET : 0;
	return cuda_transfer(call, GPUSIM_SET, work, stream);
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
