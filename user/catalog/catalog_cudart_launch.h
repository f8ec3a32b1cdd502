/* SPDX-License-Identifier: BSD-3-Clause */
/* Made by scripts/gen-catalog from the vendor's headers: rows of catalog_cudart.c. */
	ROW(cudaDeviceFlushGPUDirectRDMAWrites, .class = CLASS_SYNC, .two = 1),
	ROW(cudaDeviceSynchronize, .class = CLASS_SYNC, .two = 1),
	ROW(cudaEventSynchronize, .class = CLASS_SYNC, .two = 1),
	ROW(cudaExecutionCtxSynchronize, .class = CLASS_SYNC, .two = 1),
	PTSZ(cudaGraphLaunch, .class = CLASS_LAUNCH, .entity = 1, .stream = 2),
	PTSZ(cudaLaunchCooperativeKernel, LAUNCH_DIM3),
	ROW(cudaLaunchCooperativeKernelMultiDevice, .class = CLASS_LAUNCH),
	PTSZ(cudaLaunchKernel, LAUNCH_DIM3),
	PTSZ(cudaLaunchKernelExC, LAUNCH_CONFIG),
	PTSZ(cudaStreamSynchronize, .class = CLASS_SYNC, .two = 1, .stream = 1),
	ROW(cudaThreadSynchronize, .class = CLASS_SYNC, .two = 1),
