// SPDX-License-Identifier: BSD-3-Clause
/* Attributes that an older driver lacks are unknown: 0. */
#include "helper/devices.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#include "gpuprof/cuda_numbers.h"

struct driver {
	int (*version)(int *version);
	int (*count)(int *count);
	int (*get)(int *device, int ordinal);
	int (*attribute)(int *value, int attribute, int device);
	int (*name)(char *name, int bytes, int device);
	int (*uuid)(void *uuid, int device);
	int (*memory)(size_t *bytes, int device);
};

static const struct {
	const char *name;
	size_t at;		/* in struct driver */
} functions[] = {
	{ "cuDriverGetVersion", offsetof(struct driver, version) },
	{ "cuDeviceGetCount", offsetof(struct driver, count) },
	{ "cuDeviceGet", offsetof(struct driver, get) },
	{ "cuDeviceGetAttribute", offsetof(struct driver, attribute) },
	{ "cuDeviceGetName", offsetof(struct driver, name) },
	{ "cuDeviceGetUuid_v2", offsetof(struct driver, uuid) },
	{ "cuDeviceTotalMem_v2", offsetof(struct driver, memory) },
};

static const struct {
	int attribute;
	size_t at;		/* a uint32_t in struct gp_ring_device */
} attributes[] = {
	{ GP_DEVICE_WARP_THREADS, offsetof(struct gp_ring_device, warp_threads) },
	{ GP_DEVICE_MULTIPROCESSORS, offsetof(struct gp_ring_device, multiprocessors) },
	{ GP_DEVICE_THREADS_PER_SM, offsetof(struct gp_ring_device, threads_per_sm) },
	{ GP_DEVICE_SHARED_PER_SM, offsetof(struct gp_ring_device, shared_per_sm) },
	{ GP_DEVICE_REGISTERS_PER_SM, offsetof(struct gp_ring_device, registers_per_sm) },
	{ GP_DEVICE_SHARED_PER_BLOCK, offsetof(struct gp_ring_device, shared_per_block) },
	{ GP_DEVICE_BLOCKS_PER_SM, offsetof(struct gp_ring_device, blocks_per_sm) },
	{ GP_DEVICE_SHARED_RESERVED, offsetof(struct gp_ring_device, shared_reserved) },
};

/* The driver that the process has loaded, never one of our own. */
static bool find_driver(struct driver *d)
{
	void *lib = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);

	if (!lib)
		return false;
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		void *at = dlsym(lib, functions[i].name);

		if (!at)
			return false;
		memcpy((char *)d + functions[i].at, &at, sizeof(at));
	}
	return true;
}

static uint32_t attribute(const struct driver *driver, int number, int device)
{
	int value = 0;

	return driver->attribute(&value, number, device) || value < 0 ? 0 : (uint32_t)value;
}

static void read_device(const struct driver *driver, int device, struct gp_ring_device *out)
{
	size_t bytes = 0;

	out->cc_major = (uint16_t)attribute(driver, GP_DEVICE_CC_MAJOR, device);
	out->cc_minor = (uint16_t)attribute(driver, GP_DEVICE_CC_MINOR, device);
	for (size_t i = 0; i < sizeof(attributes) / sizeof(attributes[0]); i++) {
		uint32_t value = attribute(driver, attributes[i].attribute, device);

		memcpy((char *)out + attributes[i].at, &value, sizeof(value));
	}
	if (!driver->memory(&bytes, device))
		out->memory_bytes = bytes;
	if (driver->uuid(out->uuid, device))
		memset(out->uuid, 0, sizeof(out->uuid));
}

bool devices_read(struct devices *d, struct names *names, struct helper_ring *r)
{
	struct driver driver;
	char name[256];
	int count = 0, version = 0, device;

	if (!find_driver(&driver) || driver.count(&count))
		return false;	/* CUDA starts: later */
	for (int i = 0; i < count && i < DEVICES_MAX; i++) {
		struct gp_ring_device *out = &d->v[i];

		*out = (struct gp_ring_device){ .device = (uint32_t)i };
		if (driver.get(&device, i))
			return false;
		read_device(&driver, device, out);
		memset(name, 0, sizeof(name));
		if (!driver.name(name, sizeof(name) - 1, device))
			out->name = names_of(names, r, name);
	}
	d->cuda_version = driver.version(&version) || version < 0 ? 0 : (uint32_t)version;
	d->n = count < DEVICES_MAX ? (uint32_t)count : DEVICES_MAX;
	d->known = true;
	return true;
}
