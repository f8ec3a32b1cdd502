// SPDX-License-Identifier: BSD-3-Clause
/*
 * libcudart.so.13, the simulated runtime: what devices are like, their peers and memory pools, and
 * what the runtime passes on of its driver.
 */
#include "libcudart.h"

#include <stdio.h>
#include <string.h>

/* The driver's numbers of attributes, which are the runtime's. */
enum {
	MAX_THREADS_PER_BLOCK = 1, MAX_BLOCK_X = 2, MAX_GRID_X = 5, SHARED_PER_BLOCK = 8,
	CONSTANT_BYTES = 9, WARP_SIZE = 10, MAX_PITCH = 11, REGISTERS_PER_BLOCK = 12,
	TEXTURE_ALIGNMENT = 14, PROCESSORS = 16, MAPS_HOST_MEMORY = 19, CONCURRENT_KERNELS = 31,
	ECC = 32, PCI_BUS = 33, BUS_WIDTH = 37, L2_BYTES = 38, THREADS_PER_PROCESSOR = 39,
	COPY_ENGINES = 40, UNIFIED_ADDRESSES = 41, MAJOR = 75, MINOR = 76, PRIORITIES = 78,
	SHARED_PER_PROCESSOR = 81, REGISTERS_PER_PROCESSOR = 82, MANAGED_MEMORY = 83,
	CONCURRENT_MANAGED = 89, PREEMPTION = 90, COOPERATIVE = 95, SHARED_PER_BLOCK_OPTIN = 97,
	HOST_REGISTER = 99, BLOCKS_PER_PROCESSOR = 106, RESERVED_SHARED = 111, POOLS = 115,
	CLUSTERS = 120,
};

struct device_properties {
	char name[256];
	CUuuid uuid;
	char luid[8];
	unsigned int luid_mask;
	size_t memory, shared_per_block;
	int registers_per_block, warp_size;
	size_t pitch;
	int threads_per_block, threads_dim[3], grid_size[3];
	size_t constant;
	int major, minor;
	size_t texture_alignment, texture_pitch_alignment;
	int processors, integrated, maps_host_memory;
	int textures[39]; /* and surfaces: their sizes */
	size_t surface_alignment;
	int concurrent_kernels, ecc, pci_bus, pci_device, pci_domain, tcc, copy_engines;
	int unified_addresses, bus_width, l2, persisting_l2, threads_per_processor, priorities;
	int global_l1, local_l1;
	size_t shared_per_processor;
	int registers_per_processor, managed, multi_board, board_group, host_atomics, pageable;
	int concurrent_managed, preemption, host_pointer, cooperative;
	size_t shared_per_block_optin;
	int host_tables, direct_managed, blocks_per_processor, window;
	size_t reserved_shared;
	int host_register, sparse, host_register_read_only, timeline, pools, rdma;
	unsigned int rdma_flush;
	int rdma_order;
	unsigned int pool_handles;
	int deferred, ipc_events, clusters, unified_functions, numa_config, numa, mps, host_numa;
	unsigned int pci_id, pci_subsystem;
	int multinode, reserved[56];
};
_Static_assert(sizeof(struct device_properties) == 1008, "ABI of cudaDeviceProp of 13");
_Static_assert(offsetof(struct device_properties, processors) == 384, "ABI of cudaDeviceProp");
_Static_assert(offsetof(struct device_properties, pci_bus) == 568, "ABI of cudaDeviceProp");
_Static_assert(offsetof(struct device_properties, pools) == 720, "ABI of cudaDeviceProp");

struct property {
	int attribute;
	size_t offset, bytes;
};

#define PROPERTY(number, member) \
	{ number, offsetof(struct device_properties, member), \
	  sizeof(((struct device_properties *)0)->member) }
static const struct property properties[] = {
	PROPERTY(SHARED_PER_BLOCK, shared_per_block),
	PROPERTY(REGISTERS_PER_BLOCK, registers_per_block),
	PROPERTY(WARP_SIZE, warp_size),
	PROPERTY(MAX_PITCH, pitch),
	PROPERTY(MAX_THREADS_PER_BLOCK, threads_per_block),
	PROPERTY(MAX_BLOCK_X, threads_dim[0]),
	PROPERTY(MAX_BLOCK_X + 1, threads_dim[1]),
	PROPERTY(MAX_BLOCK_X + 2, threads_dim[2]),
	PROPERTY(MAX_GRID_X, grid_size[0]),
	PROPERTY(MAX_GRID_X + 1, grid_size[1]),
	PROPERTY(MAX_GRID_X + 2, grid_size[2]),
	PROPERTY(CONSTANT_BYTES, constant),
	PROPERTY(MAJOR, major),
	PROPERTY(MINOR, minor),
	PROPERTY(TEXTURE_ALIGNMENT, texture_alignment),
	PROPERTY(PROCESSORS, processors),
	PROPERTY(MAPS_HOST_MEMORY, maps_host_memory),
	PROPERTY(CONCURRENT_KERNELS, concurrent_kernels),
	PROPERTY(ECC, ecc),
	PROPERTY(PCI_BUS, pci_bus),
	PROPERTY(COPY_ENGINES, copy_engines),
	PROPERTY(UNIFIED_ADDRESSES, unified_addresses),
	PROPERTY(BUS_WIDTH, bus_width),
	PROPERTY(L2_BYTES, l2),
	PROPERTY(THREADS_PER_PROCESSOR, threads_per_processor),
	PROPERTY(PRIORITIES, priorities),
	PROPERTY(SHARED_PER_PROCESSOR, shared_per_processor),
	PROPERTY(REGISTERS_PER_PROCESSOR, registers_per_processor),
	PROPERTY(MANAGED_MEMORY, managed),
	PROPERTY(CONCURRENT_MANAGED, concurrent_managed),
	PROPERTY(PREEMPTION, preemption),
	PROPERTY(COOPERATIVE, cooperative),
	PROPERTY(SHARED_PER_BLOCK_OPTIN, shared_per_block_optin),
	PROPERTY(BLOCKS_PER_PROCESSOR, blocks_per_processor),
	PROPERTY(RESERVED_SHARED, reserved_shared),
	PROPERTY(HOST_REGISTER, host_register),
	PROPERTY(POOLS, pools),
	PROPERTY(CLUSTERS, clusters),
};

static int get_property(struct device_properties *out, const struct property *property, int device)
{
	int value, result;
	size_t wide;

	result = runtime_driver.cuDeviceGetAttribute(&value, property->attribute, device);
	if (result)
		return result;
	wide = (size_t)value;
	if (property->bytes == sizeof(wide))
		memcpy((char *)out + property->offset, &wide, sizeof(wide));
	else
		memcpy((char *)out + property->offset, &value, sizeof(value));
	return GPUSIM_OK;
}

static int get_properties(struct device_properties *out, int device)
{
	size_t i;
	int result;

	if (!out)
		return GPUSIM_INVALID_VALUE;
	memset(out, 0, sizeof(*out));
	result = runtime_driver.cuDeviceGetName(out->name, sizeof(out->name), device);
	for (i = 0; !result && i < sizeof(properties) / sizeof(properties[0]); i++)
		result = get_property(out, &properties[i], device);
	if (!result)
		result = runtime_driver.cuDeviceGetUuid(&out->uuid, device);
	if (!result)
		result = runtime_driver.cuDeviceTotalMem(&out->memory, device);
	return result;
}

static int bus_id(char *text, int size, int device)
{
	int bus, result = runtime_driver.cuDeviceGetAttribute(&bus, PCI_BUS, device);

	if (!text || size <= 0)
		return GPUSIM_INVALID_VALUE;
	if (!result)
		snprintf(text, (size_t)size, "0000:%02x:00.0", bus);
	return result;
}

static int check_device(int device)
{
	return device >= 0 && device < gpusim_device_count() ? GPUSIM_OK : GPUSIM_INVALID_DEVICE;
}

static int can_access(int *out, int device, int peer)
{
	int result = check_device(device);

	if (!out)
		return GPUSIM_INVALID_VALUE;
	*out = device != peer;
	return result ? result : check_device(peer);
}

RUNTIME_EXPORT(cudaGetDeviceProperties, (struct device_properties *out, int device),
	get_properties(out, device))
RUNTIME_EXPORT(cudaDeviceGetAttribute, (int *value, int attribute, int device),
	runtime_driver.cuDeviceGetAttribute(value, attribute, device))
RUNTIME_EXPORT(cudaDeviceGetPCIBusId, (char *text, int size, int device),
	bus_id(text, size, device))
RUNTIME_EXPORT(cudaDeviceCanAccessPeer, (int *out, int device, int peer),
	can_access(out, device, peer))
RUNTIME_EXPORT(cudaDeviceEnablePeerAccess, (int peer, unsigned int flags), check_device(peer))

/* ---- memory pools: one for each device, of no limits ------------------------------------------- */

static int default_pool(void **pool, int device)
{
	static char pools[GPUSIM_MAX_DEVICES];

	if (!pool || check_device(device))
		return pool ? GPUSIM_INVALID_DEVICE : GPUSIM_INVALID_VALUE;
	*pool = &pools[device];
	return GPUSIM_OK;
}

static int get_nothing(uint64_t *value)
{
	if (!value)
		return GPUSIM_INVALID_VALUE;
	*value = 0;
	return GPUSIM_OK;
}

RUNTIME_EXPORT(cudaDeviceGetDefaultMemPool, (void **pool, int device), default_pool(pool, device))
RUNTIME_EXPORT(cudaMemPoolGetAttribute, (void *pool, int attribute, uint64_t *value),
	get_nothing(value))
RUNTIME_EXPORT(cudaMemPoolSetAttribute, (void *pool, int attribute, void *value), GPUSIM_OK)
RUNTIME_EXPORT(cudaMemPoolSetAccess, (void *pool, const void *accesses, size_t count), GPUSIM_OK)
RUNTIME_EXPORT(cudaMemPoolTrimTo, (void *pool, size_t bytes), GPUSIM_OK)
RUNTIME_EXPORT(cudaDeviceGetGraphMemAttribute, (int device, int attribute, uint64_t *value),
	get_nothing(value))
RUNTIME_EXPORT(cudaDeviceSetGraphMemAttribute, (int device, int attribute, void *value), GPUSIM_OK)

/* ---- the driver -------------------------------------------------------------------------------- */

/* A function that is not there is no error: the status says so. */
static int entry_point(const char *name, void **out, unsigned long long flags, int *status)
{
	enum { FOUND, NOT_FOUND };

	if (!name || !out)
		return GPUSIM_INVALID_VALUE;
	*out = runtime_driver_function(name, flags);
	if (status)
		*status = *out ? FOUND : NOT_FOUND;
	return GPUSIM_OK;
}

RUNTIME_EXPORT(cudaGetDriverEntryPointByVersion,
	(const char *name, void **out, unsigned int version, unsigned long long flags, int *status),
	entry_point(name, out, flags, status))
RUNTIME_EXPORT(cudaProfilerStart, (void), GPUSIM_OK)
RUNTIME_EXPORT(cudaProfilerStop, (void), GPUSIM_OK)
