// SPDX-License-Identifier: BSD-3-Clause
/*
 * libcuda.so.1, the simulated driver: cuGetProcAddress. GPUSIM_PROCADDR=export (default) hands out
 * the exported address, which a uprobe on the symbol sees; private a twin that it does not see.
 */
#include "shim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda_api.h"

enum { FLAG_PER_THREAD_STREAM = 2 };
enum { STATUS_FOUND = 0, STATUS_NOT_FOUND = 1 };

/* By their symbols: not each has a prototype. */
#define ROW(name, class)                                                          \
	extern const char exported_##name[] __asm__(#name);                       \
	extern const char private_##name[] __attribute__((visibility("hidden")));
GPUSIM_DRIVER_FUNCTIONS(ROW)
#undef ROW

static const struct {
	const char *name;
	const void *exported, *twin;
} addresses[] = {
#define ROW(name, class) { #name, exported_##name, private_##name },
	GPUSIM_DRIVER_FUNCTIONS(ROW)
#undef ROW
};

static void *find(const char *symbol, const char *suffix)
{
	const char *mode = getenv("GPUSIM_PROCADDR");
	bool twin = mode && strcmp(mode, "private") == 0;
	const void *found;
	char name[64];
	size_t i;

	snprintf(name, sizeof(name), "%s%s", symbol, suffix);
	for (i = 0; i < sizeof(addresses) / sizeof(addresses[0]); i++) {
		found = twin ? addresses[i].twin : addresses[i].exported;
		if (strcmp(addresses[i].name, name) == 0)
			return (void *)(uintptr_t)found;
	}
	return NULL;
}

/*
 * As documented, the plain name means its newest version: cuMemAlloc is cuMemAlloc_v2; and its twin
 * for the per-thread default stream, if it is asked for and there is one.
 */
CUresult cuGetProcAddress_v2(const char *symbol, void **out, int version, uint64_t flags,
			     int *status)
{
	static const char *const suffixes[] = {
		"_v2_ptsz", "_v2_ptds", "_ptsz", "_ptds", "_v2", "",
	};
	enum { FIRST_PLAIN = 4, SUFFIXES = sizeof(suffixes) / sizeof(suffixes[0]) };
	struct gpusim_call call = shim_begin(GPUSIM_FN_cuGetProcAddress_v2);
	size_t i = flags & FLAG_PER_THREAD_STREAM ? 0 : FIRST_PLAIN;

	(void)version;
	if (!symbol || !out)
		return gpusim_call_end(&call, GPUSIM_INVALID_VALUE);
	for (*out = NULL; !*out && i < SUFFIXES; i++)
		*out = find(symbol, suffixes[i]);
	if (status)
		*status = *out ? STATUS_FOUND : STATUS_NOT_FOUND;
	return gpusim_call_end(&call, *out ? GPUSIM_OK : GPUSIM_NOT_FOUND);
}
