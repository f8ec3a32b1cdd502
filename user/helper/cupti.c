// SPDX-License-Identifier: BSD-3-Clause
/*
 * Where libcupti may be, in the order of how sure it is that it is the one that the process uses. A
 * CUPTI newer than the driver does not work, an older one does: so newer names come last.
 */
#include "helper/cupti.h"

#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpuprof/ring.h"

struct function {
	const char *name;
	size_t at;		/* in struct cupti */
	bool needed;
};

#define NEEDED(name, member) { name, offsetof(struct cupti, member), true }
#define OPTIONAL(name, member) { name, offsetof(struct cupti, member), false }

static const struct function functions[] = {
	NEEDED("cuptiGetVersion", version),
	NEEDED("cuptiActivityRegisterCallbacks", register_callbacks),
	NEEDED("cuptiActivityEnable", enable),
	NEEDED("cuptiActivityDisable", disable),
	NEEDED("cuptiActivityFlushAll", flush_all),
	NEEDED("cuptiActivityGetNextRecord", next),
	NEEDED("cuptiActivityGetNumDroppedRecords", dropped),
	NEEDED("cuptiGetTimestamp", timestamp),
	OPTIONAL("cuptiGetResultString", result_string),
	OPTIONAL("cuptiSetThreadIdType", set_thread_id_type),
	OPTIONAL("cuptiSubscribe", subscribe),
	OPTIONAL("cuptiUnsubscribe", unsubscribe),
	OPTIONAL("cuptiEnableCallback", enable_callback),
	OPTIONAL("cuptiGetGraphNodeId", node_id),
	OPTIONAL("cuptiActivityEnableRuntimeApi", enable_runtime_api),
	OPTIONAL("cuptiActivityEnableDriverApi", enable_driver_api),
};

/* Relative to the folder of the CUDA runtime or driver that is mapped: a toolkit, a wheel of CUDA
 * 13, one of CUDA 12. */
static const char *const beside[] = { "", "../extras/CUPTI/lib64/", "../lib/",
				      "../../cuda_cupti/lib/" };

static const char *const names[] = { "libcupti.so.12", "libcupti.so.11.8", "libcupti.so.13",
				     "libcupti.so" };

struct mapped {
	char cupti[256];
	char cuda_dir[256];	/* with a slash at its end */
};

static void keep_path(char *out, size_t size, const char *path, size_t len)
{
	if (len >= size)
		return;
	memcpy(out, path, len);
	out[len] = '\0';
}

static int on_object(struct dl_phdr_info *info, size_t size, void *ctx)
{
	struct mapped *m = ctx;
	const char *slash = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;
	const char *base = slash ? slash + 1 : NULL;

	(void)size;
	if (!base)
		return 0;
	if (!strncmp(base, "libcupti.so", 11))
		keep_path(m->cupti, sizeof(m->cupti), info->dlpi_name, strlen(info->dlpi_name));
	else if (!strncmp(base, "libcudart.so", 12))
		keep_path(m->cuda_dir, sizeof(m->cuda_dir), info->dlpi_name,
			  (size_t)(base - info->dlpi_name));
	return 0;
}

static void *try(struct cupti *c, const char *dir, const char *name, int flags)
{
	void *lib;

	if (snprintf(c->path, sizeof(c->path), "%s%s", dir, name) >= (int)sizeof(c->path))
		return NULL;
	lib = dlopen(c->path, RTLD_NOW | RTLD_LOCAL | flags);
	return lib;
}

static void *find_library(struct cupti *c)
{
	struct mapped m = { .cupti = "" };
	/* not where it has more rights than its caller */
	const char *given = secure_getenv("GPUPROF_CUPTI");
	void *lib;

	dl_iterate_phdr(on_object, &m);
	c->was_mapped = *m.cupti;
	if (*m.cupti) {
		lib = try(c, "", m.cupti, RTLD_NOLOAD);
		if (lib)
			return lib;
	}
	if (given && *given)
		return try(c, "", given, 0);
	for (size_t d = 0; *m.cuda_dir && d < sizeof(beside) / sizeof(beside[0]); d++)
		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
			char dir[sizeof(m.cuda_dir) + 32];

			snprintf(dir, sizeof(dir), "%s%s", m.cuda_dir, beside[d]);
			lib = try(c, dir, names[i], 0);
			if (lib)
				return lib;
		}
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		lib = try(c, "", names[i], 0);
		if (lib)
			return lib;
	}
	return NULL;
}

const char *cupti_load(struct cupti *c)
{
	void *lib;

	memset(c, 0, sizeof(*c));
	lib = find_library(c);
	if (!lib)
		return GP_REASON_NO_CUPTI;
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		void *at = dlsym(lib, functions[i].name);

		if (!at && functions[i].needed)
			return "libcupti lacks a function";
		memcpy((char *)c + functions[i].at, &at, sizeof(at));
	}
	return NULL;
}

/* ---- newer than the driver ------------------------------------------------------------------ */

/* CUPTI's numbers became CUDA's with 13.0; before, those that were measured stand for what follows
 * them. */
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

bool cupti_describe_mismatch(char *out, size_t size, uint32_t version, const char *path)
{
	int cupti = cuda_of(version, path), driver = cuda_of_driver();

	if (!driver || cupti <= driver)
		return false;
	snprintf(out, size, "libcupti %d.%d" GP_REASON_TOO_NEW "%d.%d", cupti / 1000,
		 cupti % 1000 / 10, driver / 1000, driver % 1000 / 10);
	return true;
}

/*
 * ---- other clients of CUPTI in this process ----------------------------------------------------
 *
 * A guess by the loaded libraries: CUPTI itself names no client before 13.0, and then only to
 * permanent subscribers.
 */

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

static int find_client(struct dl_phdr_info *info, size_t size, void *ctx)
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

	dl_iterate_phdr(find_client, &best);
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
	return find_client(info, size, &v->best);
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
