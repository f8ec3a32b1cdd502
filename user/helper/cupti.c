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

#define N(list) (sizeof(list) / sizeof((list)[0]))

#define NEEDED(name, member) { name, offsetof(struct cupti, member), true }
#define OPTIONAL(name, member) { name, offsetof(struct cupti, member), false }

static const struct {
	const char *name;
	size_t at;		/* in struct cupti */
	bool needed;
} functions[] = {
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
	OPTIONAL("cuptiGetCallbackName", callback_name),
	OPTIONAL("cuptiActivityEnableAndDump", enable_and_dump),
	OPTIONAL("cuptiActivityGetAttribute", get_attribute),
	OPTIONAL("cuptiActivitySetAttribute", set_attribute),
	OPTIONAL("cuptiActivityGetEnabledKinds", enabled_kinds),
};

/* Relative to the folder of the CUDA runtime or driver that is mapped: a toolkit, a wheel of CUDA
 * 13, one of CUDA 12. */
static const char *const beside[] = { "", "../extras/CUPTI/lib64/", "../lib/",
				      "../../cuda_cupti/lib/" };

/* The older first: a CUPTI newer than the driver does not work. For programs of CUDA 13 its own
 * comes first, since CUPTI 12 does not know their functions. */
static const char *const names[] = { "libcupti.so.12", "libcupti.so.11.8", "libcupti.so.13",
				     "libcupti.so" };
#define NAME_13 2

struct mapped {
	char cupti[256];
	bool is_fit;		/* it has the runtime's major version, and is no tool's own */
	char cuda_dir[256];	/* with a slash at its end */
	int major;		/* of the runtime; 0: none is mapped */
};

static int on_runtime(struct dl_phdr_info *info, size_t size, void *ctx)
{
	struct mapped *m = ctx;
	const char *slash = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;
	size_t dir = slash ? (size_t)(slash + 1 - info->dlpi_name) : 0;

	(void)size;
	if (!slash || strncmp(slash, "/libcudart.so", 13) || dir >= sizeof(m->cuda_dir))
		return 0;
	snprintf(m->cuda_dir, sizeof(m->cuda_dir), "%.*s", (int)dir, info->dlpi_name);
	m->major = slash[13] == '.' ? atoi(slash + 14) : 0;
	return 1;
}

/* Of several the first that fits: Triton's wheel has one of its own, mapped later. */
static int on_cupti(struct dl_phdr_info *info, size_t size, void *ctx)
{
	struct mapped *m = ctx;
	const char *slash = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;
	bool is_fit;

	(void)size;
	if (!slash || strncmp(slash, "/libcupti.so", 12) ||
	    strlen(info->dlpi_name) >= sizeof(m->cupti))
		return 0;
	is_fit = !strstr(info->dlpi_name, "/triton/") &&
		 (!m->major || (slash[12] == '.' && atoi(slash + 13) == m->major));
	if (!*m->cupti || (is_fit && !m->is_fit))
		strcpy(m->cupti, info->dlpi_name);
	m->is_fit |= is_fit;
	return 0;
}

static void *try(struct cupti *c, const char *dir, const char *name, int flags)
{
	if (snprintf(c->path, sizeof(c->path), "%s%s", dir, name) >= (int)sizeof(c->path))
		return NULL;
	return dlopen(c->path, RTLD_NOW | RTLD_LOCAL | flags);
}

static void *try_names(struct cupti *c, const char *dir, int major)
{
	void *lib = major >= 13 ? try(c, dir, names[NAME_13], 0) : NULL;

	for (size_t i = 0; !lib && i < N(names); i++)
		lib = try(c, dir, names[i], 0);
	return lib;
}

static void *find_library(struct cupti *c)
{
	struct mapped m = { .cupti = "" };
	/* not where it has more rights than its caller */
	const char *given = secure_getenv("GPUPROF_CUPTI");
	char dir[sizeof(m.cuda_dir) + 32];
	void *lib = NULL;

	dl_iterate_phdr(on_runtime, &m);
	dl_iterate_phdr(on_cupti, &m);
	c->was_mapped = *m.cupti;
	if (*m.cupti)
		lib = try(c, "", m.cupti, RTLD_NOLOAD);
	if (!lib && given && *given)
		return try(c, "", given, 0);
	for (size_t d = 0; !lib && *m.cuda_dir && d < N(beside); d++) {
		snprintf(dir, sizeof(dir), "%s%s", m.cuda_dir, beside[d]);
		lib = try_names(c, dir, m.major);
	}
	return lib ? lib : try_names(c, "", m.major);
}

const char *cupti_load(struct cupti *c)
{
	void *lib;

	memset(c, 0, sizeof(*c));
	lib = find_library(c);
	if (!lib)
		return GP_REASON_NO_CUPTI;
	for (size_t i = 0; i < N(functions); i++) {
		void *at = dlsym(lib, functions[i].name);

		if (!at && functions[i].needed)
			return "libcupti lacks a function";
		memcpy((char *)c + functions[i].at, &at, sizeof(at));
	}
	/* 13.2 has the first _v2 functions, 13.3 this one. */
	c->overflows = dlsym(lib, "cuptiActivityEnable_v2") &&
		       !dlsym(lib, "cuptiActivityGetNextRecord_v2");
	return NULL;
}

/* ---- newer than the driver ------------------------------------------------------------------ */

/* CUPTI's numbers became CUDA's with 13.0; before, those that were measured stand for what follows
 * them. */
#define NUMBERED_AS_CUDA 10000u	/* 130001: CUDA 13.0 */
#define CUDA_NOT_INITIALIZED 3	/* CUDA_ERROR_NOT_INITIALIZED */

static const struct {
	uint32_t version;
	int cuda;		/* 1000 * major + 10 * minor, at least */
} measured[] = { { 27, 12090 }, { 26, 12080 }, { 22, 12040 }, { 18, 11080 } };

/* 0: unknown. */
static int cuda_of(uint32_t version, const char *path)
{
	const char *name = strstr(path, "libcupti.so.");

	if (version >= NUMBERED_AS_CUDA)
		return (int)(version / NUMBERED_AS_CUDA * 1000 + version / 100 % 100 * 10);
	for (size_t i = 0; i < N(measured); i++)
		if (version >= measured[i].version)
			return measured[i].cuda;
	return version || !name ? 0 : atoi(name + strlen("libcupti.so.")) * 1000;
}

/* Of the driver that the process has loaded; NULL: it has none. */
static void *driver_function(const char *name)
{
	void *lib = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);

	return lib ? dlsym(lib, name) : NULL;
}

/* Asks the driver for a number. Its CUresult, or -1: it has none. */
static int ask_driver(const char *function, int *number)
{
	void *at = driver_function(function);
	int (*get)(int *number);

	if (!at)
		return -1;
	memcpy(&get, &at, sizeof(get));
	return get(number);
}

/* 0: none. */
static int driver_number(const char *function)
{
	int number = 0;

	return ask_driver(function, &number) ? 0 : number;
}

/* 13.2 begins by asking the driver for this table of functions. Whatever is not NVIDIA's driver
 * refuses it, and 13.2 then ends the process. */
static bool has_table(void)
{
	static const uint8_t id[16] = { 0x7c, 0xb6, 0x3f, 0x9b, 0x9c, 0xa4, 0x8e, 0x42,
					0xa4, 0x84, 0xbe, 0xb6, 0x6e, 0x6a, 0xed, 0x7f };
	void *at = driver_function("cuGetExportTable");
	int (*get)(const void **table, const void *id);
	const void *table = NULL;

	memcpy(&get, &at, sizeof(get));
	return get && !get(&table, id) && table;
}

enum cupti_driver cupti_driver(int cuda)
{
	int devices = 0;
	int code = ask_driver("cuDeviceGetCount", &devices);

	if (driver_number("cuDriverGetVersion") < cuda)
		return CUPTI_DRIVER_UNFIT;
	if (code == CUDA_NOT_INITIALIZED)
		return CUPTI_DRIVER_STARTING;
	return !code && devices > 0 && has_table() ? CUPTI_DRIVER_UP : CUPTI_DRIVER_UNFIT;
}

bool cupti_describe_mismatch(char *out, size_t size, int code, uint32_t version,
			     const char *path)
{
	int cupti = cuda_of(version, path), driver = driver_number("cuDriverGetVersion");
	bool is_older = cupti / 1000 > driver / 1000 ||
			code == CUPTI_NOT_INITIALIZED || code == CUPTI_UNKNOWN;

	if (!driver || cupti <= driver || !is_older)
		return false;
	snprintf(out, size, "libcupti %d.%d" GP_REASON_TOO_NEW "%d.%d", cupti / 1000,
		 cupti % 1000 / 10, driver / 1000, driver % 1000 / 10);
	return true;
}
