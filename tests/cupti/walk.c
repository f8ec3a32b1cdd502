// SPDX-License-Identifier: BSD-3-Clause
/*
 * walk LIBCUPTI: what records_measure finds in a real library, with no driver: the bytes of kernels,
 * copies, copies between devices, sets, graphs, memory and API records, in one line.
 */
#include <dlfcn.h>
#include <stdio.h>

#include "helper/records.h"

int main(int argc, char **argv)
{
	static const int kinds[] = { CUPTI_KERNEL, CUPTI_MEMCPY, CUPTI_MEMCPY_PEER, CUPTI_MEMSET,
				     CUPTI_GRAPH_TRACE, CUPTI_MEMORY2, CUPTI_RUNTIME };
	struct record_sizes sizes;
	record_next_fn next;
	void *lib;

	if (argc != 2)
		return 2;
	lib = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
	if (!lib) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	*(void **)&next = dlsym(lib, "cuptiActivityGetNextRecord");
	if (!next)
		return 1;
	records_measure(next, &sizes);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		printf("%s%u", i ? " " : "", sizes.bytes[kinds[i]]);
	putchar('\n');
	return 0;
}
