// SPDX-License-Identifier: BSD-3-Clause
/*
 * A program that calls many functions of the real libcudart once a round, with arguments whose
 * bytes are known: in registers, on the stack, in structs by value and by address. Without a driver
 * every call fails quickly. Built a second time with the per-thread default stream, where the same
 * source calls the twins (_ptds, _ptsz).
 */
#include <cuda_runtime_api.h>
#include <stdint.h>
#include <stdlib.h>

#include "target.h"

static struct truth truth;

static const char *result_name(int code)
{
	return cudaGetErrorName((cudaError_t)code);
}

/* The name as the linker sees it: the header may have made it a twin's. */
#define TEXT(name) #name
#define NAME(name) TEXT(name)
#define CALL(known_bytes, name, ...)                                                            \
	do {                                                                                    \
		uint64_t start_ns = truth_now_ns();                                             \
		int result = (int)name(__VA_ARGS__);                                            \
		truth_call(&truth, NAME(name), start_ns, result)->bytes += (known_bytes);       \
	} while (0)

static char to[1 << 16], from[1 << 16], symbol[64];

static void copies_2d(size_t i)
{
	const enum cudaMemcpyKind kind = cudaMemcpyHostToDevice;
	const size_t w = 100 + i, h = 7;

	CALL(w * h, cudaMemcpy2D, to, 512, from, 256, w, h, kind);
	CALL(w * h, cudaMemcpy2DAsync, to, 512, from, 256, w, h, kind, NULL);
	CALL(w * h, cudaMemcpy2DToArray, NULL, 0, 0, from, 256, w, h, kind);
	CALL(w * h, cudaMemcpy2DToArrayAsync, NULL, 0, 0, from, 256, w, h, kind, NULL);
	CALL(w * h, cudaMemcpy2DFromArray, to, 256, NULL, 0, 0, w, h, kind);
	CALL(w * h, cudaMemcpy2DArrayToArray, NULL, 0, 0, NULL, 0, 0, w, h, kind);
	CALL(w, cudaMemcpyPeer, to, 0, from, 1, w);
	CALL(w, cudaMemcpyPeerAsync, to, 0, from, 1, w, NULL);
	CALL(h, cudaMemcpyToSymbol, symbol, from, h, 0, kind);
	CALL(h, cudaMemcpyToSymbolAsync, symbol, from, h, 0, kind, NULL);
	CALL(h, cudaMemcpyFromSymbol, to, symbol, h, 0, cudaMemcpyDeviceToHost);
	CALL(h, cudaMemcpyFromSymbolAsync, to, symbol, h, 0, cudaMemcpyDeviceToHost, NULL);
}

static void copies_3d(size_t i)
{
	const struct cudaExtent extent = { 30 + i, 5, 4 };
	const size_t bytes = extent.width * extent.height * extent.depth;
	struct cudaMemcpy3DParms copy = {
		.srcPtr = { from, 64, 64, 8 }, .dstPtr = { to, 64, 64, 8 }, .extent = extent,
		.kind = cudaMemcpyDeviceToHost,
	};
	struct cudaMemcpy3DPeerParms peer = {
		.srcPtr = { from, 64, 64, 8 }, .dstPtr = { to, 64, 64, 8 }, .extent = extent,
		.srcDevice = 0, .dstDevice = 1,
	};

	CALL(bytes, cudaMemcpy3D, &copy);
	CALL(bytes, cudaMemcpy3DAsync, &copy, NULL);
	CALL(bytes, cudaMemcpy3DPeer, &peer);
	CALL(bytes, cudaMemcpy3DPeerAsync, &peer, NULL);
	CALL(bytes, cudaMemset3D, copy.dstPtr, 1, extent);
	CALL(bytes, cudaMemset3DAsync, copy.dstPtr, 1, extent, NULL);
	copy.srcArray = (cudaArray_t)from;	/* the width counts elements: unknown bytes */
	CALL(0, cudaMemcpy3D, &copy);
}

static void memory(size_t i)
{
	struct cudaPitchedPtr pitched;
	void *p = NULL;
	size_t pitch, n = 4096 + i;
	struct cudaChannelFormatDesc format = { .x = 32 };

	CALL(n, cudaMallocManaged, &p, n, cudaMemAttachGlobal);
	CALL(n, cudaMallocHost, &p, n);
	CALL(n, cudaHostAlloc, &p, n, 0);
	CALL(n * 3, cudaMallocPitch, &p, &pitch, n, 3);
	CALL(n * 6, cudaMalloc3D, &pitched, (struct cudaExtent){ n, 3, 2 });
	CALL(0, cudaMallocArray, (cudaArray_t *)&p, &format, n, 1, 0);
	CALL(n, cudaMallocFromPoolAsync, &p, n, NULL, NULL);
	CALL(n, cudaHostRegister, to, n, 0);
	CALL(0, cudaHostUnregister, to);
	CALL(0, cudaFreeHost, NULL);
	CALL(0, cudaFreeArray, NULL);
	CALL(n * 2, cudaMemset2D, to, 512, 0, n, 2);
	CALL(n * 2, cudaMemset2DAsync, to, 512, 0, n, 2, NULL);
	CALL(n, cudaMemAdvise, to, n, cudaMemAdviseSetReadMostly, (struct cudaMemLocation){ 1, 0 });
	CALL(n, cudaMemPrefetchAsync, to, n, (struct cudaMemLocation){ 1, 0 }, 0, NULL);
	CALL(0, cudaMemPoolTrimTo, NULL, n);
}

static void streams(void)
{
	cudaStream_t stream = NULL;
	cudaEvent_t event = NULL;
	float ms;

	CALL(0, cudaStreamCreate, &stream);
	CALL(0, cudaStreamCreateWithFlags, &stream, 1);
	CALL(0, cudaStreamCreateWithPriority, &stream, 1, 0);
	CALL(0, cudaStreamQuery, NULL);
	CALL(0, cudaStreamWaitEvent, NULL, NULL, 0);
	CALL(0, cudaStreamBeginCapture, NULL, cudaStreamCaptureModeGlobal);
	CALL(0, cudaEventCreate, &event);
	CALL(0, cudaEventCreateWithFlags, &event, 2);
	CALL(0, cudaEventRecord, NULL, NULL);
	CALL(0, cudaEventRecordWithFlags, NULL, NULL, 0);
	CALL(0, cudaEventQuery, NULL);
	CALL(0, cudaEventElapsedTime, &ms, NULL, NULL);
	CALL(0, cudaLaunchHostFunc, NULL, NULL, NULL);
	CALL(0, cudaDeviceSynchronize);
}

static void graphs(void)
{
	cudaGraph_t graph = NULL;
	cudaGraphExec_t exec = NULL;
	cudaGraphNode_t node;

	CALL(0, cudaGraphCreate, &graph, 0);
	CALL(0, cudaGraphAddEmptyNode, &node, NULL, NULL, 0);
	CALL(0, cudaGraphInstantiate, &exec, NULL, 0);
	CALL(0, cudaGraphInstantiateWithFlags, &exec, NULL, 0);
	CALL(0, cudaGraphLaunch, NULL, NULL);
	CALL(0, cudaGraphUpload, NULL, NULL);
	CALL(0, cudaGraphExecDestroy, NULL);
	CALL(0, cudaGraphDestroy, NULL);
	CALL(0, cudaLibraryUnload, NULL);
	CALL(0, cudaInitDevice, 0, 0, 0);
}

static void queries(void)
{
	int value;

	CALL(0, cudaGetDevice, &value);
	CALL(0, cudaGetDeviceCount, &value);
	CALL(0, cudaSetDevice, 0);
	CALL(0, cudaDeviceGetAttribute, &value, cudaDevAttrWarpSize, 0);
	CALL(0, cudaRuntimeGetVersion, &value);
	CALL(0, cudaGetLastError);
	CALL(0, cudaPeekAtLastError);
}

int main(int argc, char **argv)
{
	unsigned long rounds = 1, n_queries = 0;
	const struct target_option options[] = {
		{ "rounds", &rounds, NULL, "how often (1)" },
		{ "queries", &n_queries, NULL, "calls of each query (0)" },
		{ NULL, NULL, NULL, NULL },
	};
	struct target_control control;

	target_begin(argc, argv, options, &control);
	for (unsigned long i = 0; i < rounds; i++) {
		copies_2d(i);
		copies_3d(i);
		memory(i);
		streams();
		graphs();
	}
	for (unsigned long i = 0; i < n_queries; i++)
		queries();
	return target_end(&control, truth_write(control.truth, &truth, 1, result_name));
}
