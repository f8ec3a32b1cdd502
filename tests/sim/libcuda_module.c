// SPDX-License-Identifier: BSD-3-Clause
/*
 * libcuda.so.1, the simulated driver: modules of device code and their functions. The code is not
 * looked at: every function that is asked for is there, and is known by a handle of its own.
 */
#include <stdlib.h>
#include <string.h>

#include "gpusim_trace.h"
#include "libcuda.h"

struct module {
	struct function *functions;
};

struct function {
	struct function *next;
	struct module *module;
	char name[]; /* a record of the function's work may still point to it: never freed */
};

enum {
	THREADS_PER_SM = 2048,
	CLUSTERS = 66,
	VARIABLE_BYTES = 4096,
};

static int load(struct module **out)
{
	if (!out)
		return GPUSIM_INVALID_VALUE;
	*out = calloc(1, sizeof(**out));
	return *out ? GPUSIM_OK : GPUSIM_OUT_OF_MEMORY;
}

static int get_function(struct function **out, struct module *module, const char *name)
{
	struct function *function;

	if (!out || !module || !name)
		return GPUSIM_INVALID_VALUE;
	for (function = module->functions; function; function = function->next)
		if (strcmp(function->name, name) == 0)
			break;
	if (!function) {
		function = malloc(sizeof(*function) + strlen(name) + 1);
		if (!function)
			return GPUSIM_OUT_OF_MEMORY;
		function->module = module;
		function->next = module->functions;
		strcpy(function->name, name);
		module->functions = function;
		gpusim_kernel_register(function, function->name);
	}
	*out = function;
	return GPUSIM_OK;
}

static int get_global(CUdeviceptr *out, size_t *bytes)
{
	uint64_t found = 0;
	int result = gpusim_memory_alloc(VARIABLE_BYTES, &found);

	if (result)
		return result;
	if (out)
		*out = found;
	if (bytes)
		*bytes = VARIABLE_BYTES;
	return GPUSIM_OK;
}

static int get_attribute(int *value, int attribute)
{
	static const int values[] = {
		[0] = 1024, [4] = 32, [5] = 90, [6] = 90, [8] = 49152, /* CU_FUNC_ATTRIBUTE_* */
	};

	if (!value || attribute < 0)
		return GPUSIM_INVALID_VALUE;
	*value = attribute < (int)(sizeof(values) / sizeof(values[0])) ? values[attribute] : 0;
	return GPUSIM_OK;
}

static int get_blocks(int *blocks, int threads)
{
	if (!blocks || threads <= 0)
		return GPUSIM_INVALID_VALUE;
	*blocks = THREADS_PER_SM / threads;
	return GPUSIM_OK;
}

static int get_clusters(int *clusters)
{
	if (!clusters)
		return GPUSIM_INVALID_VALUE;
	*clusters = CLUSTERS;
	return GPUSIM_OK;
}

SHIM_EXPORT(cuModuleLoad, (struct module **out, const char *file), load(out))
SHIM_EXPORT(cuModuleLoadData, (struct module **out, const void *image), load(out))
SHIM_EXPORT(cuModuleLoadDataEx, (struct module **out, const void *image, unsigned int count,
	int *options, void **values), load(out))
SHIM_EXPORT(cuModuleLoadFatBinary, (struct module **out, const void *image), load(out))
SHIM_EXPORT(cuModuleUnload, (struct module *module), module ? GPUSIM_OK : GPUSIM_INVALID_VALUE)
SHIM_EXPORT(cuModuleGetFunction, (struct function **out, struct module *module, const char *name),
	get_function(out, module, name))
SHIM_EXPORT(cuModuleGetGlobal_v2, (CUdeviceptr *out, size_t *bytes, struct module *module,
	const char *name), get_global(out, bytes))
SHIM_EXPORT(cuFuncGetAttribute, (int *value, int attribute, struct function *function),
	get_attribute(value, attribute))
SHIM_EXPORT(cuFuncSetAttribute, (struct function *function, int attribute, int value),
	function ? GPUSIM_OK : GPUSIM_INVALID_HANDLE)
SHIM_EXPORT(cuFuncSetCacheConfig, (struct function *function, int config),
	function ? GPUSIM_OK : GPUSIM_INVALID_HANDLE)
SHIM_EXPORT(cuKernelGetAttribute, (int *value, int attribute, struct function *function,
	CUdevice device), get_attribute(value, attribute))
SHIM_EXPORT(cuOccupancyMaxActiveBlocksPerMultiprocessor, (int *blocks, struct function *function,
	int threads, size_t shared_bytes), get_blocks(blocks, threads))
SHIM_EXPORT(cuOccupancyMaxActiveClusters, (int *clusters, struct function *function,
	const CUlaunchConfig *config), get_clusters(clusters))

/* Descriptions of tensors for the device, of 128 bytes, which no kernel reads. */
SHIM_EXPORT(cuTensorMapEncodeTiled, (void *map), map ? GPUSIM_OK : GPUSIM_INVALID_VALUE)
SHIM_EXPORT(cuTensorMapEncodeIm2col, (void *map), map ? GPUSIM_OK : GPUSIM_INVALID_VALUE)

/* Linking device code: there is no linker. */
SHIM_EXPORT(cuLinkCreate_v2, (unsigned int count, int *options, void **values, void **out),
	GPUSIM_NOT_SUPPORTED)
SHIM_EXPORT(cuLinkAddData_v2, (void *state, int type, void *data, size_t bytes), GPUSIM_NOT_SUPPORTED)
SHIM_EXPORT(cuLinkAddFile_v2, (void *state, int type, const char *path), GPUSIM_NOT_SUPPORTED)
SHIM_EXPORT(cuLinkComplete, (void *state, void **image, size_t *bytes), GPUSIM_NOT_SUPPORTED)
SHIM_EXPORT(cuLinkDestroy, (void *state), GPUSIM_NOT_SUPPORTED)
