// SPDX-License-Identifier: BSD-3-Clause
/*
 * simcalls-dl: the runtime it opens while it runs.
 */
#include <dlfcn.h>
#include <stdio.h>

#include "simcalls.h"

const int simcalls_takes_path = 1;

static void *library;

int simcalls_open(const char *path)
{
	library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!library)
		fprintf(stderr, "simcalls: %s\n", dlerror());
	return library ? 0 : -1;
}

void *simcalls_symbol(const char *name)
{
	return dlsym(library, name);
}
