// SPDX-License-Identifier: BSD-3-Clause
/*
 * The core of the catalogue: what is worth a probe where only a few can be had, the best first.
 * The order is what a training or serving process spends its time in: launches and waits, then
 * copies and collectives, then memory. The first 32 are of all three libraries; behind them stands
 * what a process calls that has one or two of them. Not here: twins for per-thread streams, which
 * few programs are built with, and events, which take no time.
 */
#include <string.h>

#include "catalog/catalog.h"

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
	"cudaMemcpyToSymbolAsync", "cudaMemcpyToSymbol", "cudaMallocManaged", "cudaMemPrefetchAsync",
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

const char *catalog_core_name(unsigned int rank)
{
	return rank && rank <= sizeof(core) / sizeof(core[0]) ? core[rank - 1] : NULL;
}
