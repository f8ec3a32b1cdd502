// SPDX-License-Identifier: BSD-3-Clause
/* A table of names; twins of another default stream are the same function. */
#include "facts/memory_calls.h"

#include <stddef.h>
#include <string.h>

#define ALLOC(name, kind) { #name, { MEMORY_ALLOC, MEMORY_KIND_##kind } }
#define FREE(name, kind) { #name, { MEMORY_FREE, MEMORY_KIND_##kind } }
#define RESET(name) { #name, { MEMORY_CALL_RESET, MEMORY_KIND_UNKNOWN } }

static const struct {
	const char *name;
	struct memory_call is;
} calls[] = {
	ALLOC(cudaMalloc, DEVICE), ALLOC(cudaMalloc3D, DEVICE), ALLOC(cudaMallocPitch, DEVICE),
	ALLOC(cudaMallocManaged, MANAGED), ALLOC(cudaMallocHost, PINNED),
	ALLOC(cudaHostAlloc, PINNED), ALLOC(cudaHostRegister, PINNED),
	ALLOC(cudaMallocAsync, POOL), ALLOC(cudaMallocFromPoolAsync, POOL),
	ALLOC(cudaMallocArray, ARRAY), ALLOC(cudaMalloc3DArray, ARRAY),
	ALLOC(cudaMallocMipmappedArray, ARRAY),
	ALLOC(cuMemAlloc_v2, DEVICE), ALLOC(cuMemAllocPitch_v2, DEVICE),
	ALLOC(cuMemAllocManaged, MANAGED), ALLOC(cuMemAllocHost, PINNED),
	ALLOC(cuMemAllocHost_v2, PINNED), ALLOC(cuMemHostAlloc, PINNED),
	ALLOC(cuMemHostRegister, PINNED), ALLOC(cuMemHostRegister_v2, PINNED),
	ALLOC(cuMemAllocAsync, POOL), ALLOC(cuMemAllocFromPoolAsync, POOL),
	ALLOC(cuArrayCreate, ARRAY), ALLOC(cuArrayCreate_v2, ARRAY),
	ALLOC(cuArray3DCreate, ARRAY), ALLOC(cuArray3DCreate_v2, ARRAY),
	ALLOC(cuMipmappedArrayCreate, ARRAY), ALLOC(cuMemCreate, PHYSICAL),
	FREE(cudaFree, DEVICE), FREE(cudaFreeAsync, POOL), FREE(cudaFreeHost, PINNED),
	FREE(cudaHostUnregister, PINNED), FREE(cudaFreeArray, ARRAY),
	FREE(cudaFreeMipmappedArray, ARRAY), FREE(cuMemFree_v2, DEVICE),
	FREE(cuMemFreeAsync, POOL), FREE(cuMemFreeHost, PINNED),
	FREE(cuMemHostUnregister, PINNED), FREE(cuArrayDestroy, ARRAY),
	FREE(cuMipmappedArrayDestroy, ARRAY), FREE(cuMemRelease, PHYSICAL),
	RESET(cudaDeviceReset), RESET(cuDevicePrimaryCtxReset), RESET(cuDevicePrimaryCtxReset_v2),
};

static size_t base_length(const char *name)
{
	size_t len = strlen(name);

	return len > 5 && !strcmp(name + len - 5, "_ptsz") ? len - 5 : len;
}

struct memory_call memory_call_of(const struct func *fn)
{
	size_t len;

	if (!(1u << fn->class & MEMORY_CALL_CLASSES))
		return (struct memory_call){ 0, 0 };
	len = base_length(fn->name);
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (!strncmp(calls[i].name, fn->name, len) && !calls[i].name[len])
			return calls[i].is;
	return (struct memory_call){ 0, 0 };
}

const char *memory_kind_name(unsigned int kind)
{
	static const char *const names[MEMORY_KIND_END] = {
		[MEMORY_KIND_UNKNOWN] = "unknown", [MEMORY_KIND_DEVICE] = "device",
		[MEMORY_KIND_PINNED] = "pinned", [MEMORY_KIND_MANAGED] = "managed",
		[MEMORY_KIND_POOL] = "pool", [MEMORY_KIND_ARRAY] = "array",
		[MEMORY_KIND_STATIC] = "static", [MEMORY_KIND_PHYSICAL] = "physical",
	};

	return kind < MEMORY_KIND_END ? names[kind] : "?";
}

bool memory_kind_is_device(unsigned int kind)
{
	static const bool is[MEMORY_KIND_END] = {
		[MEMORY_KIND_DEVICE] = true, [MEMORY_KIND_POOL] = true, [MEMORY_KIND_ARRAY] = true,
		[MEMORY_KIND_PHYSICAL] = true,
	};

	return kind < MEMORY_KIND_END && is[kind];
}
