// SPDX-License-Identifier: BSD-3-Clause
/*
 * Experiments on functions: where the driver has them and how they begin, which API records a call of the
 * runtime makes, and which memory records come.
 */
#include "facts.h"

#include <dlfcn.h>
#include <elf.h>
#include <inttypes.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "elf/elf.h"
#include "elf/file.h"
#include "gpuprof/work.h"

/* ---- how functions begin ------------------------------------------------------------------------ */

enum { CODE = 12, OPENINGS = ELF_BRANCH + 1 };

static const char *const opening_names[OPENINGS] = {
	[ELF_UNKNOWN] = "unknown", [ELF_PUSH] = "push", [ELF_NOP] = "nop", [ELF_STEP] = "step",
	[ELF_REFUSED] = "refused", [ELF_BRANCH] = "branch",
};

static enum elf_opening opening_of(const uint8_t *code)
{
#if defined(__aarch64__)
	return elf_classify_arm64(code, CODE).opening;
#else
	return elf_classify_x86(code, CODE).opening;
#endif
}

static void answer_opening(const char *key, const uint8_t *code, const char *also)
{
	char hex[2 * CODE + 1] = "";

	for (int i = 0; code && i < CODE; i++)
		snprintf(hex + 2 * i, sizeof(hex) - 2 * (size_t)i, "%02x", code[i]);
	facts_answer(key, "%s %s%s", hex, code ? opening_names[opening_of(code)] : "none", also);
}

/* Are the addresses that cuGetProcAddress gives those of exported functions, where probes are? */
void facts_address(void)
{
	static const char *const names[] = {
		"cuInit", "cuLaunchKernel", "cuLaunchKernelEx", "cuLaunchCooperativeKernel",
		"cuGraphLaunch", "cuMemcpyHtoDAsync", "cuMemcpyDtoHAsync", "cuMemcpyAsync",
		"cuMemcpyDtoH", "cuMemsetD8Async", "cuStreamSynchronize", "cuCtxSynchronize",
		"cuEventSynchronize", "cuMemAlloc", "cuMemFree", "cuMemAllocAsync", "cuModuleLoadData",
		"cuLibraryLoadData", "cuStreamWaitEvent", "cuEventRecord", "cuMemCreate",
		"cuGraphInstantiateWithFlags",
	};
	enum { VERSION = 13000, LEGACY = 0, PER_THREAD = 2 };
	static const uint64_t flags[] = { LEGACY, PER_THREAD };
	size_t exported = 0, given = 0;

	if (!facts_has(&facts_cu.proc_address, "cuGetProcAddress_v2"))
		return;
	for (size_t i = 0; i < 2 * sizeof(names) / sizeof(names[0]); i++) {
		Dl_info near = { .dli_sname = NULL };
		char key[64], also[96];
		void *at = NULL;
		int status = 0;
		bool is;

		snprintf(key, sizeof(key), "%s, %s", names[i / 2], i % 2 ? "per thread" : "legacy");
		if (facts_cu.proc_address(names[i / 2], &at, VERSION, flags[i % 2], &status) || !at) {
			facts_answer(key, "none");
			continue;
		}
		is = dladdr(at, &near) && near.dli_sname && near.dli_saddr == at;
		given++;
		exported += is;
		snprintf(also, sizeof(also), " %s %s", is ? "exported as" : "NOT EXPORTED, near",
			 near.dli_sname ? near.dli_sname : "?");
		answer_opening(key, at, also);
	}
	facts_answer("addresses that are exported", "%zu of %zu", exported, given);
}

/* The chains of DT_GNU_HASH end at the last symbol. */
static size_t count_symbols(const uint32_t *gnu_hash)
{
	uint32_t buckets = gnu_hash[0], first = gnu_hash[1], bloom = gnu_hash[2], last = 0;
	const uint32_t *bucket = gnu_hash + 4 + bloom * (sizeof(size_t) / 4), *chain = bucket + buckets;

	for (uint32_t i = 0; i < buckets; i++)
		if (bucket[i] > last)
			last = bucket[i];
	if (last < first)
		return first;
	while (!(chain[last - first] & 1))
		last++;
	return last + 1;
}

static const void *dynamic_of(const struct link_map *map, Elf64_Sxword tag)
{
	for (const Elf64_Dyn *d = map->l_ld; d->d_tag != DT_NULL; d++)
		if (d->d_tag == tag)
			return (const void *)d->d_un.d_ptr;
	return NULL;
}

/* The first instructions of every function that the driver exports: what would a probe cost? */
void facts_census(void)
{
	size_t counts[OPENINGS] = { 0 }, n;
	const struct link_map *map;
	const uint32_t *hash;
	const Elf64_Sym *symbols;
	const char *strings;

	if (dlinfo(facts_libcuda, RTLD_DI_LINKMAP, &map))
		return;
	facts_answer("file", "%s", map->l_name);
	hash = dynamic_of(map, DT_GNU_HASH);
	symbols = dynamic_of(map, DT_SYMTAB);
	strings = dynamic_of(map, DT_STRTAB);
	if (!hash || !symbols || !strings) {
		facts_answer("left out", "the driver has no GNU hash table");
		return;
	}
	n = count_symbols(hash);
	for (size_t i = 0; i < n; i++) {
		const uint8_t *code = (const uint8_t *)(map->l_addr + symbols[i].st_value);

		if (symbols[i].st_shndx == SHN_UNDEF || ELF64_ST_TYPE(symbols[i].st_info) != STT_FUNC)
			continue;
		counts[opening_of(code)]++;
		answer_opening(strings + symbols[i].st_name, code, "");
	}
	for (int i = 0; i < OPENINGS; i++)
		if (counts[i])
			facts_answer("in all", "%zu %s", counts[i], opening_names[i]);
}

/* ---- API records -------------------------------------------------------------------------------- */

static void answer_calls(const char *key)
{
	for (size_t i = 0; i < facts_n; i++) {
		const struct facts_record *r = &facts_records[i];

		if (r->kind == CUPTI_DRIVER || r->kind == CUPTI_RUNTIME)
			facts_answer(key, "%s, correlation %u, %" PRIu64 " ns",
				     facts_function(r->kind, r->is.api.cbid), r->is.api.correlation,
				     r->is.api.end - r->is.api.start);
		else
			facts_answer(key, "a work of kind %u, correlation %u", r->kind,
				     r->is.copy.correlation);
	}
	facts_forget();
}

static void enable_one(const char *name)
{
	uint32_t kind = strncmp(name, "cuda", 4) ? CUPTI_DRIVER : CUPTI_RUNTIME;
	uint32_t cbid = facts_cbid(kind, name);

	if (kind == CUPTI_RUNTIME)
		facts_cupti.enable_runtime(cbid, 1);
	else
		facts_cupti.enable_driver(cbid, 1);
}

/* Does a call of the runtime make a record of its own alone, or of the driver's below it, too? */
void facts_nested(void)
{
	static const char *const functions[] = { "cudaMalloc", "cudaMemset", "cudaFree",
						 "cudaDeviceSynchronize", "cuMemAlloc", "cuMemFree",
						 "cuMemsetD8", "cuCtxSynchronize" };
	const char *given = getenv("GPU_FACTS_CUDART");
	void *library = dlopen(given && *given ? given : "libcudart.so.13", RTLD_NOW), *memory = NULL;
	int (*alloc)(void **, size_t), (*set)(void *, int, size_t), (*release)(void *), (*sync)(void);

	if (!library) {
		facts_answer("left out", "no libcudart: GPU_FACTS_CUDART names one");
		return;
	}
	*(void **)&alloc = dlsym(library, "cudaMalloc");
	*(void **)&set = dlsym(library, "cudaMemset");
	*(void **)&release = dlsym(library, "cudaFree");
	*(void **)&sync = dlsym(library, "cudaDeviceSynchronize");
	if (!alloc || !set || !release || !sync || !facts_open_cupti())
		return;
	facts_register(FACTS_A);
	release(NULL);
	facts_cupti.enable(CUPTI_MEMSET);
	for (int single = 0; single < 2; single++) {
		for (int kind = CUPTI_DRIVER; !single && kind <= CUPTI_RUNTIME; kind++)
			facts_cupti.enable((uint32_t)kind);
		for (size_t i = 0; single && i < sizeof(functions) / sizeof(functions[0]); i++)
			enable_one(functions[i]);
		if (alloc(&memory, 4096) || set(memory, 0, 4096) || sync() || release(memory))
			facts_answer("error", "the runtime failed");
		facts_settle(true);
		answer_calls(single ? "functions one by one" : "both APIs");
		facts_cupti.disable(CUPTI_DRIVER);
		facts_cupti.disable(CUPTI_RUNTIME);
		if (!facts_cupti.enable_runtime || !facts_cupti.enable_driver)
			return;
	}
}

/* ---- memory records ----------------------------------------------------------------------------- */

struct memory_properties {	/* CUmemAllocationProp: memory of device 0 */
	int type, handle_types;
	int location_type, location;
	void *windows;
	uint8_t flags[8];
};

/* Memory by the virtual memory functions, as PyTorch's expandable segments are. */
static void map_memory(void)
{
	const struct memory_properties properties = { .type = 1, .location_type = 1 };
	uint64_t address = 0, handle = 0;
	size_t bytes = 0;

	if (!facts_cu.granularity || !facts_cu.create_memory || !facts_cu.reserve || !facts_cu.map ||
	    facts_cu.granularity(&bytes, &properties, 0)) {
		facts_answer("virtual memory functions", "left out: not in this driver");
		return;
	}
	if (facts_cu.create_memory(&handle, bytes, &properties, 0) ||
	    facts_cu.reserve(&address, bytes, 0, 0, 0) || facts_cu.map(address, bytes, 0, handle, 0))
		facts_answer("virtual memory functions", "failed");
	else
		facts_answer("virtual memory functions", "%zu bytes mapped", bytes);
}

/* Which allocations make memory records: device, host, managed, in a stream's order, mapped? */
void facts_memory(void)
{
	static const char data[100];
	uint64_t memory = 0;
	void *host;

	facts_register(FACTS_A);
	facts_cupti.enable(CUPTI_MEMORY2);
	facts_cupti.enable(CUPTI_MEMCPY);
	facts_cupti.enable(CUPTI_MEMSET);
	if (!facts_cu.alloc(&memory, 1 << 20)) {
		facts_cu.set_bytes(memory, 1, 1 << 20);
		facts_cu.copy_to_device(memory, data, sizeof(data));
		facts_cu.free(memory);
	}
	if (facts_cu.alloc_host)
		facts_cu.alloc_host(&host, 2 << 20, 0);
	if (facts_cu.alloc_managed)
		facts_cu.alloc_managed(&memory, 3 << 20, 1);
	if (facts_cu.alloc_async && facts_cu.free_async && !facts_cu.alloc_async(&memory, 4 << 20, NULL))
		facts_cu.free_async(memory, NULL);
	map_memory();
	facts_settle(true);
	for (size_t i = 0; i < facts_n; i++) {
		const struct gp_ring_memory *m = &facts_records[i].is.memory;

		if (facts_records[i].kind == CUPTI_MEMORY2)
			facts_answer(m->what == GP_MEMORY_ALLOC ? "alloc" : "free",
				     "%" PRIu64 " bytes, kind %u, async %u, correlation %u", m->bytes,
				     m->kind, m->is_async, m->correlation);
		else
			facts_answer("a work of kind", "%u, correlation %u", facts_records[i].kind,
				     facts_records[i].is.copy.correlation);
	}
}
