// SPDX-License-Identifier: BSD-3-Clause
/*
 * Stands in for libcuda.so.1 before a real CUPTI, which it never satisfies: has what CUPTI 13.2 and
 * later look up when they begin, and refuses the tables that they ask for next. Environment:
 * DRIVER_VERSION=13000, DRIVER_DEVICES=1, DRIVER_TABLE=granted (the first table, empty).
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

enum { NOT_INITIALIZED = 3, NO_DEVICE = 100, NOT_FOUND = 500 };

static int has_begun;

int cuInit(unsigned int flags);
int cuDriverGetVersion(int *version);
int cuDeviceGetCount(int *count);
int cuDeviceGet(int *device, int ordinal);
int cuDeviceGetAttribute(int *value, int attribute, int device);
int cuDeviceGetPCIBusId(char *id, int bytes, int device);
int cuGetExportTable(const void **table, const void *id);

static int number(const char *name, int usual)
{
	const char *value = getenv(name);

	return value ? atoi(value) : usual;
}

/* As the real one: loads what the environment names, while it is not initialised yet. */
int cuInit(unsigned int flags)
{
	const char *path = getenv("CUDA_INJECTION64_PATH");
	void *library = path && !has_begun ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
	void *at = library ? dlsym(library, "InitializeInjection") : NULL;
	int (*initialize)(void);

	memcpy(&initialize, &at, sizeof(at));
	if (initialize)
		initialize();
	has_begun = 1;
	return flags || number("DRIVER_DEVICES", 1) ? 0 : NO_DEVICE;
}

int cuDriverGetVersion(int *version)
{
	*version = number("DRIVER_VERSION", 13000);
	return 0;
}

int cuDeviceGetCount(int *count)
{
	*count = number("DRIVER_DEVICES", 1);
	return has_begun ? 0 : NOT_INITIALIZED;
}

int cuDeviceGet(int *device, int ordinal)
{
	*device = ordinal;
	return 0;
}

int cuDeviceGetAttribute(int *value, int attribute, int device)
{
	*value = attribute - attribute + device - device;
	return 0;
}

int cuDeviceGetPCIBusId(char *id, int bytes, int device)
{
	memset(id, 0, (size_t)bytes);
	return device - device;
}

int cuGetExportTable(const void **table, const void *id)
{
	static const unsigned char first[] = { 0x7c, 0xb6, 0x3f, 0x9b, 0x9c, 0xa4, 0x8e, 0x42,
					       0xa4, 0x84, 0xbe, 0xb6, 0x6e, 0x6a, 0xed, 0x7f };
	static const size_t empty = sizeof(empty);

	if (!getenv("DRIVER_TABLE") || memcmp(id, first, sizeof(first)))
		return NOT_FOUND;
	*table = &empty;
	return 0;
}
