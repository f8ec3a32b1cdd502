/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The numbers by which CUPTI's API records name functions: F(number, function), of the runtime.
 * Written by scripts/gen-cbids from the headers of several CUPTIs. Of functions whose prototype
 * has changed, several numbers have one name here.
 */
#ifndef GPUPROF_CBIDS_RUNTIME_H
#define GPUPROF_CBIDS_RUNTIME_H

#define GP_RUNTIME_CBIDS(F) \
	F(1, cudaDriverGetVersion) F(2, cudaRuntimeGetVersion) F(3, cudaGetDeviceCount) \
	F(4, cudaGetDeviceProperties) F(5, cudaChooseDevice) F(6, cudaGetChannelDesc) \
	F(7, cudaCreateChannelDesc) F(8, cudaConfigureCall) F(9, cudaSetupArgument) \
	F(10, cudaGetLastError) F(11, cudaPeekAtLastError) F(12, cudaGetErrorString) \
	F(13, cudaLaunch) F(14, cudaFuncSetCacheConfig) F(15, cudaFuncGetAttributes) \
	F(16, cudaSetDevice) F(17, cudaGetDevice) F(18, cudaSetValidDevices) \
	F(19, cudaSetDeviceFlags) F(20, cudaMalloc) F(21, cudaMallocPitch) F(22, cudaFree) \
	F(23, cudaMallocArray) F(24, cudaFreeArray) F(25, cudaMallocHost) F(26, cudaFreeHost) \
	F(27, cudaHostAlloc) F(28, cudaHostGetDevicePointer) F(29, cudaHostGetFlags) \
	F(30, cudaMemGetInfo) F(31, cudaMemcpy) F(32, cudaMemcpy2D) F(33, cudaMemcpyToArray) \
	F(34, cudaMemcpy2DToArray) F(35, cudaMemcpyFromArray) F(36, cudaMemcpy2DFromArray) \
	F(37, cudaMemcpyArrayToArray) F(38, cudaMemcpy2DArrayToArray) F(39, cudaMemcpyToSymbol) \
	F(40, cudaMemcpyFromSymbol) F(41, cudaMemcpyAsync) F(42, cudaMemcpyToArrayAsync) \
	F(43, cudaMemcpyFromArrayAsync) F(44, cudaMemcpy2DAsync) F(45, cudaMemcpy2DToArrayAsync) \
	F(46, cudaMemcpy2DFromArrayAsync) F(47, cudaMemcpyToSymbolAsync) \
	F(48, cudaMemcpyFromSymbolAsync) F(49, cudaMemset) F(50, cudaMemset2D) \
	F(51, cudaMemsetAsync) F(52, cudaMemset2DAsync) F(53, cudaGetSymbolAddress) \
	F(54, cudaGetSymbolSize) F(55, cudaBindTexture) F(56, cudaBindTexture2D) \
	F(57, cudaBindTextureToArray) F(58, cudaUnbindTexture) \
	F(59, cudaGetTextureAlignmentOffset) F(60, cudaGetTextureReference) \
	F(61, cudaBindSurfaceToArray) F(62, cudaGetSurfaceReference) F(63, cudaGLSetGLDevice) \
	F(64, cudaGLRegisterBufferObject) F(65, cudaGLMapBufferObject) \
	F(66, cudaGLUnmapBufferObject) F(67, cudaGLUnregisterBufferObject) \
	F(68, cudaGLSetBufferObjectMapFlags) F(69, cudaGLMapBufferObjectAsync) \
	F(70, cudaGLUnmapBufferObjectAsync) F(71, cudaWGLGetDevice) \
	F(72, cudaGraphicsGLRegisterImage) F(73, cudaGraphicsGLRegisterBuffer) \
	F(74, cudaGraphicsUnregisterResource) F(75, cudaGraphicsResourceSetMapFlags) \
	F(76, cudaGraphicsMapResources) F(77, cudaGraphicsUnmapResources) \
	F(78, cudaGraphicsResourceGetMappedPointer) F(79, cudaGraphicsSubResourceGetMappedArray) \
	F(80, cudaVDPAUGetDevice) F(81, cudaVDPAUSetVDPAUDevice) \
	F(82, cudaGraphicsVDPAURegisterVideoSurface) \
	F(83, cudaGraphicsVDPAURegisterOutputSurface) F(84, cudaD3D11GetDevice) \
	F(85, cudaD3D11GetDevices) F(86, cudaD3D11SetDirect3DDevice) \
	F(87, cudaGraphicsD3D11RegisterResource) F(88, cudaD3D10GetDevice) \
	F(89, cudaD3D10GetDevices) F(90, cudaD3D10SetDirect3DDevice) \
	F(91, cudaGraphicsD3D10RegisterResource) F(92, cudaD3D10RegisterResource) \
	F(93, cudaD3D10UnregisterResource) F(94, cudaD3D10MapResources) \
	F(95, cudaD3D10UnmapResources) F(96, cudaD3D10ResourceSetMapFlags) \
	F(97, cudaD3D10ResourceGetSurfaceDimensions) F(98, cudaD3D10ResourceGetMappedArray) \
	F(99, cudaD3D10ResourceGetMappedPointer) F(100, cudaD3D10ResourceGetMappedSize) \
	F(101, cudaD3D10ResourceGetMappedPitch) F(102, cudaD3D9GetDevice) \
	F(103, cudaD3D9GetDevices) F(104, cudaD3D9SetDirect3DDevice) \
	F(105, cudaD3D9GetDirect3DDevice) F(106, cudaGraphicsD3D9RegisterResource) \
	F(107, cudaD3D9RegisterResource) F(108, cudaD3D9UnregisterResource) \
	F(109, cudaD3D9MapResources) F(110, cudaD3D9UnmapResources) \
	F(111, cudaD3D9ResourceSetMapFlags) F(112, cudaD3D9ResourceGetSurfaceDimensions) \
	F(113, cudaD3D9ResourceGetMappedArray) F(114, cudaD3D9ResourceGetMappedPointer) \
	F(115, cudaD3D9ResourceGetMappedSize) F(116, cudaD3D9ResourceGetMappedPitch) \
	F(117, cudaD3D9Begin) F(118, cudaD3D9End) F(119, cudaD3D9RegisterVertexBuffer) \
	F(120, cudaD3D9UnregisterVertexBuffer) F(121, cudaD3D9MapVertexBuffer) \
	F(122, cudaD3D9UnmapVertexBuffer) F(123, cudaThreadExit) F(124, cudaSetDoubleForDevice) \
	F(125, cudaSetDoubleForHost) F(126, cudaThreadSynchronize) F(127, cudaThreadGetLimit) \
	F(128, cudaThreadSetLimit) F(129, cudaStreamCreate) F(130, cudaStreamDestroy) \
	F(131, cudaStreamSynchronize) F(132, cudaStreamQuery) F(133, cudaEventCreate) \
	F(134, cudaEventCreateWithFlags) F(135, cudaEventRecord) F(136, cudaEventDestroy) \
	F(137, cudaEventSynchronize) F(138, cudaEventQuery) F(139, cudaEventElapsedTime) \
	F(140, cudaMalloc3D) F(141, cudaMalloc3DArray) F(142, cudaMemset3D) \
	F(143, cudaMemset3DAsync) F(144, cudaMemcpy3D) F(145, cudaMemcpy3DAsync) \
	F(146, cudaThreadSetCacheConfig) F(147, cudaStreamWaitEvent) \
	F(148, cudaD3D11GetDirect3DDevice) F(149, cudaD3D10GetDirect3DDevice) \
	F(150, cudaThreadGetCacheConfig) F(151, cudaPointerGetAttributes) \
	F(152, cudaHostRegister) F(153, cudaHostUnregister) F(154, cudaDeviceCanAccessPeer) \
	F(155, cudaDeviceEnablePeerAccess) F(156, cudaDeviceDisablePeerAccess) \
	F(157, cudaPeerRegister) F(158, cudaPeerUnregister) F(159, cudaPeerGetDevicePointer) \
	F(160, cudaMemcpyPeer) F(161, cudaMemcpyPeerAsync) F(162, cudaMemcpy3DPeer) \
	F(163, cudaMemcpy3DPeerAsync) F(164, cudaDeviceReset) F(165, cudaDeviceSynchronize) \
	F(166, cudaDeviceGetLimit) F(167, cudaDeviceSetLimit) F(168, cudaDeviceGetCacheConfig) \
	F(169, cudaDeviceSetCacheConfig) F(170, cudaProfilerInitialize) \
	F(171, cudaProfilerStart) F(172, cudaProfilerStop) F(173, cudaDeviceGetByPCIBusId) \
	F(174, cudaDeviceGetPCIBusId) F(175, cudaGLGetDevices) F(176, cudaIpcGetEventHandle) \
	F(177, cudaIpcOpenEventHandle) F(178, cudaIpcGetMemHandle) F(179, cudaIpcOpenMemHandle) \
	F(180, cudaIpcCloseMemHandle) F(181, cudaArrayGetInfo) \
	F(182, cudaFuncSetSharedMemConfig) F(183, cudaDeviceGetSharedMemConfig) \
	F(184, cudaDeviceSetSharedMemConfig) F(185, cudaCreateTextureObject) \
	F(186, cudaDestroyTextureObject) F(187, cudaGetTextureObjectResourceDesc) \
	F(188, cudaGetTextureObjectTextureDesc) F(189, cudaCreateSurfaceObject) \
	F(190, cudaDestroySurfaceObject) F(191, cudaGetSurfaceObjectResourceDesc) \
	F(192, cudaMallocMipmappedArray) F(193, cudaGetMipmappedArrayLevel) \
	F(194, cudaFreeMipmappedArray) F(195, cudaBindTextureToMipmappedArray) \
	F(196, cudaGraphicsResourceGetMappedMipmappedArray) F(197, cudaStreamAddCallback) \
	F(198, cudaStreamCreateWithFlags) F(199, cudaGetTextureObjectResourceViewDesc) \
	F(200, cudaDeviceGetAttribute) F(201, cudaStreamDestroy) \
	F(202, cudaStreamCreateWithPriority) F(203, cudaStreamGetPriority) \
	F(204, cudaStreamGetFlags) F(205, cudaDeviceGetStreamPriorityRange) \
	F(206, cudaMallocManaged) F(207, cudaOccupancyMaxActiveBlocksPerMultiprocessor) \
	F(208, cudaStreamAttachMemAsync) F(209, cudaGetErrorName) \
	F(210, cudaOccupancyMaxActiveBlocksPerMultiprocessor) F(211, cudaLaunchKernel) \
	F(212, cudaGetDeviceFlags) F(213, cudaLaunch_ptsz) F(214, cudaLaunchKernel_ptsz) \
	F(215, cudaMemcpy_ptds) F(216, cudaMemcpy2D_ptds) F(217, cudaMemcpyToArray_ptds) \
	F(218, cudaMemcpy2DToArray_ptds) F(219, cudaMemcpyFromArray_ptds) \
	F(220, cudaMemcpy2DFromArray_ptds) F(221, cudaMemcpyArrayToArray_ptds) \
	F(222, cudaMemcpy2DArrayToArray_ptds) F(223, cudaMemcpyToSymbol_ptds) \
	F(224, cudaMemcpyFromSymbol_ptds) F(225, cudaMemcpyAsync_ptsz) \
	F(226, cudaMemcpyToArrayAsync_ptsz) F(227, cudaMemcpyFromArrayAsync_ptsz) \
	F(228, cudaMemcpy2DAsync_ptsz) F(229, cudaMemcpy2DToArrayAsync_ptsz) \
	F(230, cudaMemcpy2DFromArrayAsync_ptsz) F(231, cudaMemcpyToSymbolAsync_ptsz) \
	F(232, cudaMemcpyFromSymbolAsync_ptsz) F(233, cudaMemset_ptds) F(234, cudaMemset2D_ptds) \
	F(235, cudaMemsetAsync_ptsz) F(236, cudaMemset2DAsync_ptsz) \
	F(237, cudaStreamGetPriority_ptsz) F(238, cudaStreamGetFlags_ptsz) \
	F(239, cudaStreamSynchronize_ptsz) F(240, cudaStreamQuery_ptsz) \
	F(241, cudaStreamAttachMemAsync_ptsz) F(242, cudaEventRecord_ptsz) \
	F(243, cudaMemset3D_ptds) F(244, cudaMemset3DAsync_ptsz) F(245, cudaMemcpy3D_ptds) \
	F(246, cudaMemcpy3DAsync_ptsz) F(247, cudaStreamWaitEvent_ptsz) \
	F(248, cudaStreamAddCallback_ptsz) F(249, cudaMemcpy3DPeer_ptds) \
	F(250, cudaMemcpy3DPeerAsync_ptsz) \
	F(251, cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags) \
	F(252, cudaMemPrefetchAsync) F(253, cudaMemPrefetchAsync_ptsz) F(254, cudaMemAdvise) \
	F(255, cudaDeviceGetP2PAttribute) F(256, cudaGraphicsEGLRegisterImage) \
	F(257, cudaEGLStreamConsumerConnect) F(258, cudaEGLStreamConsumerDisconnect) \
	F(259, cudaEGLStreamConsumerAcquireFrame) F(260, cudaEGLStreamConsumerReleaseFrame) \
	F(261, cudaEGLStreamProducerConnect) F(262, cudaEGLStreamProducerDisconnect) \
	F(263, cudaEGLStreamProducerPresentFrame) F(264, cudaEGLStreamProducerReturnFrame) \
	F(265, cudaGraphicsResourceGetMappedEglFrame) F(266, cudaMemRangeGetAttribute) \
	F(267, cudaMemRangeGetAttributes) F(268, cudaEGLStreamConsumerConnectWithFlags) \
	F(269, cudaLaunchCooperativeKernel) F(270, cudaLaunchCooperativeKernel_ptsz) \
	F(271, cudaEventCreateFromEGLSync) F(272, cudaLaunchCooperativeKernelMultiDevice) \
	F(273, cudaFuncSetAttribute) F(274, cudaImportExternalMemory) \
	F(275, cudaExternalMemoryGetMappedBuffer) \
	F(276, cudaExternalMemoryGetMappedMipmappedArray) F(277, cudaDestroyExternalMemory) \
	F(278, cudaImportExternalSemaphore) F(279, cudaSignalExternalSemaphoresAsync) \
	F(280, cudaSignalExternalSemaphoresAsync_ptsz) F(281, cudaWaitExternalSemaphoresAsync) \
	F(282, cudaWaitExternalSemaphoresAsync_ptsz) F(283, cudaDestroyExternalSemaphore) \
	F(284, cudaLaunchHostFunc) F(285, cudaLaunchHostFunc_ptsz) F(286, cudaGraphCreate) \
	F(287, cudaGraphKernelNodeGetParams) F(288, cudaGraphKernelNodeSetParams) \
	F(289, cudaGraphAddKernelNode) F(290, cudaGraphAddMemcpyNode) \
	F(291, cudaGraphMemcpyNodeGetParams) F(292, cudaGraphMemcpyNodeSetParams) \
	F(293, cudaGraphAddMemsetNode) F(294, cudaGraphMemsetNodeGetParams) \
	F(295, cudaGraphMemsetNodeSetParams) F(296, cudaGraphAddHostNode) \
	F(297, cudaGraphHostNodeGetParams) F(298, cudaGraphAddChildGraphNode) \
	F(299, cudaGraphChildGraphNodeGetGraph) F(300, cudaGraphAddEmptyNode) \
	F(301, cudaGraphClone) F(302, cudaGraphNodeFindInClone) F(303, cudaGraphNodeGetType) \
	F(304, cudaGraphGetRootNodes) F(305, cudaGraphNodeGetDependencies) \
	F(306, cudaGraphNodeGetDependentNodes) F(307, cudaGraphAddDependencies) \
	F(308, cudaGraphRemoveDependencies) F(309, cudaGraphDestroyNode) \
	F(310, cudaGraphInstantiate) F(311, cudaGraphLaunch) F(312, cudaGraphLaunch_ptsz) \
	F(313, cudaGraphExecDestroy) F(314, cudaGraphDestroy) F(315, cudaStreamBeginCapture) \
	F(316, cudaStreamBeginCapture_ptsz) F(317, cudaStreamIsCapturing) \
	F(318, cudaStreamIsCapturing_ptsz) F(319, cudaStreamEndCapture) \
	F(320, cudaStreamEndCapture_ptsz) F(321, cudaGraphHostNodeSetParams) \
	F(322, cudaGraphGetNodes) F(323, cudaGraphGetEdges) F(324, cudaStreamGetCaptureInfo) \
	F(325, cudaStreamGetCaptureInfo_ptsz) F(326, cudaGraphExecKernelNodeSetParams) \
	F(327, cudaThreadExchangeStreamCaptureMode) F(328, cudaDeviceGetNvSciSyncAttributes) \
	F(329, cudaOccupancyAvailableDynamicSMemPerBlock) F(330, cudaStreamSetFlags) \
	F(331, cudaStreamSetFlags_ptsz) F(332, cudaGraphExecMemcpyNodeSetParams) \
	F(333, cudaGraphExecMemsetNodeSetParams) F(334, cudaGraphExecHostNodeSetParams) \
	F(335, cudaGraphExecUpdate) F(336, cudaGetFuncBySymbol) \
	F(337, cudaCtxResetPersistingL2Cache) F(338, cudaGraphKernelNodeCopyAttributes) \
	F(339, cudaGraphKernelNodeGetAttribute) F(340, cudaGraphKernelNodeSetAttribute) \
	F(341, cudaStreamCopyAttributes) F(342, cudaStreamCopyAttributes_ptsz) \
	F(343, cudaStreamGetAttribute) F(344, cudaStreamGetAttribute_ptsz) \
	F(345, cudaStreamSetAttribute) F(346, cudaStreamSetAttribute_ptsz) \
	F(347, cudaDeviceGetTexture1DLinearMaxWidth) F(348, cudaGraphUpload) \
	F(349, cudaGraphUpload_ptsz) F(350, cudaGraphAddMemcpyNodeToSymbol) \
	F(351, cudaGraphAddMemcpyNodeFromSymbol) F(352, cudaGraphAddMemcpyNode1D) \
	F(353, cudaGraphMemcpyNodeSetParamsToSymbol) \
	F(354, cudaGraphMemcpyNodeSetParamsFromSymbol) F(355, cudaGraphMemcpyNodeSetParams1D) \
	F(356, cudaGraphExecMemcpyNodeSetParamsToSymbol) \
	F(357, cudaGraphExecMemcpyNodeSetParamsFromSymbol) \
	F(358, cudaGraphExecMemcpyNodeSetParams1D) F(359, cudaArrayGetSparseProperties) \
	F(360, cudaMipmappedArrayGetSparseProperties) \
	F(361, cudaGraphExecChildGraphNodeSetParams) F(362, cudaGraphAddEventRecordNode) \
	F(363, cudaGraphEventRecordNodeGetEvent) F(364, cudaGraphEventRecordNodeSetEvent) \
	F(365, cudaGraphAddEventWaitNode) F(366, cudaGraphEventWaitNodeGetEvent) \
	F(367, cudaGraphEventWaitNodeSetEvent) F(368, cudaGraphExecEventRecordNodeSetEvent) \
	F(369, cudaGraphExecEventWaitNodeSetEvent) F(370, cudaEventRecordWithFlags) \
	F(371, cudaEventRecordWithFlags_ptsz) F(372, cudaDeviceGetDefaultMemPool) \
	F(373, cudaMallocAsync) F(374, cudaMallocAsync_ptsz) F(375, cudaFreeAsync) \
	F(376, cudaFreeAsync_ptsz) F(377, cudaMemPoolTrimTo) F(378, cudaMemPoolSetAttribute) \
	F(379, cudaMemPoolGetAttribute) F(380, cudaMemPoolSetAccess) F(381, cudaArrayGetPlane) \
	F(382, cudaMemPoolGetAccess) F(383, cudaMemPoolCreate) F(384, cudaMemPoolDestroy) \
	F(385, cudaDeviceSetMemPool) F(386, cudaDeviceGetMemPool) \
	F(387, cudaMemPoolExportToShareableHandle) F(388, cudaMemPoolImportFromShareableHandle) \
	F(389, cudaMemPoolExportPointer) F(390, cudaMemPoolImportPointer) \
	F(391, cudaMallocFromPoolAsync) F(392, cudaMallocFromPoolAsync_ptsz) \
	F(393, cudaSignalExternalSemaphoresAsync) F(394, cudaSignalExternalSemaphoresAsync_ptsz) \
	F(395, cudaWaitExternalSemaphoresAsync) F(396, cudaWaitExternalSemaphoresAsync_ptsz) \
	F(397, cudaGraphAddExternalSemaphoresSignalNode) \
	F(398, cudaGraphExternalSemaphoresSignalNodeGetParams) \
	F(399, cudaGraphExternalSemaphoresSignalNodeSetParams) \
	F(400, cudaGraphAddExternalSemaphoresWaitNode) \
	F(401, cudaGraphExternalSemaphoresWaitNodeGetParams) \
	F(402, cudaGraphExternalSemaphoresWaitNodeSetParams) \
	F(403, cudaGraphExecExternalSemaphoresSignalNodeSetParams) \
	F(404, cudaGraphExecExternalSemaphoresWaitNodeSetParams) \
	F(405, cudaDeviceFlushGPUDirectRDMAWrites) F(406, cudaGetDriverEntryPoint) \
	F(407, cudaGetDriverEntryPoint_ptsz) F(408, cudaGraphDebugDotPrint) \
	F(409, cudaStreamGetCaptureInfo_v2) F(410, cudaStreamGetCaptureInfo_v2_ptsz) \
	F(411, cudaStreamUpdateCaptureDependencies) \
	F(412, cudaStreamUpdateCaptureDependencies_ptsz) F(413, cudaUserObjectCreate) \
	F(414, cudaUserObjectRetain) F(415, cudaUserObjectRelease) \
	F(416, cudaGraphRetainUserObject) F(417, cudaGraphReleaseUserObject) \
	F(418, cudaGraphInstantiateWithFlags) F(419, cudaGraphAddMemAllocNode) \
	F(420, cudaGraphMemAllocNodeGetParams) F(421, cudaGraphAddMemFreeNode) \
	F(422, cudaGraphMemFreeNodeGetParams) F(423, cudaDeviceGraphMemTrim) \
	F(424, cudaDeviceGetGraphMemAttribute) F(425, cudaDeviceSetGraphMemAttribute) \
	F(426, cudaGraphNodeSetEnabled) F(427, cudaGraphNodeGetEnabled) \
	F(428, cudaArrayGetMemoryRequirements) F(429, cudaMipmappedArrayGetMemoryRequirements) \
	F(430, cudaLaunchKernelExC) F(431, cudaLaunchKernelExC_ptsz) \
	F(432, cudaOccupancyMaxPotentialClusterSize) F(433, cudaOccupancyMaxActiveClusters) \
	F(434, cudaCreateTextureObject_v2) F(435, cudaGetTextureObjectTextureDesc_v2) \
	F(436, cudaGraphInstantiateWithParams) F(437, cudaGraphInstantiateWithParams_ptsz) \
	F(438, cudaGraphExecGetFlags) F(439, cudaGetKernel) F(440, cudaGetDeviceProperties) \
	F(441, cudaStreamGetId) F(442, cudaStreamGetId_ptsz) F(443, cudaGraphInstantiate) \
	F(444, cudaInitDevice) F(445, cudaGraphAddNode) F(446, cudaGraphNodeSetParams) \
	F(447, cudaGraphExecNodeSetParams) F(448, cudaMemAdvise) F(449, cudaMemPrefetchAsync) \
	F(450, cudaMemPrefetchAsync_ptsz) F(451, cudaFuncGetName) \
	F(452, cudaStreamBeginCaptureToGraph) F(453, cudaStreamBeginCaptureToGraph_ptsz) \
	F(454, cudaGraphConditionalHandleCreate) F(455, cudaGraphGetEdges) \
	F(456, cudaGraphNodeGetDependencies) F(457, cudaGraphNodeGetDependentNodes) \
	F(458, cudaGraphAddDependencies) F(459, cudaGraphRemoveDependencies) \
	F(460, cudaGraphAddNode) F(461, cudaStreamGetCaptureInfo) \
	F(462, cudaStreamGetCaptureInfo_ptsz) F(463, cudaStreamUpdateCaptureDependencies) \
	F(464, cudaStreamUpdateCaptureDependencies_ptsz) \
	F(465, cudaDeviceRegisterAsyncNotification) \
	F(466, cudaDeviceUnregisterAsyncNotification) F(467, cudaFuncGetParamInfo) \
	F(468, cudaGetDriverEntryPointByVersion) F(469, cudaGetDriverEntryPointByVersion_ptsz) \
	F(470, cudaLibraryLoadData) F(471, cudaLibraryLoadFromFile) F(472, cudaLibraryUnload) \
	F(473, cudaLibraryGetKernel) F(474, cudaLibraryGetGlobal) F(475, cudaLibraryGetManaged) \
	F(476, cudaLibraryGetUnifiedFunction) F(477, cudaLibraryGetKernelCount) \
	F(478, cudaLibraryEnumerateKernels) F(479, cudaKernelSetAttributeForDevice) \
	F(480, cudaStreamGetDevice) F(481, cudaStreamGetDevice_ptsz) \
	F(482, cudaMemcpyBatchAsync) F(483, cudaMemcpyBatchAsync_ptsz) \
	F(484, cudaMemcpy3DBatchAsync) F(485, cudaMemcpy3DBatchAsync_ptsz) \
	F(486, cudaEventElapsedTime) F(487, cudaMemPrefetchBatchAsync) \
	F(488, cudaMemPrefetchBatchAsync_ptsz) F(489, cudaMemDiscardBatchAsync) \
	F(490, cudaMemDiscardBatchAsync_ptsz) F(491, cudaMemDiscardAndPrefetchBatchAsync) \
	F(492, cudaMemDiscardAndPrefetchBatchAsync_ptsz) F(493, cudaGetExportTable) \
	F(494, __cudaRegisterFatBinary) F(495, __cudaRegisterFatBinaryEnd) \
	F(496, __cudaUnregisterFatBinary) F(497, __cudaRegisterVar) \
	F(498, __cudaRegisterHostVar) F(499, __cudaRegisterFunction) \
	F(500, __cudaRegisterManagedVar) F(501, __cudaInitModule) \
	F(502, __cudaPushCallConfiguration) F(503, __cudaPopCallConfiguration) \
	F(504, __cudaGetKernel) F(505, __cudaLaunchKernel) F(506, __cudaLaunchKernel_ptsz) \
	F(507, __cudaRegisterUnifiedTable) F(508, __cudaGetProcAddress) \
	F(509, cudaMemcpyBatchAsync) F(510, cudaMemcpyBatchAsync_ptsz) \
	F(511, cudaMemcpy3DBatchAsync) F(512, cudaMemcpy3DBatchAsync_ptsz) \
	F(513, cudaLogsRegisterCallback) F(514, cudaLogsUnregisterCallback) \
	F(515, cudaLogsCurrent) F(516, cudaLogsDumpToFile) F(517, cudaLogsDumpToMemory) \
	F(518, cudaMemGetDefaultMemPool) F(519, cudaMemGetMemPool) F(520, cudaMemSetMemPool) \
	F(521, cudaDeviceGetHostAtomicCapabilities) F(522, cudaDeviceGetP2PAtomicCapabilities) \
	F(523, cudaDeviceGetDevResource) F(524, cudaDevSmResourceSplitByCount) \
	F(525, cudaDevResourceGenerateDesc) F(526, cudaGreenCtxCreate) \
	F(527, cudaExecutionCtxDestroy) F(528, cudaExecutionCtxGetDevResource) \
	F(529, cudaExecutionCtxGetDevice) F(530, cudaExecutionCtxGetId) F(531, cuda531) \
	F(532, cuda532) F(533, cudaExecutionCtxStreamCreate) F(534, cudaExecutionCtxSynchronize) \
	F(535, cudaGraphConditionalHandleCreate_v2) F(536, cudaStreamGetDevResource) \
	F(537, cudaStreamGetDevResource_ptsz) F(538, cudaGraphNodeGetContainingGraph) \
	F(539, cudaGraphNodeGetLocalId) F(540, cudaGraphNodeGetToolsId) F(541, cudaGraphGetId) \
	F(542, cudaGraphExecGetId) F(543, cudaExecutionCtxRecordEvent) \
	F(544, cudaExecutionCtxWaitEvent) F(545, cuda545) F(546, cuda546) F(547, cuda547) \
	F(548, cudaDeviceGetExecutionCtx) F(549, cudaDevSmResourceSplit) \
	F(550, cudaLaunchHostFunc_v2) F(551, cudaLaunchHostFunc_v2_ptsz) \
	F(552, cudaFuncGetParamCount) F(553, cuda553) F(554, cudaMemcpyWithAttributesAsync) \
	F(555, cudaMemcpyWithAttributesAsync_ptsz) F(556, cudaMemcpy3DWithAttributesAsync) \
	F(557, cudaMemcpy3DWithAttributesAsync_ptsz) F(558, cudaGraphNodeGetParams) \
	F(559, cuda559) F(560, cuda560) F(561, cuda561) F(562, cudaStreamBeginRecaptureToGraph) \
	F(563, cudaStreamBeginRecaptureToGraph_ptsz) F(564, cuda564) \
	F(565, cudaMemGetLocationInfo) F(566, cuda566)

#endif
