// SPDX-License-Identifier: BSD-3-Clause
/*
 * libcudart.so.13, the simulated runtime: what compiled code brings along. Its kernels and variables,
 * what is asked of a kernel before its launch, the launch configuration between <<< and >>>.
 * The device code itself is not looked at.
 */
#include <pthread.h>

#include "gpusim_trace.h"
#include "libcudart.h"

enum {
	THREADS_PER_BLOCK = 1024,
	THREADS_PER_SM = 2048,
	BLOCKS_PER_SM = 32,
	WARP = 32,
	SHARED_PER_SM = 233472, /* bytes */
	SHARED_PER_BLOCK = 49152,
	RESERVED_SHARED = 1024, /* of each block */
	REGISTERS = 32,
	ARCHITECTURE = 90,
};

/* ---- before main ------------------------------------------------------------------------------- */

void **__cudaRegisterFatBinary(void *binary)
{
	static void *handle; /* one for all: nothing is asked of it */

	(void)binary;
	return &handle;
}

void __cudaRegisterFatBinaryEnd(void **handle)
{
	(void)handle;
}

void __cudaUnregisterFatBinary(void **handle)
{
	(void)handle;
}

void __cudaRegisterFunction(void **binary, const char *host_function, char *device_function,
			    const char *device_name, int thread_limit, void *thread, void *block,
			    void *block_size, void *grid_size, int *warp_size)
{
	gpusim_kernel_register(host_function, device_name);
}

void __cudaRegisterVar(void **handle, char *host_variable, char *device_address,
		       const char *device_name, int is_external, size_t bytes, int is_constant,
		       int is_global)
{
}

/* A kernel is known by the address of its host function. */
cudaError_t __cudaGetKernel(const void **kernel, const void *host_function)
{
	*kernel = host_function;
	return GPUSIM_OK;
}

/* ---- between <<< and >>> ----------------------------------------------------------------------- */

enum { CONFIGURATIONS = 16 };

static __thread struct {
	dim3 grid, block;
	size_t shared_bytes;
	cudaStream_t stream;
} pushed[CONFIGURATIONS];
static __thread unsigned int pushed_count;

unsigned int __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes,
					 cudaStream_t stream)
{
	unsigned int at = pushed_count % CONFIGURATIONS;

	pushed[at].grid = grid;
	pushed[at].block = block;
	pushed[at].shared_bytes = shared_bytes;
	pushed[at].stream = stream;
	pushed_count++;
	return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared_bytes,
				       cudaStream_t *stream)
{
	unsigned int at;

	if (!pushed_count)
		return GPUSIM_INVALID_CONFIGURATION;
	at = --pushed_count % CONFIGURATIONS;
	*grid = pushed[at].grid;
	*block = pushed[at].block;
	*shared_bytes = pushed[at].shared_bytes;
	*stream = pushed[at].stream;
	return GPUSIM_OK;
}

/* ---- kernels ----------------------------------------------------------------------------------- */

struct function_attributes {
	size_t shared, constant, local;
	int threads_per_block, registers, ptx, binary, cache_mode, dynamic_shared, carveout;
	int cluster[5], nonportable, reserved[16];
};
_Static_assert(sizeof(struct function_attributes) == 144, "ABI of cudaFuncAttributes");

static int get_attributes(struct function_attributes *out, const void *function)
{
	if (!out || !function)
		return GPUSIM_INVALID_VALUE;
	*out = (struct function_attributes){
		.threads_per_block = THREADS_PER_BLOCK, .registers = REGISTERS, .ptx = ARCHITECTURE,
		.binary = ARCHITECTURE, .dynamic_shared = SHARED_PER_BLOCK, .carveout = -1,
	};
	return GPUSIM_OK;
}

static int occupancy(int *blocks, int threads, size_t shared_bytes)
{
	int by_threads;
	size_t by_shared = SHARED_PER_SM / (shared_bytes + RESERVED_SHARED);

	if (!blocks || threads <= 0)
		return GPUSIM_INVALID_VALUE;
	by_threads = THREADS_PER_SM / ((threads + WARP - 1) / WARP * WARP);
	*blocks = by_threads < BLOCKS_PER_SM ? by_threads : BLOCKS_PER_SM;
	if (by_shared < (size_t)*blocks)
		*blocks = (int)by_shared;
	return GPUSIM_OK;
}

RUNTIME_EXPORT(cudaFuncGetAttributes, (struct function_attributes *out, const void *function),
	get_attributes(out, function))
RUNTIME_EXPORT(cudaFuncSetAttribute, (const void *function, int attribute, int value),
	function ? GPUSIM_OK : GPUSIM_INVALID_DEVICE_FUNCTION)
RUNTIME_EXPORT(cudaKernelSetAttributeForDevice,
	(const void *kernel, int attribute, int value, int device),
	kernel ? GPUSIM_OK : GPUSIM_INVALID_DEVICE_FUNCTION)
RUNTIME_EXPORT(cudaOccupancyMaxActiveBlocksPerMultiprocessor,
	(int *blocks, const void *function, int threads, size_t shared_bytes),
	occupancy(blocks, threads, shared_bytes))
RUNTIME_EXPORT(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags,
	(int *blocks, const void *function, int threads, size_t shared_bytes, unsigned int flags),
	occupancy(blocks, threads, shared_bytes))

/* ---- variables --------------------------------------------------------------------------------- */

enum { VARIABLES = 256, VARIABLE_BYTES = 65536 };

static struct {
	const void *host;
	uint64_t address;
} variables[VARIABLES];
static pthread_mutex_t variables_lock = PTHREAD_MUTEX_INITIALIZER;

/* Device memory for a variable, from when it is first asked for. */
static int find_variable(const void *host, uint64_t *address)
{
	int result = GPUSIM_INVALID_VALUE;
	size_t i;

	pthread_mutex_lock(&variables_lock);
	for (i = 0; i < VARIABLES && variables[i].host && variables[i].host != host; i++)
		;
	if (i < VARIABLES && host)
		result = variables[i].host ? GPUSIM_OK :
			 gpusim_memory_alloc(VARIABLE_BYTES, &variables[i].address);
	if (!result) {
		variables[i].host = host;
		*address = variables[i].address;
	}
	pthread_mutex_unlock(&variables_lock);
	return result;
}

static int variable_address(void **out, const void *host)
{
	uint64_t address;
	int result = out ? find_variable(host, &address) : GPUSIM_INVALID_VALUE;

	if (!result)
		*out = (void *)(uintptr_t)address;
	return result;
}

static int write_variable(const void *host, const void *from, size_t bytes, size_t offset, int kind)
{
	uint64_t address;
	int result = find_variable(host, &address);

	if (result)
		return result;
	if (offset > VARIABLE_BYTES || bytes > VARIABLE_BYTES - offset)
		return GPUSIM_INVALID_VALUE;
	if (kind == cudaMemcpyDeviceToDevice)
		return runtime_legacy.cuMemcpyDtoD(address + offset, (CUdeviceptr)(uintptr_t)from,
						   bytes);
	return runtime_legacy.cuMemcpyHtoD(address + offset, from, bytes);
}

RUNTIME_EXPORT(cudaGetSymbolAddress, (void **out, const void *host), variable_address(out, host))
RUNTIME_EXPORT_BYTES(cudaMemcpyToSymbol,
	(const void *host, const void *from, size_t bytes, size_t offset, int kind), bytes,
	write_variable(host, from, bytes, offset, kind))

/* ---- libraries of device code, loaded at run time ---------------------------------------------- */

#define UNSUPPORTED(name, parameters) RUNTIME_EXPORT(name, parameters, GPUSIM_NOT_SUPPORTED)
UNSUPPORTED(cudaLibraryLoadData, (void **library, const void *code, void *options, void **values,
	unsigned int n, void *library_options, void **library_values, unsigned int library_n))
UNSUPPORTED(cudaLibraryLoadFromFile, (void **library, const char *file, void *options, void **values,
	unsigned int n, void *library_options, void **library_values, unsigned int library_n))
UNSUPPORTED(cudaLibraryUnload, (void *library))
UNSUPPORTED(cudaLibraryGetGlobal, (void **address, size_t *bytes, void *library, const char *name))
UNSUPPORTED(cudaLibraryGetManaged, (void **address, size_t *bytes, void *library, const char *name))
UNSUPPORTED(cudaLibraryGetKernel, (void **kernel, void *library, const char *name))
UNSUPPORTED(cudaLibraryGetKernelCount, (unsigned int *count, void *library))
UNSUPPORTED(cudaLibraryGetUnifiedFunction, (void **function, void *library, const char *symbol))
