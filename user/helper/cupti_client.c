// SPDX-License-Identifier: BSD-3-Clause
/* CUPTI itself names no client before 13.0, and then only to permanent subscribers. */
#include "helper/cupti_client.h"

#include <link.h>
#include <stdbool.h>
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

#define LIBCUPTI "libcupti.so"

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

const char *cupti_client_name(void)
{
	size_t best = N_CLIENTS;

	dl_iterate_phdr(on_object, &best);
	return best < N_CLIENTS ? clients[best].name : "another CUPTI client";
}

/* ---- possible clients ----------------------------------------------------------------------- */

struct visit {
	unsigned long long loads;	/* of objects, ever */
	size_t best;
	bool linked;
};

/* Relocated where the loader does that. */
static const char *strings_of(const struct dl_phdr_info *info, const ElfW(Dyn) *dynamic)
{
	for (; dynamic->d_tag != DT_NULL; dynamic++)
		if (dynamic->d_tag == DT_STRTAB)
			return (const char *)(dynamic->d_un.d_ptr < info->dlpi_addr ?
					      dynamic->d_un.d_ptr + info->dlpi_addr :
					      dynamic->d_un.d_ptr);
	return NULL;
}

static bool needs_cupti(const struct dl_phdr_info *info)
{
	for (unsigned int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Dyn) *d = (const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
		const char *strings = info->dlpi_phdr[i].p_type == PT_DYNAMIC ?
				      strings_of(info, d) : NULL;

		for (; strings && d->d_tag != DT_NULL; d++)
			if (d->d_tag == DT_NEEDED &&
			    !strncmp(strings + d->d_un.d_val, LIBCUPTI, strlen(LIBCUPTI)))
				return true;
	}
	return false;
}

static int on_visit(struct dl_phdr_info *info, size_t size, void *ctx)
{
	struct visit *v = ctx;

	if (info->dlpi_adds == v->loads)
		return 1;	/* nothing was loaded since the last time */
	v->linked |= needs_cupti(info);
	return on_object(info, size, &v->best);
}

static int on_loads(struct dl_phdr_info *info, size_t size, void *ctx)
{
	(void)size;
	*(unsigned long long *)ctx = info->dlpi_adds;
	return 1;
}

const char *cupti_client_expected(void)
{
	static struct visit last = { .best = N_CLIENTS };
	unsigned long long loads = 0;

	/* Before, so that a library loaded meanwhile is found the next time. */
	dl_iterate_phdr(on_loads, &loads);
	dl_iterate_phdr(on_visit, &last);
	last.loads = loads;
	return last.best < N_CLIENTS ? clients[last.best].name :
	       last.linked ? "what is linked with libcupti" : NULL;
}
