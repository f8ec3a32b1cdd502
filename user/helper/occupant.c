// SPDX-License-Identifier: BSD-3-Clause
/* CUPTI itself names no client before 13.0, and then only to who subscribes for good. */
#include "helper/occupant.h"

#include <link.h>
#include <string.h>

/* The first that is loaded, the likeliest first: a tool's own library before a framework's. */
static const struct {
	const char *library;	/* how its file's name begins */
	const char *name;
} clients[] = {
	{ "libToolsInjection", "probably Nsight Systems" },
	{ "libcuda-injection", "probably Nsight Compute" },
	{ "libhpcrun", "probably HPCToolkit" },
	{ "libparcagpu", "probably parcagpu" },
	{ "libtorch_cpu.so", "probably torch.profiler" },
	{ "xla_cuda_plugin", "probably JAX's profiler" },
	{ "libtensorflow", "probably TensorFlow's profiler" },
};
#define N_CLIENTS (sizeof(clients) / sizeof(clients[0]))

static int on_object(struct dl_phdr_info *info, size_t size, void *ctx)
{
	const char *slash = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;
	size_t *best = ctx;

	(void)size;
	for (size_t i = 0; slash && i < *best; i++)
		if (!strncmp(slash + 1, clients[i].library, strlen(clients[i].library)))
			*best = i;
	return 0;
}

const char *occupant_name(void)
{
	size_t best = N_CLIENTS;

	dl_iterate_phdr(on_object, &best);
	return best < N_CLIENTS ? clients[best].name : "another CUPTI client";
}
