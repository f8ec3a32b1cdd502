// SPDX-License-Identifier: BSD-3-Clause
/*
 * As CUDA itself loads one; it stays loaded. One that is missing or fails changes nothing. A program that
 * has more rights than its caller (set-user-ID) loads none that the caller names.
 */
#include "helper/chain.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpuprof/ring.h"

void chain_load(char *out, size_t size)
{
	const char *path = secure_getenv("GPUPROF_CHAIN_INJECTION");
	int (*initialize)(void) = NULL;
	void *library, *at;

	*out = '\0';
	if (!path || !*path)
		return;
	library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	at = library ? dlsym(library, "InitializeInjection") : NULL;
	memcpy(&initialize, &at, sizeof(at));
	snprintf(out, size, "%s", !library ? "it cannot be loaded" :
		 !initialize ? "it has no InitializeInjection" : GP_CHAIN_LOADED);
	if (initialize && !initialize())
		snprintf(out, size, "its InitializeInjection failed");
}
