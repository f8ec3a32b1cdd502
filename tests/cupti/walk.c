// SPDX-License-Identifier: BSD-3-Clause
/*
 * walk LIBCUPTI: how far a real library steps over records, with no driver, from 13.2 on with one that
 * it can begin with (tests/cupti/driver.c): the bytes of kernels, copies, copies between devices, sets,
 * graphs, memory and API records, in one line. Where it can say the size itself (13.2), and says
 * another one, that follows.
 */
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "helper/records.h"

#define RECORD_MAX 512	/* larger than any record that is known */

/* 0: it does not step. */
static unsigned int measure(record_next_fn next, uint32_t kind)
{
	_Alignas(8) uint8_t buffer[2 * RECORD_MAX];
	void *first = NULL, *second = NULL;

	memset(buffer, 0, sizeof(buffer));
	for (size_t at = 0; at + sizeof(kind) <= sizeof(buffer); at += 8)
		memcpy(buffer + at, &kind, sizeof(kind));
	if (next(buffer, sizeof(buffer), &first) || first != buffer)
		return 0;
	second = first;
	return next(buffer, sizeof(buffer), &second) ? 0 : (unsigned int)((uint8_t *)second - buffer);
}

typedef int (*struct_size_fn)(uint32_t kind, uint32_t version, size_t *bytes);

static void print(void *lib, record_next_fn next, uint32_t kind)
{
	unsigned int steps = measure(next, kind);
	int (*get_version)(uint32_t *version);
	struct_size_fn struct_size;
	uint32_t version = 0;
	size_t bytes = 0;

	printf("%u", steps);
	*(void **)&get_version = dlsym(lib, "cuptiGetVersion");
	*(void **)&struct_size = dlsym(lib, "cuptiActivityGetStructSize");
	if (!struct_size || !get_version)
		return;
	if (get_version(&version) || struct_size(kind, version, &bytes) || bytes != steps)
		printf("!=%zu", bytes);
}

int main(int argc, char **argv)
{
	static const uint32_t kinds[] = { CUPTI_KERNEL, CUPTI_MEMCPY, CUPTI_MEMCPY_PEER, CUPTI_MEMSET,
				     CUPTI_GRAPH_TRACE, CUPTI_MEMORY2, CUPTI_RUNTIME };
	record_next_fn next;
	void *lib;

	if (argc != 2)
		return 2;
	dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
	lib = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
	if (!lib) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	*(void **)&next = dlsym(lib, "cuptiActivityGetNextRecord");
	if (!next)
		return 1;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (i)
			putchar(' ');
		print(lib, next, kinds[i]);
	}
	putchar('\n');
	return 0;
}
