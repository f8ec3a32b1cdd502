/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every function that the shims offer, with its class (the names of the design, section 4). A new
 * function is a row here, a prototype in cuda_api.h, cudart_api.h or nccl_api.h if a test program
 * calls it, and its few lines in a shim.
 */
#ifndef GPUSIM_FUNCTIONS_H
#define GPUSIM_FUNCTIONS_H

// clang-format off
#define GPUSIM_CLASSES(C) \
	C(launch) C(sync) C(copy) C(set) C(alloc) C(free) C(event) C(stream) C(graph) \
	C(collective) C(other)

/* Those of cudart_api.h, which the test programs call. */
#define GPUSIM_RUNTIME_DECLARED(F) \
	F(cudaLaunchKernel, launch) \
	F(cudaLaunchKernel_ptsz, launch) \
	F(cudaLaunchCooperativeKernel, launch) \
	F(cudaLaunchKernelExC, launch) \
	F(cudaLaunchKernelExC_ptsz, launch) \
	F(cudaGraphLaunch, launch) \
	F(cudaGraphLaunch_ptsz, launch) \
	F(cudaStreamSynchronize_ptsz, sync) \
	F(cudaStreamQuery_ptsz, stream) \
	F(cudaStreamWaitEvent_ptsz, stream) \
	F(cudaStreamBeginCapture_ptsz, graph) \
	F(cudaStreamEndCapture_ptsz, graph) \
	F(cudaEventRecord_ptsz, event) \
	F(cudaMemcpy_ptds, copy) \
	F(cudaMemcpyAsync_ptsz, copy) \
	F(cudaMemset_ptds, set) \
	F(cudaMemsetAsync_ptsz, set) \
	F(cudaMallocAsync_ptsz, alloc) \
	F(cudaFreeAsync_ptsz, free) \
	F(cudaDeviceSynchronize, sync) \
	F(cudaStreamSynchronize, sync) \
	F(cudaEventSynchronize, sync) \
	F(cudaMemcpy, copy) \
	F(cudaMemcpyAsync, copy) \
	F(cudaMemset, set) \
	F(cudaMemsetAsync, set) \
	F(cudaMalloc, alloc) \
	F(cudaMallocAsync, alloc) \
	F(cudaMallocHost, alloc) \
	F(cudaHostAlloc, alloc) \
	F(cudaFree, free) \
	F(cudaFreeAsync, free) \
	F(cudaFreeHost, free) \
	F(cudaEventCreate, event) \
	F(cudaEventCreateWithFlags, event) \
	F(cudaEventRecord, event) \
	F(cudaEventQuery, event) \
	F(cudaEventElapsedTime, event) \
	F(cudaEventDestroy, event) \
	F(cudaStreamCreate, stream) \
	F(cudaStreamCreateWithFlags, stream) \
	F(cudaStreamDestroy, stream) \
	F(cudaStreamQuery, stream) \
	F(cudaStreamWaitEvent, stream) \
	F(cudaStreamBeginCapture, graph) \
	F(cudaStreamEndCapture, graph) \
	F(cudaGraphInstantiate, graph) \
	F(cudaGraphDestroy, graph) \
	F(cudaGraphExecDestroy, graph) \
	F(cudaGetDeviceCount, other) \
	F(cudaSetDevice, other) \
	F(cudaGetDevice, other) \
	F(cudaMemGetInfo, other) \
	F(cudaDriverGetVersion, other) \
	F(cudaRuntimeGetVersion, other) \
	F(cudaGetLastError, other) \
	F(cudaPeekAtLastError, other) \
	F(cudaGetErrorName, other) \
	F(cudaGetErrorString, other)

/* Those that real programs call besides. */
#define GPUSIM_RUNTIME_FUNCTIONS(F) \
	GPUSIM_RUNTIME_DECLARED(F) \
	F(cudaDeviceCanAccessPeer, other) \
	F(cudaDeviceEnablePeerAccess, other) \
	F(cudaDeviceGetAttribute, other) \
	F(cudaDeviceGetDefaultMemPool, other) \
	F(cudaDeviceGetGraphMemAttribute, other) \
	F(cudaDeviceGetPCIBusId, other) \
	F(cudaDeviceGetStreamPriorityRange, other) \
	F(cudaDeviceSetGraphMemAttribute, other) \
	F(cudaEventRecordWithFlags, event) \
	F(cudaFuncGetAttributes, other) \
	F(cudaFuncSetAttribute, other) \
	F(cudaGetDeviceProperties, other) \
	F(cudaGetDriverEntryPointByVersion, other) \
	F(cudaGetSymbolAddress, other) \
	F(cudaGraphAddNode, graph) \
	F(cudaGraphConditionalHandleCreate, graph) \
	F(cudaGraphGetNodes, graph) \
	F(cudaGraphInstantiateWithFlags, graph) \
	F(cudaGraphNodeGetDependencies, graph) \
	F(cudaGraphRetainUserObject, graph) \
	F(cudaHostRegister, alloc) \
	F(cudaHostUnregister, free) \
	F(cudaIpcCloseMemHandle, other) \
	F(cudaIpcGetEventHandle, other) \
	F(cudaIpcGetMemHandle, other) \
	F(cudaIpcOpenEventHandle, other) \
	F(cudaIpcOpenMemHandle, other) \
	F(cudaKernelSetAttributeForDevice, other) \
	F(cudaLaunchHostFunc, stream) \
	F(cudaLibraryGetGlobal, other) \
	F(cudaLibraryGetKernel, other) \
	F(cudaLibraryGetKernelCount, other) \
	F(cudaLibraryGetManaged, other) \
	F(cudaLibraryGetUnifiedFunction, other) \
	F(cudaLibraryLoadData, other) \
	F(cudaLibraryLoadFromFile, other) \
	F(cudaLibraryUnload, other) \
	F(cudaMallocManaged, alloc) \
	F(cudaMemPoolGetAttribute, other) \
	F(cudaMemPoolSetAccess, other) \
	F(cudaMemPoolSetAttribute, other) \
	F(cudaMemPoolTrimTo, other) \
	F(cudaMemcpy2DAsync, copy) \
	F(cudaMemcpyPeerAsync, copy) \
	F(cudaMemcpyToSymbol, copy) \
	F(cudaOccupancyMaxActiveBlocksPerMultiprocessor, other) \
	F(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, other) \
	F(cudaPointerGetAttributes, other) \
	F(cudaProfilerStart, other) \
	F(cudaProfilerStop, other) \
	F(cudaStreamAddCallback, stream) \
	F(cudaStreamBeginCaptureToGraph, graph) \
	F(cudaStreamCreateWithPriority, stream) \
	F(cudaStreamGetCaptureInfo, graph) \
	F(cudaStreamGetPriority, stream) \
	F(cudaStreamIsCapturing, graph) \
	F(cudaStreamUpdateCaptureDependencies, graph) \
	F(cudaThreadExchangeStreamCaptureMode, graph) \
	F(cudaUserObjectCreate, graph) \
	F(cudaUserObjectRelease, graph)

#define GPUSIM_DRIVER_FUNCTIONS(F) \
	F(cuLaunchKernel, launch) \
	F(cuLaunchKernel_ptsz, launch) \
	F(cuLaunchCooperativeKernel, launch) \
	F(cuLaunchKernelEx, launch) \
	F(cuLaunchKernelEx_ptsz, launch) \
	F(cuGraphLaunch, launch) \
	F(cuGraphLaunch_ptsz, launch) \
	F(cuStreamSynchronize_ptsz, sync) \
	F(cuStreamQuery_ptsz, stream) \
	F(cuStreamWaitEvent_ptsz, stream) \
	F(cuStreamBeginCapture_v2_ptsz, graph) \
	F(cuStreamEndCapture_ptsz, graph) \
	F(cuEventRecord_ptsz, event) \
	F(cuMemcpy_ptds, copy) \
	F(cuMemcpyHtoD_v2_ptds, copy) \
	F(cuMemcpyDtoH_v2_ptds, copy) \
	F(cuMemcpyDtoD_v2_ptds, copy) \
	F(cuMemcpyAsync_ptsz, copy) \
	F(cuMemcpyHtoDAsync_v2_ptsz, copy) \
	F(cuMemcpyDtoHAsync_v2_ptsz, copy) \
	F(cuMemcpyDtoDAsync_v2_ptsz, copy) \
	F(cuMemsetD8_v2_ptds, set) \
	F(cuMemsetD32_v2_ptds, set) \
	F(cuMemsetD8Async_ptsz, set) \
	F(cuMemsetD32Async_ptsz, set) \
	F(cuMemAllocAsync_ptsz, alloc) \
	F(cuMemFreeAsync_ptsz, free) \
	F(cuCtxSynchronize, sync) \
	F(cuStreamSynchronize, sync) \
	F(cuEventSynchronize, sync) \
	F(cuMemcpy, copy) \
	F(cuMemcpyAsync, copy) \
	F(cuMemcpyHtoD_v2, copy) \
	F(cuMemcpyDtoH_v2, copy) \
	F(cuMemcpyDtoD_v2, copy) \
	F(cuMemcpyHtoDAsync_v2, copy) \
	F(cuMemcpyDtoHAsync_v2, copy) \
	F(cuMemcpyDtoDAsync_v2, copy) \
	F(cuMemsetD8_v2, set) \
	F(cuMemsetD32_v2, set) \
	F(cuMemsetD8Async, set) \
	F(cuMemsetD32Async, set) \
	F(cuMemAlloc_v2, alloc) \
	F(cuMemAllocAsync, alloc) \
	F(cuMemAllocHost_v2, alloc) \
	F(cuMemHostAlloc, alloc) \
	F(cuMemFree_v2, free) \
	F(cuMemFreeAsync, free) \
	F(cuMemFreeHost, free) \
	F(cuEventCreate, event) \
	F(cuEventRecord, event) \
	F(cuEventQuery, event) \
	F(cuEventElapsedTime, event) \
	F(cuEventElapsedTime_v2, event) \
	F(cuEventDestroy_v2, event) \
	F(cuStreamCreate, stream) \
	F(cuStreamDestroy_v2, stream) \
	F(cuStreamQuery, stream) \
	F(cuStreamWaitEvent, stream) \
	F(cuStreamBeginCapture_v2, graph) \
	F(cuStreamEndCapture, graph) \
	F(cuGraphInstantiateWithFlags, graph) \
	F(cuGraphDestroy, graph) \
	F(cuGraphExecDestroy, graph) \
	F(cuInit, other) \
	F(cuDriverGetVersion, other) \
	F(cuDeviceGet, other) \
	F(cuDeviceGetCount, other) \
	F(cuDeviceGetAttribute, other) \
	F(cuDeviceGetName, other) \
	F(cuDeviceGetUuid, other) \
	F(cuDeviceGetUuid_v2, other) \
	F(cuDeviceTotalMem_v2, other) \
	F(cuMemGetInfo_v2, other) \
	F(cuCtxCreate_v2, other) \
	F(cuCtxDestroy_v2, other) \
	F(cuCtxSetCurrent, other) \
	F(cuCtxGetCurrent, other) \
	F(cuCtxGetDevice, other) \
	F(cuDevicePrimaryCtxRetain, other) \
	F(cuDevicePrimaryCtxRelease_v2, other) \
	F(cuGetProcAddress_v2, other) \
	F(cuGetErrorName, other) \
	F(cuGetErrorString, other) \
	F(cuModuleLoad, other) \
	F(cuModuleLoadData, other) \
	F(cuModuleLoadDataEx, other) \
	F(cuModuleLoadFatBinary, other) \
	F(cuModuleUnload, other) \
	F(cuModuleGetFunction, other) \
	F(cuModuleGetGlobal_v2, other) \
	F(cuFuncGetAttribute, other) \
	F(cuFuncSetAttribute, other) \
	F(cuFuncSetCacheConfig, other) \
	F(cuKernelGetAttribute, other) \
	F(cuOccupancyMaxActiveBlocksPerMultiprocessor, other) \
	F(cuOccupancyMaxActiveClusters, other) \
	F(cuTensorMapEncodeTiled, other) \
	F(cuTensorMapEncodeIm2col, other) \
	F(cuLinkCreate_v2, other) \
	F(cuLinkAddData_v2, other) \
	F(cuLinkAddFile_v2, other) \
	F(cuLinkComplete, other) \
	F(cuLinkDestroy, other) \
	F(cuPointerGetAttribute, other) \
	F(cuPointerGetAttributes, other) \
	F(cuMemGetAddressRange_v2, other) \
	F(cuCtxPushCurrent_v2, other) \
	F(cuCtxPopCurrent_v2, other) \
	F(cuCtxGetLimit, other) \
	F(cuCtxSetLimit, other) \
	F(cuDevicePrimaryCtxGetState, other) \
	F(cuStreamIsCapturing, other) \
	F(cuStreamGetCtx, other) \
	F(cuMemAddressReserve, alloc) \
	F(cuMemAddressFree, free) \
	F(cuMemCreate, alloc) \
	F(cuMemRelease, free) \
	F(cuMemMap, alloc) \
	F(cuMemUnmap, free) \
	F(cuMemSetAccess, alloc) \
	F(cuMemGetAllocationGranularity, other) \
	F(cuStreamCreateWithPriority, stream) \
	F(cuCtxGetStreamPriorityRange, other) \
	F(cuDeviceGetPCIBusId, other) \
	F(cuLaunchHostFunc, stream)

#define GPUSIM_NCCL_FUNCTIONS(F) \
	F(ncclGetUniqueId, collective) \
	F(ncclCommInitRank, collective) \
	F(ncclCommInitRankConfig, collective) \
	F(ncclCommInitAll, collective) \
	F(ncclCommFinalize, collective) \
	F(ncclCommDestroy, collective) \
	F(ncclCommAbort, collective) \
	F(ncclCommCount, collective) \
	F(ncclCommUserRank, collective) \
	F(ncclCommCuDevice, collective) \
	F(ncclCommGetAsyncError, collective) \
	F(ncclAllReduce, collective) \
	F(ncclAllGather, collective) \
	F(ncclReduceScatter, collective) \
	F(ncclBroadcast, collective) \
	F(ncclBcast, collective) \
	F(ncclReduce, collective) \
	F(ncclSend, collective) \
	F(ncclRecv, collective) \
	F(ncclGroupStart, collective) \
	F(ncclGroupEnd, collective) \
	F(ncclGetVersion, collective) \
	F(ncclGetErrorString, collective) \
	F(ncclAlltoAll, collective) \
	F(ncclCommDeregister, collective) \
	F(ncclCommGetUniqueId, collective) \
	F(ncclCommGrow, collective) \
	F(ncclCommInitRankScalable, collective) \
	F(ncclCommMemStats, collective) \
	F(ncclCommRegister, collective) \
	F(ncclCommResume, collective) \
	F(ncclCommRevoke, collective) \
	F(ncclCommShrink, collective) \
	F(ncclCommSplit, collective) \
	F(ncclCommSuspend, collective) \
	F(ncclCommWindowDeregister, collective) \
	F(ncclCommWindowRegister, collective) \
	F(ncclDevCommCreate, collective) \
	F(ncclDevCommDestroy, collective) \
	F(ncclGather, collective) \
	F(ncclGetLsaMultimemDevicePointer, collective) \
	F(ncclGetPeerDevicePointer, collective) \
	F(ncclGroupSimulateEnd, collective) \
	F(ncclMemAlloc, collective) \
	F(ncclMemFree, collective) \
	F(ncclPutSignal, collective) \
	F(ncclRedOpCreatePreMulSum, collective) \
	F(ncclRedOpDestroy, collective) \
	F(ncclSignal, collective) \
	F(ncclWaitSignal, collective) \
	F(ncclWinGetUserPtr, collective) \
	F(ncclGetLastError, collective)
// clang-format on

#define GPUSIM_FUNCTION_ID(name, class) GPUSIM_FN_##name,
enum gpusim_function {
	GPUSIM_RUNTIME_FUNCTIONS(GPUSIM_FUNCTION_ID)
	GPUSIM_RUNTIME_END,
	GPUSIM_BEFORE_DRIVER = GPUSIM_RUNTIME_END - 1,
	GPUSIM_DRIVER_FUNCTIONS(GPUSIM_FUNCTION_ID)
	GPUSIM_DRIVER_END,
	GPUSIM_BEFORE_NCCL = GPUSIM_DRIVER_END - 1,
	GPUSIM_NCCL_FUNCTIONS(GPUSIM_FUNCTION_ID)
	GPUSIM_FUNCTIONS,
};
#undef GPUSIM_FUNCTION_ID

#define GPUSIM_CLASS_ID(name) GPUSIM_CLASS_##name,
enum gpusim_class {
	GPUSIM_CLASSES(GPUSIM_CLASS_ID) GPUSIM_CLASS_COUNT,
};
#undef GPUSIM_CLASS_ID

#endif
