// SPDX-License-Identifier: BSD-3-Clause
/* CUPTI's numbers became CUDA's with 13.0; before, those that were measured stand for what follows them. */
#include "helper/too_new.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpuprof/ring.h"

#define NUMBERED_AS_CUDA 10000u	/* 130001: CUDA 13.0 */

static const struct {
	uint32_t version;
	int cuda;		/* 1000 * major + 10 * minor, at least */
} measured[] = { { 26, 12080 }, { 22, 12040 }, { 18, 11080 } };

/* 0: unknown. */
static int cuda_of(uint32_t version, const char *path)
{
	const char *name = strstr(path, "libcupti.so.");

	if (version >= NUMBERED_AS_CUDA)
		return (int)(version / NUMBERED_AS_CUDA * 1000 + version / 100 % 100 * 10);
	for (size_t i = 0; i < sizeof(measured) / sizeof(measured[0]); i++)
		if (version >= measured[i].version)
			return measured[i].cuda;
	return version || !name ? 0 : atoi(name + strlen("libcupti.so.")) * 1000;
}

/* The driver's that the process has loaded; 0: unknown. */
static int cuda_of_driver(void)
{
	void *lib = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
	void *at = lib ? dlsym(lib, "cuDriverGetVersion") : NULL;
	int (*get)(int *version);
	int cuda = 0;

	if (!at)
		return 0;
	memcpy(&get, &at, sizeof(get));
	return get(&cuda) ? 0 : cuda;
}

bool too_new_say(char *out, size_t size, uint32_t version, const char *path)
{
	int cupti = cuda_of(version, path), driver = cuda_of_driver();

	if (!driver || cupti <= driver)
		return false;
	snprintf(out, size, "libcupti %d.%d" GP_REASON_TOO_NEW "%d.%d", cupti / 1000, cupti % 1000 / 10,
		 driver / 1000, driver % 1000 / 10);
	return true;
}
