// SPDX-License-Identifier: BSD-3-Clause
/*
 * simcalls: the runtime it is linked to.
 */
#include <dlfcn.h>
#include <string.h>

#include "gpusim_functions.h"
#include "simcalls.h"

const int simcalls_takes_path;

static const struct {
	const char *name;
	void *address;
} functions[] = {
	{ "__cudaLaunchKernel", (void *)__cudaLaunchKernel },
	{ "__cudaLaunchKernel_ptsz", (void *)__cudaLaunchKernel_ptsz },
#define ROW(name, class) { #name, (void *)(name) },
	GPUSIM_RUNTIME_DECLARED(ROW)
#undef ROW
};

int simcalls_open(const char *path)
{
	(void)path;
	return 0;
}

void *simcalls_symbol(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		if (strcmp(functions[i].name, name) == 0)
			return functions[i].address;
	return dlsym(RTLD_DEFAULT, name);
}
