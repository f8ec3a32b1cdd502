// SPDX-License-Identifier: BSD-3-Clause
/*
 * Finds libnvidia-ml.so.1 as any program does, by the loader's own rules. It is never linked, and
 * never closed: a call may still be in it.
 */
#include "source/nvml/nvml_api.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#ifdef GPUPROF_STATIC

/* dlopen in a static program needs the very C library that it was linked with. */
int nvml_load(struct nvml_api *api, char *why, unsigned int why_bytes)
{
	(void)api;
	snprintf(why, why_bytes, "this gpuprof is linked statically and can load no " NVML_LIBRARY);
	return -ENOTSUP;
}

#else

static const struct {
	const char *symbol;
	size_t at;
	bool optional;
} functions[] = {
#define NVML_ROW(member, symbol, optional, arguments) \
	{ #symbol, offsetof(struct nvml_api, member), optional },
	NVML_FUNCTIONS(NVML_ROW)
	{ "nvmlErrorString", offsetof(struct nvml_api, error), false },
};

int nvml_load(struct nvml_api *api, char *why, unsigned int why_bytes)
{
	void *library = dlopen(NVML_LIBRARY, RTLD_NOW | RTLD_LOCAL);

	if (!library) {
		const char *error = dlerror();

		snprintf(why, why_bytes, "cannot load it: %s", error ? error : "unknown reason");
		return -ENOENT;
	}
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		void *at = dlsym(library, functions[i].symbol);

		if (!at && !functions[i].optional) {
			snprintf(why, why_bytes, "it is too old: it has no %s",
				 functions[i].symbol);
			return -ENOSYS;
		}
		memcpy((char *)api + functions[i].at, &at, sizeof(at));
	}
	return 0;
}

#endif
