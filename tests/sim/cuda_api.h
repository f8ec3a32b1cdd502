/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The driver functions that libcuda.so.1 (the shim) offers, declared here from their public
 * documentation with the same ABI, so that no CUDA header is needed. Handles are the simulation's
 * own.
 */
#ifndef CUDA_API_H
#define CUDA_API_H

#include <stddef.h>
#include <stdint.h>

#ifndef SHIM_NAME
#define SHIM_NAME(name)
#endif

typedef int CUresult;
typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct gpusim_context *CUcontext;
typedef struct gpusim_stream *CUstream;
typedef struct gpusim_event *CUevent;
typedef struct gpusim_graph *CUgraph;
typedef struct gpusim_graph_exec *CUgraphExec;
typedef struct CUfunc_st *CUfunction;

typedef struct {
	char bytes[16];
} CUuuid;

typedef struct {
	unsigned int gridDimX, gridDimY, gridDimZ;
	unsigned int blockDimX, blockDimY, blockDimZ;
	unsigned int sharedMemBytes;
	CUstream hStream;
	void *attrs;
	unsigned int numAttrs;
} CUlaunchConfig;

_Static_assert(sizeof(CUlaunchConfig) == 56 && offsetof(CUlaunchConfig, hStream) == 32,
	       "ABI of CUlaunchConfig");

#define CU_KERNEL_ARGUMENTS                                                                 \
	CUfunction function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z, \
		unsigned int block_x, unsigned int block_y, unsigned int block_z,           \
		unsigned int shared_bytes, CUstream stream, void **arguments, void **extra

CUresult cuLaunchKernel(CU_KERNEL_ARGUMENTS) SHIM_NAME(cuLaunchKernel);
CUresult cuLaunchKernel_ptsz(CU_KERNEL_ARGUMENTS) SHIM_NAME(cuLaunchKernel_ptsz);
CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y,
				   unsigned int grid_z, unsigned int block_x, unsigned int block_y,
				   unsigned int block_z, unsigned int shared_bytes, CUstream stream,
				   void **arguments) SHIM_NAME(cuLaunchCooperativeKernel);
CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function, void **arguments,
			  void **extra) SHIM_NAME(cuLaunchKernelEx);
CUresult cuLaunchKernelEx_ptsz(const CUlaunchConfig *config, CUfunction function, void **arguments,
			       void **extra) SHIM_NAME(cuLaunchKernelEx_ptsz);
CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream) SHIM_NAME(cuGraphLaunch);
CUresult cuGraphLaunch_ptsz(CUgraphExec exec, CUstream stream) SHIM_NAME(cuGraphLaunch_ptsz);

CUresult cuCtxSynchronize(void) SHIM_NAME(cuCtxSynchronize);
CUresult cuStreamSynchronize(CUstream stream) SHIM_NAME(cuStreamSynchronize);
CUresult cuEventSynchronize(CUevent event) SHIM_NAME(cuEventSynchronize);

CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes) SHIM_NAME(cuMemcpy);
CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
	SHIM_NAME(cuMemcpyAsync);
CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t bytes) SHIM_NAME(cuMemcpyHtoD_v2);
CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t bytes) SHIM_NAME(cuMemcpyDtoH_v2);
CUresult cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes) SHIM_NAME(cuMemcpyDtoD_v2);
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes, CUstream stream)
	SHIM_NAME(cuMemcpyHtoDAsync_v2);
CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes, CUstream stream)
	SHIM_NAME(cuMemcpyDtoHAsync_v2);
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
	SHIM_NAME(cuMemcpyDtoDAsync_v2);
CUresult cuMemsetD8_v2(CUdeviceptr to, unsigned char value, size_t count) SHIM_NAME(cuMemsetD8_v2);
CUresult cuMemsetD32_v2(CUdeviceptr to, unsigned int value, size_t count) SHIM_NAME(cuMemsetD32_v2);
CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count, CUstream stream)
	SHIM_NAME(cuMemsetD8Async);
CUresult cuMemsetD32Async(CUdeviceptr to, unsigned int value, size_t count, CUstream stream)
	SHIM_NAME(cuMemsetD32Async);

CUresult cuMemAlloc_v2(CUdeviceptr *out, size_t bytes) SHIM_NAME(cuMemAlloc_v2);
CUresult cuMemAllocAsync(CUdeviceptr *out, size_t bytes, CUstream stream)
	SHIM_NAME(cuMemAllocAsync);
CUresult cuMemAllocHost_v2(void **out, size_t bytes) SHIM_NAME(cuMemAllocHost_v2);
CUresult cuMemHostAlloc(void **out, size_t bytes, unsigned int flags) SHIM_NAME(cuMemHostAlloc);
CUresult cuMemFree_v2(CUdeviceptr memory) SHIM_NAME(cuMemFree_v2);
CUresult cuMemFreeAsync(CUdeviceptr memory, CUstream stream) SHIM_NAME(cuMemFreeAsync);
CUresult cuMemFreeHost(void *memory) SHIM_NAME(cuMemFreeHost);
CUresult cuMemGetInfo_v2(size_t *free_bytes, size_t *total_bytes) SHIM_NAME(cuMemGetInfo_v2);

CUresult cuEventCreate(CUevent *out, unsigned int flags) SHIM_NAME(cuEventCreate);
CUresult cuEventRecord(CUevent event, CUstream stream) SHIM_NAME(cuEventRecord);
CUresult cuEventQuery(CUevent event) SHIM_NAME(cuEventQuery);
CUresult cuEventElapsedTime(float *milliseconds, CUevent from, CUevent to)
	SHIM_NAME(cuEventElapsedTime);
CUresult cuEventElapsedTime_v2(float *milliseconds, CUevent from, CUevent to)
	SHIM_NAME(cuEventElapsedTime_v2);
CUresult cuEventDestroy_v2(CUevent event) SHIM_NAME(cuEventDestroy_v2);

CUresult cuStreamCreate(CUstream *out, unsigned int flags) SHIM_NAME(cuStreamCreate);
CUresult cuStreamDestroy_v2(CUstream stream) SHIM_NAME(cuStreamDestroy_v2);
CUresult cuStreamQuery(CUstream stream) SHIM_NAME(cuStreamQuery);
CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned int flags)
	SHIM_NAME(cuStreamWaitEvent);
CUresult cuStreamBeginCapture_v2(CUstream stream, int mode) SHIM_NAME(cuStreamBeginCapture_v2);
CUresult cuStreamEndCapture(CUstream stream, CUgraph *out) SHIM_NAME(cuStreamEndCapture);
CUresult cuGraphInstantiateWithFlags(CUgraphExec *out, CUgraph graph, unsigned long long flags)
	SHIM_NAME(cuGraphInstantiateWithFlags);
CUresult cuGraphDestroy(CUgraph graph) SHIM_NAME(cuGraphDestroy);
CUresult cuGraphExecDestroy(CUgraphExec exec) SHIM_NAME(cuGraphExecDestroy);

CUresult cuInit(unsigned int flags) SHIM_NAME(cuInit);
CUresult cuDriverGetVersion(int *version) SHIM_NAME(cuDriverGetVersion);
CUresult cuGetExportTable(const void **table, const CUuuid *id) SHIM_NAME(cuGetExportTable);
CUresult cuDeviceGet(CUdevice *out, int ordinal) SHIM_NAME(cuDeviceGet);
CUresult cuDeviceGetCount(int *count) SHIM_NAME(cuDeviceGetCount);
CUresult cuDeviceGetAttribute(int *value, int attribute, CUdevice device)
	SHIM_NAME(cuDeviceGetAttribute);
CUresult cuDeviceGetName(char *name, int size, CUdevice device) SHIM_NAME(cuDeviceGetName);
CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice device) SHIM_NAME(cuDeviceGetUuid);
CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device) SHIM_NAME(cuDeviceGetUuid_v2);
CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device) SHIM_NAME(cuDeviceTotalMem_v2);
CUresult cuCtxCreate_v2(CUcontext *out, unsigned int flags, CUdevice device)
	SHIM_NAME(cuCtxCreate_v2);
CUresult cuCtxDestroy_v2(CUcontext context) SHIM_NAME(cuCtxDestroy_v2);
CUresult cuCtxSetCurrent(CUcontext context) SHIM_NAME(cuCtxSetCurrent);
CUresult cuCtxGetCurrent(CUcontext *out) SHIM_NAME(cuCtxGetCurrent);
CUresult cuCtxGetDevice(CUdevice *out) SHIM_NAME(cuCtxGetDevice);
CUresult cuDevicePrimaryCtxRetain(CUcontext *out, CUdevice device)
	SHIM_NAME(cuDevicePrimaryCtxRetain);
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) SHIM_NAME(cuDevicePrimaryCtxRelease_v2);
CUresult cuGetProcAddress_v2(const char *symbol, void **out, int version, uint64_t flags,
			     int *status) SHIM_NAME(cuGetProcAddress_v2);
CUresult cuGetErrorName(CUresult result, const char **out) SHIM_NAME(cuGetErrorName);
CUresult cuGetErrorString(CUresult result, const char **out) SHIM_NAME(cuGetErrorString);

/* Twins for the per-thread default stream. */
#define CU_TWIN(name, suffix) __typeof__(name) name##suffix SHIM_NAME(name##suffix)
CU_TWIN(cuStreamSynchronize, _ptsz);
CU_TWIN(cuStreamQuery, _ptsz);
CU_TWIN(cuStreamWaitEvent, _ptsz);
CU_TWIN(cuStreamBeginCapture_v2, _ptsz);
CU_TWIN(cuStreamEndCapture, _ptsz);
CU_TWIN(cuEventRecord, _ptsz);
CU_TWIN(cuMemcpy, _ptds);
CU_TWIN(cuMemcpyHtoD_v2, _ptds);
CU_TWIN(cuMemcpyDtoH_v2, _ptds);
CU_TWIN(cuMemcpyDtoD_v2, _ptds);
CU_TWIN(cuMemcpyAsync, _ptsz);
CU_TWIN(cuMemcpyHtoDAsync_v2, _ptsz);
CU_TWIN(cuMemcpyDtoHAsync_v2, _ptsz);
CU_TWIN(cuMemcpyDtoDAsync_v2, _ptsz);
CU_TWIN(cuMemsetD8_v2, _ptds);
CU_TWIN(cuMemsetD32_v2, _ptds);
CU_TWIN(cuMemsetD8Async, _ptsz);
CU_TWIN(cuMemsetD32Async, _ptsz);
CU_TWIN(cuMemAllocAsync, _ptsz);
CU_TWIN(cuMemFreeAsync, _ptsz);

#endif
