// SPDX-License-Identifier: BSD-3-Clause
/* Walks the catalogue's tables: numbers rows, finds libraries by file name, makes the wire form. */
#include "catalog/catalog.h"

#include <string.h>

static const struct catalog_library *const libraries[CATALOG_LIBRARIES] = {
	&catalog_cudart, &catalog_cuda, &catalog_nccl, &catalog_nvrtc, &catalog_nvjitlink,
	&catalog_nvptxcompiler, &catalog_cublas, &catalog_cublaslt, &catalog_cudnn,
	&catalog_torch, &catalog_c10,
};

const struct catalog_library *catalog_library(unsigned int i)
{
	return libraries[i];
}

unsigned int catalog_first_row(unsigned int library)
{
	unsigned int first = 1;

	for (unsigned int i = 0; i < library; i++)
		first += (unsigned int)libraries[i]->n_rows;
	return first;
}

const struct catalog_row *catalog_row(unsigned int row)
{
	unsigned int first = 1;

	for (unsigned int i = 0; i < CATALOG_LIBRARIES; i++) {
		if (row >= first && row < first + libraries[i]->n_rows)
			return &libraries[i]->rows[row - first];
		first += (unsigned int)libraries[i]->n_rows;
	}
	return NULL;
}

/*
 * The core of the catalogue: functions worth a probe where only a few can be had, the best
 * first. The order is by the time that a training or serving process spends: launches and waits,
 * then copies and collectives, then memory. The first 32 are of all three libraries; the rest is
 * for a process that has one or two of them. Not here: twins for per-thread streams, which few
 * programs are built with, and events, which take no time.
 */
static const char *const core[] = {
	"__cudaLaunchKernel", "cudaLaunchKernel", "cuLaunchKernel", "cudaLaunchKernelExC",
	"cuLaunchKernelEx", "cudaGraphLaunch", "cudaStreamSynchronize", "cudaDeviceSynchronize",
	"cudaEventSynchronize", "cudaMemcpyAsync", "cudaMemcpy", "ncclAllReduce", "ncclGroupEnd",
	"ncclReduceScatter", "ncclAllGather", "cuStreamSynchronize", "cuCtxSynchronize",
	"cuEventSynchronize", "cuGraphLaunch", "cuMemcpyHtoDAsync_v2", "cuMemcpyDtoHAsync_v2",
	"cuMemcpyHtoD_v2", "cuMemcpyDtoH_v2", "ncclBroadcast", "ncclSend", "ncclRecv",
	"cudaMemsetAsync", "cudaMalloc", "cudaFree", "cuMemAlloc_v2", "cuMemFree_v2",
	"ncclCommInitRankConfig",

	"cudaMemcpy2DAsync", "cudaMallocAsync", "cudaFreeAsync", "cudaLaunchCooperativeKernel",
	"cudaMemset", "cudaHostAlloc", "cudaFreeHost", "cudaMallocHost", "cudaMemcpyPeerAsync",
	"cudaMemcpyToSymbolAsync", "cudaMemcpyToSymbol", "cudaMallocManaged",
	"cudaMemPrefetchAsync",
	"cudaMemcpy2D", "cudaMemcpy3DAsync", "cudaStreamWaitEvent", "cudaGraphInstantiate",
	"cudaGraphUpload", "cudaMemset3D", "cudaMemcpy2DArrayToArray",

	"cuMemcpyDtoDAsync_v2", "cuMemcpyAsync", "cuMemsetD8Async", "cuMemsetD32Async",
	"cuMemAllocAsync", "cuMemFreeAsync", "cuMemcpyDtoD_v2", "cuMemcpy",
	"cuLaunchCooperativeKernel", "cuMemCreate", "cuMemMap", "cuMemUnmap", "cuMemRelease",
	"cuMemHostAlloc", "cuMemFreeHost", "cuMemHostRegister_v2", "cuMemcpy2DAsync_v2",
	"cuMemcpy3DAsync_v2", "cuMemcpyPeerAsync", "cuMemAllocManaged", "cuModuleLoadData",
	"cuModuleLoadDataEx", "cuLibraryLoadData", "cuStreamWaitEvent", "cuMemAllocHost_v2",

	"ncclReduce", "ncclAlltoAll", "ncclGroupStart", "ncclBcast", "ncclCommInitRank",
	"ncclCommInitAll", "ncclCommSplit", "ncclCommDestroy", "ncclCommAbort", "ncclCommFinalize",
	"ncclGather", "ncclScatter", "ncclGetUniqueId", "ncclCommRegister",
};

unsigned int catalog_core_rank(unsigned int row)
{
	const struct catalog_row *r = catalog_row(row);

	for (unsigned int i = 0; r && i < sizeof(core) / sizeof(core[0]); i++)
		if (!strcmp(core[i], r->name))
			return i + 1;
	return 0;
}

/* Wheels carry renamed copies: libcudart-d0da41ae.so.11.0 (auditwheel: eight hex digits). */
static const char *skip_wheel_hash(const char *s)
{
	return *s == '-' && strspn(s + 1, "0123456789abcdef") >= 8 ?
	       s + 1 + strspn(s + 1, "0123456789abcdef") : s;
}

/* libX.so, libX.so.13, libX.so.13.0.96; not libXdebugger.so, libX-net.so, libX.sock. */
static bool is_file_of(const char *basename, const char *file)
{
	const size_t stem = strlen(file) - strlen(".so");
	const char *rest;

	if (strncmp(basename, file, stem))
		return false;
	rest = skip_wheel_hash(basename + stem);
	return !strncmp(rest, ".so", 3) && (!rest[3] || rest[3] == '.');
}

int catalog_library_of(const char *basename)
{
	for (int i = 0; i < CATALOG_LIBRARIES; i++)
		if (libraries[i]->file && is_file_of(basename, libraries[i]->file))
			return i;
	return -1;
}

bool catalog_wants_file(const char *basename)
{
	return catalog_library_of(basename) >= 0;
}

bool catalog_has_tier(const char *basename, unsigned int tier)
{
	int found = catalog_library_of(basename);
	const struct catalog_library *lib = found < 0 ? NULL : libraries[found];

	for (size_t i = 0; lib && i < lib->n_rows; i++)
		if (lib->rows[i].tier <= tier)
			return true;
	return false;
}

void catalog_funcs(struct funcs *out)
{
	out->n = 1;
	out->v[0] = (struct func){ .name = "?", .library = "?" };
	for (unsigned int i = 0; i < CATALOG_LIBRARIES; i++)
		for (size_t k = 0; k < libraries[i]->n_rows; k++)
			out->v[out->n++] = (struct func){
				.name = libraries[i]->rows[k].name,
				.library = libraries[i]->name,
				.class = libraries[i]->rows[k].class,
				.two = libraries[i]->rows[k].two,
			};
}

const struct catalog_row *catalog_find(const char *name)
{
	for (unsigned int i = 0; i < CATALOG_LIBRARIES; i++)
		for (size_t k = 0; k < libraries[i]->n_rows; k++)
			if (!strcmp(libraries[i]->rows[k].name, name))
				return &libraries[i]->rows[k];
	return NULL;
}

enum func_role catalog_role(const struct func *fn)
{
	static const uint8_t of_class[CLASS_END] = {
		[CLASS_LAUNCH] = ROLE_KERNEL, [CLASS_COLLECTIVE] = ROLE_KERNEL,
		[CLASS_COPY] = ROLE_COPY,
		[CLASS_SET] = ROLE_SET, [CLASS_LIBRARY] = ROLE_ROUTINE,
	};
	const struct catalog_row *row = catalog_find(fn->name);

	return (enum func_role)(row && row->role != ROLE_NONE ? row->role : of_class[fn->class]);
}

static unsigned int highest_word(const struct catalog_row *row)
{
	static const uint8_t shape_words[] = {
		[SHAPE_DIM3] = 5, [SHAPE_GEMM] = 6, [SHAPE_GEMMS] = 6
	};
	const uint8_t words[] = { row->entity, row->address, row->bytes, row->dtype, row->times[0],
				  row->times[1], row->stream, row->dir_word };
	unsigned int max = row->shape < sizeof(shape_words) ? shape_words[row->shape] : 0;

	for (size_t i = 0; i < sizeof(words); i++)
		if (words[i] > max)
			max = words[i];
	return max;
}


static uint8_t wire_flags(const struct catalog_row *row)
{
	unsigned int flags = row->two ? GP_ROW_TWO : 0;

	flags |= row->jumps ? GP_ROW_JUMPS : 0;
	flags |= row->out ? GP_ROW_OUT : 0;
	flags |= row->out && row->address == 2 ? GP_ROW_OUT_SECOND : 0;
	flags |= row->class == CLASS_LAUNCH ? GP_ROW_LAUNCH : 0;
	flags |= row >= catalog_cuda.rows && row < catalog_cuda.rows + catalog_cuda.n_rows ?
		 GP_ROW_DRIVER : 0;
	flags |= class_blocks(row->class) ? GP_ROW_BLOCKS : 0;
	flags |= row->is_mark ? GP_ROW_ENTRY_ONLY : 0;
	return (uint8_t)flags;
}

void catalog_wire_row(const struct catalog_row *row, struct gp_row *out)
{
	unsigned int n = highest_word(row);

	*out = (struct gp_row){ .extra = row->extra, .extra_words = row->extra_words,
				.flags = wire_flags(row), .from = row->from, .asks = row->asks };
	memcpy(out->at, row->at, sizeof(out->at));
	if (row->extra_words)
		n = GP_REGS + row->extra_words;
	out->words = n <= GP_WORDS_SMALL ? GP_WORDS_SMALL :
		     n <= GP_WORDS_MIDDLE ? GP_WORDS_MIDDLE : GP_WORDS_LARGE;
}
