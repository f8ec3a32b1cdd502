/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The numbers by which CUPTI's API records name functions: F(number, function), of the driver.
 * Written by scripts/gen-cbids from the headers of several CUPTIs. Of functions whose prototype
 * has changed, several numbers have one name here.
 */
#ifndef GPUPROF_CBIDS_DRIVER_H
#define GPUPROF_CBIDS_DRIVER_H

#define GP_DRIVER_CBIDS(F) \
	F(1, cuInit) F(2, cuDriverGetVersion) F(3, cuDeviceGet) F(4, cuDeviceGetCount) \
	F(5, cuDeviceGetName) F(6, cuDeviceComputeCapability) F(7, cuDeviceTotalMem) \
	F(8, cuDeviceGetProperties) F(9, cuDeviceGetAttribute) F(10, cuCtxCreate) \
	F(11, cuCtxDestroy) F(12, cuCtxAttach) F(13, cuCtxDetach) F(14, cuCtxPushCurrent) \
	F(15, cuCtxPopCurrent) F(16, cuCtxGetDevice) F(17, cuCtxSynchronize) F(18, cuModuleLoad) \
	F(19, cuModuleLoadData) F(20, cuModuleLoadDataEx) F(21, cuModuleLoadFatBinary) \
	F(22, cuModuleUnload) F(23, cuModuleGetFunction) F(24, cuModuleGetGlobal) \
	F(25, cu64ModuleGetGlobal) F(26, cuModuleGetTexRef) F(27, cuMemGetInfo) \
	F(28, cu64MemGetInfo) F(29, cuMemAlloc) F(30, cu64MemAlloc) F(31, cuMemAllocPitch) \
	F(32, cu64MemAllocPitch) F(33, cuMemFree) F(34, cu64MemFree) F(35, cuMemGetAddressRange) \
	F(36, cu64MemGetAddressRange) F(37, cuMemAllocHost) F(38, cuMemFreeHost) \
	F(39, cuMemHostAlloc) F(40, cuMemHostGetDevicePointer) \
	F(41, cu64MemHostGetDevicePointer) F(42, cuMemHostGetFlags) F(43, cuMemcpyHtoD) \
	F(44, cu64MemcpyHtoD) F(45, cuMemcpyDtoH) F(46, cu64MemcpyDtoH) F(47, cuMemcpyDtoD) \
	F(48, cu64MemcpyDtoD) F(49, cuMemcpyDtoA) F(50, cu64MemcpyDtoA) F(51, cuMemcpyAtoD) \
	F(52, cu64MemcpyAtoD) F(53, cuMemcpyHtoA) F(54, cuMemcpyAtoH) F(55, cuMemcpyAtoA) \
	F(56, cuMemcpy2D) F(57, cuMemcpy2DUnaligned) F(58, cuMemcpy3D) F(59, cu64Memcpy3D) \
	F(60, cuMemcpyHtoDAsync) F(61, cu64MemcpyHtoDAsync) F(62, cuMemcpyDtoHAsync) \
	F(63, cu64MemcpyDtoHAsync) F(64, cuMemcpyDtoDAsync) F(65, cu64MemcpyDtoDAsync) \
	F(66, cuMemcpyHtoAAsync) F(67, cuMemcpyAtoHAsync) F(68, cuMemcpy2DAsync) \
	F(69, cuMemcpy3DAsync) F(70, cu64Memcpy3DAsync) F(71, cuMemsetD8) F(72, cu64MemsetD8) \
	F(73, cuMemsetD16) F(74, cu64MemsetD16) F(75, cuMemsetD32) F(76, cu64MemsetD32) \
	F(77, cuMemsetD2D8) F(78, cu64MemsetD2D8) F(79, cuMemsetD2D16) F(80, cu64MemsetD2D16) \
	F(81, cuMemsetD2D32) F(82, cu64MemsetD2D32) F(83, cuFuncSetBlockShape) \
	F(84, cuFuncSetSharedSize) F(85, cuFuncGetAttribute) F(86, cuFuncSetCacheConfig) \
	F(87, cuArrayCreate) F(88, cuArrayGetDescriptor) F(89, cuArrayDestroy) \
	F(90, cuArray3DCreate) F(91, cuArray3DGetDescriptor) F(92, cuTexRefCreate) \
	F(93, cuTexRefDestroy) F(94, cuTexRefSetArray) F(95, cuTexRefSetAddress) \
	F(96, cu64TexRefSetAddress) F(97, cuTexRefSetAddress2D) F(98, cu64TexRefSetAddress2D) \
	F(99, cuTexRefSetFormat) F(100, cuTexRefSetAddressMode) F(101, cuTexRefSetFilterMode) \
	F(102, cuTexRefSetFlags) F(103, cuTexRefGetAddress) F(104, cu64TexRefGetAddress) \
	F(105, cuTexRefGetArray) F(106, cuTexRefGetAddressMode) F(107, cuTexRefGetFilterMode) \
	F(108, cuTexRefGetFormat) F(109, cuTexRefGetFlags) F(110, cuParamSetSize) \
	F(111, cuParamSeti) F(112, cuParamSetf) F(113, cuParamSetv) F(114, cuParamSetTexRef) \
	F(115, cuLaunch) F(116, cuLaunchGrid) F(117, cuLaunchGridAsync) F(118, cuEventCreate) \
	F(119, cuEventRecord) F(120, cuEventQuery) F(121, cuEventSynchronize) \
	F(122, cuEventDestroy) F(123, cuEventElapsedTime) F(124, cuStreamCreate) \
	F(125, cuStreamQuery) F(126, cuStreamSynchronize) F(127, cuStreamDestroy) \
	F(128, cuGraphicsUnregisterResource) F(129, cuGraphicsSubResourceGetMappedArray) \
	F(130, cuGraphicsResourceGetMappedPointer) F(131, cu64GraphicsResourceGetMappedPointer) \
	F(132, cuGraphicsResourceSetMapFlags) F(133, cuGraphicsMapResources) \
	F(134, cuGraphicsUnmapResources) F(135, cuGetExportTable) F(136, cuCtxSetLimit) \
	F(137, cuCtxGetLimit) F(138, cuD3D10GetDevice) F(139, cuD3D10CtxCreate) \
	F(140, cuGraphicsD3D10RegisterResource) F(141, cuD3D10RegisterResource) \
	F(142, cuD3D10UnregisterResource) F(143, cuD3D10MapResources) \
	F(144, cuD3D10UnmapResources) F(145, cuD3D10ResourceSetMapFlags) \
	F(146, cuD3D10ResourceGetMappedArray) F(147, cuD3D10ResourceGetMappedPointer) \
	F(148, cuD3D10ResourceGetMappedSize) F(149, cuD3D10ResourceGetMappedPitch) \
	F(150, cuD3D10ResourceGetSurfaceDimensions) F(151, cuD3D11GetDevice) \
	F(152, cuD3D11CtxCreate) F(153, cuGraphicsD3D11RegisterResource) F(154, cuD3D9GetDevice) \
	F(155, cuD3D9CtxCreate) F(156, cuGraphicsD3D9RegisterResource) \
	F(157, cuD3D9GetDirect3DDevice) F(158, cuD3D9RegisterResource) \
	F(159, cuD3D9UnregisterResource) F(160, cuD3D9MapResources) F(161, cuD3D9UnmapResources) \
	F(162, cuD3D9ResourceSetMapFlags) F(163, cuD3D9ResourceGetSurfaceDimensions) \
	F(164, cuD3D9ResourceGetMappedArray) F(165, cuD3D9ResourceGetMappedPointer) \
	F(166, cuD3D9ResourceGetMappedSize) F(167, cuD3D9ResourceGetMappedPitch) \
	F(168, cuD3D9Begin) F(169, cuD3D9End) F(170, cuD3D9RegisterVertexBuffer) \
	F(171, cuD3D9MapVertexBuffer) F(172, cuD3D9UnmapVertexBuffer) \
	F(173, cuD3D9UnregisterVertexBuffer) F(174, cuGLCtxCreate) \
	F(175, cuGraphicsGLRegisterBuffer) F(176, cuGraphicsGLRegisterImage) \
	F(177, cuWGLGetDevice) F(178, cuGLInit) F(179, cuGLRegisterBufferObject) \
	F(180, cuGLMapBufferObject) F(181, cuGLUnmapBufferObject) \
	F(182, cuGLUnregisterBufferObject) F(183, cuGLSetBufferObjectMapFlags) \
	F(184, cuGLMapBufferObjectAsync) F(185, cuGLUnmapBufferObjectAsync) \
	F(186, cuVDPAUGetDevice) F(187, cuVDPAUCtxCreate) \
	F(188, cuGraphicsVDPAURegisterVideoSurface) F(189, cuGraphicsVDPAURegisterOutputSurface) \
	F(190, cuModuleGetSurfRef) F(191, cuSurfRefCreate) F(192, cuSurfRefDestroy) \
	F(193, cuSurfRefSetFormat) F(194, cuSurfRefSetArray) F(195, cuSurfRefGetFormat) \
	F(196, cuSurfRefGetArray) F(197, cu64DeviceTotalMem) \
	F(198, cu64D3D10ResourceGetMappedPointer) F(199, cu64D3D10ResourceGetMappedSize) \
	F(200, cu64D3D10ResourceGetMappedPitch) F(201, cu64D3D10ResourceGetSurfaceDimensions) \
	F(202, cu64D3D9ResourceGetSurfaceDimensions) F(203, cu64D3D9ResourceGetMappedPointer) \
	F(204, cu64D3D9ResourceGetMappedSize) F(205, cu64D3D9ResourceGetMappedPitch) \
	F(206, cu64D3D9MapVertexBuffer) F(207, cu64GLMapBufferObject) \
	F(208, cu64GLMapBufferObjectAsync) F(209, cuD3D11GetDevices) \
	F(210, cuD3D11CtxCreateOnDevice) F(211, cuD3D10GetDevices) \
	F(212, cuD3D10CtxCreateOnDevice) F(213, cuD3D9GetDevices) \
	F(214, cuD3D9CtxCreateOnDevice) F(215, cu64MemHostAlloc) F(216, cuMemsetD8Async) \
	F(217, cu64MemsetD8Async) F(218, cuMemsetD16Async) F(219, cu64MemsetD16Async) \
	F(220, cuMemsetD32Async) F(221, cu64MemsetD32Async) F(222, cuMemsetD2D8Async) \
	F(223, cu64MemsetD2D8Async) F(224, cuMemsetD2D16Async) F(225, cu64MemsetD2D16Async) \
	F(226, cuMemsetD2D32Async) F(227, cu64MemsetD2D32Async) F(228, cu64ArrayCreate) \
	F(229, cu64ArrayGetDescriptor) F(230, cu64Array3DCreate) \
	F(231, cu64Array3DGetDescriptor) F(232, cu64Memcpy2D) F(233, cu64Memcpy2DUnaligned) \
	F(234, cu64Memcpy2DAsync) F(235, cuCtxCreate_v2) F(236, cuD3D10CtxCreate_v2) \
	F(237, cuD3D11CtxCreate_v2) F(238, cuD3D9CtxCreate_v2) F(239, cuGLCtxCreate_v2) \
	F(240, cuVDPAUCtxCreate_v2) F(241, cuModuleGetGlobal_v2) F(242, cuMemGetInfo_v2) \
	F(243, cuMemAlloc_v2) F(244, cuMemAllocPitch_v2) F(245, cuMemFree_v2) \
	F(246, cuMemGetAddressRange_v2) F(247, cuMemHostGetDevicePointer_v2) F(248, cuMemcpy_v2) \
	F(249, cuMemsetD8_v2) F(250, cuMemsetD16_v2) F(251, cuMemsetD32_v2) \
	F(252, cuMemsetD2D8_v2) F(253, cuMemsetD2D16_v2) F(254, cuMemsetD2D32_v2) \
	F(255, cuTexRefSetAddress_v2) F(256, cuTexRefSetAddress2D_v2) \
	F(257, cuTexRefGetAddress_v2) F(258, cuGraphicsResourceGetMappedPointer_v2) \
	F(259, cuDeviceTotalMem_v2) F(260, cuD3D10ResourceGetMappedPointer_v2) \
	F(261, cuD3D10ResourceGetMappedSize_v2) F(262, cuD3D10ResourceGetMappedPitch_v2) \
	F(263, cuD3D10ResourceGetSurfaceDimensions_v2) \
	F(264, cuD3D9ResourceGetSurfaceDimensions_v2) F(265, cuD3D9ResourceGetMappedPointer_v2) \
	F(266, cuD3D9ResourceGetMappedSize_v2) F(267, cuD3D9ResourceGetMappedPitch_v2) \
	F(268, cuD3D9MapVertexBuffer_v2) F(269, cuGLMapBufferObject_v2) \
	F(270, cuGLMapBufferObjectAsync_v2) F(271, cuMemHostAlloc_v2) F(272, cuArrayCreate_v2) \
	F(273, cuArrayGetDescriptor_v2) F(274, cuArray3DCreate_v2) \
	F(275, cuArray3DGetDescriptor_v2) F(276, cuMemcpyHtoD_v2) F(277, cuMemcpyHtoDAsync_v2) \
	F(278, cuMemcpyDtoH_v2) F(279, cuMemcpyDtoHAsync_v2) F(280, cuMemcpyDtoD_v2) \
	F(281, cuMemcpyDtoDAsync_v2) F(282, cuMemcpyAtoH_v2) F(283, cuMemcpyAtoHAsync_v2) \
	F(284, cuMemcpyAtoD_v2) F(285, cuMemcpyDtoA_v2) F(286, cuMemcpyAtoA_v2) \
	F(287, cuMemcpy2D_v2) F(288, cuMemcpy2DUnaligned_v2) F(289, cuMemcpy2DAsync_v2) \
	F(290, cuMemcpy3D_v2) F(291, cuMemcpy3DAsync_v2) F(292, cuMemcpyHtoA_v2) \
	F(293, cuMemcpyHtoAAsync_v2) F(294, cuMemAllocHost_v2) F(295, cuStreamWaitEvent) \
	F(296, cuCtxGetApiVersion) F(297, cuD3D10GetDirect3DDevice) \
	F(298, cuD3D11GetDirect3DDevice) F(299, cuCtxGetCacheConfig) F(300, cuCtxSetCacheConfig) \
	F(301, cuMemHostRegister) F(302, cuMemHostUnregister) F(303, cuCtxSetCurrent) \
	F(304, cuCtxGetCurrent) F(305, cuMemcpy) F(306, cuMemcpyAsync) F(307, cuLaunchKernel) \
	F(308, cuProfilerStart) F(309, cuProfilerStop) F(310, cuPointerGetAttribute) \
	F(311, cuProfilerInitialize) F(312, cuDeviceCanAccessPeer) F(313, cuCtxEnablePeerAccess) \
	F(314, cuCtxDisablePeerAccess) F(315, cuMemPeerRegister) F(316, cuMemPeerUnregister) \
	F(317, cuMemPeerGetDevicePointer) F(318, cuMemcpyPeer) F(319, cuMemcpyPeerAsync) \
	F(320, cuMemcpy3DPeer) F(321, cuMemcpy3DPeerAsync) F(322, cuCtxDestroy_v2) \
	F(323, cuCtxPushCurrent_v2) F(324, cuCtxPopCurrent_v2) F(325, cuEventDestroy_v2) \
	F(326, cuStreamDestroy_v2) F(327, cuTexRefSetAddress2D_v3) F(328, cuIpcGetMemHandle) \
	F(329, cuIpcOpenMemHandle) F(330, cuIpcCloseMemHandle) F(331, cuDeviceGetByPCIBusId) \
	F(332, cuDeviceGetPCIBusId) F(333, cuGLGetDevices) F(334, cuIpcGetEventHandle) \
	F(335, cuIpcOpenEventHandle) F(336, cuCtxSetSharedMemConfig) \
	F(337, cuCtxGetSharedMemConfig) F(338, cuFuncSetSharedMemConfig) \
	F(339, cuTexObjectCreate) F(340, cuTexObjectDestroy) F(341, cuTexObjectGetResourceDesc) \
	F(342, cuTexObjectGetTextureDesc) F(343, cuSurfObjectCreate) F(344, cuSurfObjectDestroy) \
	F(345, cuSurfObjectGetResourceDesc) F(346, cuStreamAddCallback) \
	F(347, cuMipmappedArrayCreate) F(348, cuMipmappedArrayGetLevel) \
	F(349, cuMipmappedArrayDestroy) F(350, cuTexRefSetMipmappedArray) \
	F(351, cuTexRefSetMipmapFilterMode) F(352, cuTexRefSetMipmapLevelBias) \
	F(353, cuTexRefSetMipmapLevelClamp) F(354, cuTexRefSetMaxAnisotropy) \
	F(355, cuTexRefGetMipmappedArray) F(356, cuTexRefGetMipmapFilterMode) \
	F(357, cuTexRefGetMipmapLevelBias) F(358, cuTexRefGetMipmapLevelClamp) \
	F(359, cuTexRefGetMaxAnisotropy) F(360, cuGraphicsResourceGetMappedMipmappedArray) \
	F(361, cuTexObjectGetResourceViewDesc) F(362, cuLinkCreate) F(363, cuLinkAddData) \
	F(364, cuLinkAddFile) F(365, cuLinkComplete) F(366, cuLinkDestroy) \
	F(367, cuStreamCreateWithPriority) F(368, cuStreamGetPriority) F(369, cuStreamGetFlags) \
	F(370, cuCtxGetStreamPriorityRange) F(371, cuMemAllocManaged) F(372, cuGetErrorString) \
	F(373, cuGetErrorName) F(374, cuOccupancyMaxActiveBlocksPerMultiprocessor) \
	F(375, cuCompilePtx) F(376, cuBinaryFree) F(377, cuStreamAttachMemAsync) \
	F(378, cuPointerSetAttribute) F(379, cuMemHostRegister_v2) \
	F(380, cuGraphicsResourceSetMapFlags_v2) F(381, cuLinkCreate_v2) \
	F(382, cuLinkAddData_v2) F(383, cuLinkAddFile_v2) \
	F(384, cuOccupancyMaxPotentialBlockSize) F(385, cuGLGetDevices_v2) \
	F(386, cuDevicePrimaryCtxRetain) F(387, cuDevicePrimaryCtxRelease) \
	F(388, cuDevicePrimaryCtxSetFlags) F(389, cuDevicePrimaryCtxReset) \
	F(390, cuGraphicsEGLRegisterImage) F(391, cuCtxGetFlags) \
	F(392, cuDevicePrimaryCtxGetState) F(393, cuEGLStreamConsumerConnect) \
	F(394, cuEGLStreamConsumerDisconnect) F(395, cuEGLStreamConsumerAcquireFrame) \
	F(396, cuEGLStreamConsumerReleaseFrame) F(397, cuMemcpyHtoD_v2_ptds) \
	F(398, cuMemcpyDtoH_v2_ptds) F(399, cuMemcpyDtoD_v2_ptds) F(400, cuMemcpyDtoA_v2_ptds) \
	F(401, cuMemcpyAtoD_v2_ptds) F(402, cuMemcpyHtoA_v2_ptds) F(403, cuMemcpyAtoH_v2_ptds) \
	F(404, cuMemcpyAtoA_v2_ptds) F(405, cuMemcpy2D_v2_ptds) \
	F(406, cuMemcpy2DUnaligned_v2_ptds) F(407, cuMemcpy3D_v2_ptds) F(408, cuMemcpy_ptds) \
	F(409, cuMemcpyPeer_ptds) F(410, cuMemcpy3DPeer_ptds) F(411, cuMemsetD8_v2_ptds) \
	F(412, cuMemsetD16_v2_ptds) F(413, cuMemsetD32_v2_ptds) F(414, cuMemsetD2D8_v2_ptds) \
	F(415, cuMemsetD2D16_v2_ptds) F(416, cuMemsetD2D32_v2_ptds) \
	F(417, cuGLMapBufferObject_v2_ptds) F(418, cuMemcpyAsync_ptsz) \
	F(419, cuMemcpyHtoAAsync_v2_ptsz) F(420, cuMemcpyAtoHAsync_v2_ptsz) \
	F(421, cuMemcpyHtoDAsync_v2_ptsz) F(422, cuMemcpyDtoHAsync_v2_ptsz) \
	F(423, cuMemcpyDtoDAsync_v2_ptsz) F(424, cuMemcpy2DAsync_v2_ptsz) \
	F(425, cuMemcpy3DAsync_v2_ptsz) F(426, cuMemcpyPeerAsync_ptsz) \
	F(427, cuMemcpy3DPeerAsync_ptsz) F(428, cuMemsetD8Async_ptsz) \
	F(429, cuMemsetD16Async_ptsz) F(430, cuMemsetD32Async_ptsz) \
	F(431, cuMemsetD2D8Async_ptsz) F(432, cuMemsetD2D16Async_ptsz) \
	F(433, cuMemsetD2D32Async_ptsz) F(434, cuStreamGetPriority_ptsz) \
	F(435, cuStreamGetFlags_ptsz) F(436, cuStreamWaitEvent_ptsz) \
	F(437, cuStreamAddCallback_ptsz) F(438, cuStreamAttachMemAsync_ptsz) \
	F(439, cuStreamQuery_ptsz) F(440, cuStreamSynchronize_ptsz) F(441, cuEventRecord_ptsz) \
	F(442, cuLaunchKernel_ptsz) F(443, cuGraphicsMapResources_ptsz) \
	F(444, cuGraphicsUnmapResources_ptsz) F(445, cuGLMapBufferObjectAsync_v2_ptsz) \
	F(446, cuEGLStreamProducerConnect) F(447, cuEGLStreamProducerDisconnect) \
	F(448, cuEGLStreamProducerPresentFrame) F(449, cuGraphicsResourceGetMappedEglFrame) \
	F(450, cuPointerGetAttributes) \
	F(451, cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags) \
	F(452, cuOccupancyMaxPotentialBlockSizeWithFlags) F(453, cuEGLStreamProducerReturnFrame) \
	F(454, cuDeviceGetP2PAttribute) F(455, cuTexRefSetBorderColor) \
	F(456, cuTexRefGetBorderColor) F(457, cuMemAdvise) F(458, cuStreamWaitValue32) \
	F(459, cuStreamWaitValue32_ptsz) F(460, cuStreamWriteValue32) \
	F(461, cuStreamWriteValue32_ptsz) F(462, cuStreamBatchMemOp) \
	F(463, cuStreamBatchMemOp_ptsz) F(464, cuNVNbufferGetPointer) \
	F(465, cuNVNtextureGetArray) F(466, cuNNSetAllocator) F(467, cuMemPrefetchAsync) \
	F(468, cuMemPrefetchAsync_ptsz) F(469, cuEventCreateFromNVNSync) \
	F(470, cuEGLStreamConsumerConnectWithFlags) F(471, cuMemRangeGetAttribute) \
	F(472, cuMemRangeGetAttributes) F(473, cuStreamWaitValue64) \
	F(474, cuStreamWaitValue64_ptsz) F(475, cuStreamWriteValue64) \
	F(476, cuStreamWriteValue64_ptsz) F(477, cuLaunchCooperativeKernel) \
	F(478, cuLaunchCooperativeKernel_ptsz) F(479, cuEventCreateFromEGLSync) \
	F(480, cuLaunchCooperativeKernelMultiDevice) F(481, cuFuncSetAttribute) \
	F(482, cuDeviceGetUuid) F(483, cuStreamGetCtx) F(484, cuStreamGetCtx_ptsz) \
	F(485, cuImportExternalMemory) F(486, cuExternalMemoryGetMappedBuffer) \
	F(487, cuExternalMemoryGetMappedMipmappedArray) F(488, cuDestroyExternalMemory) \
	F(489, cuImportExternalSemaphore) F(490, cuSignalExternalSemaphoresAsync) \
	F(491, cuSignalExternalSemaphoresAsync_ptsz) F(492, cuWaitExternalSemaphoresAsync) \
	F(493, cuWaitExternalSemaphoresAsync_ptsz) F(494, cuDestroyExternalSemaphore) \
	F(495, cuStreamBeginCapture) F(496, cuStreamBeginCapture_ptsz) \
	F(497, cuStreamEndCapture) F(498, cuStreamEndCapture_ptsz) F(499, cuStreamIsCapturing) \
	F(500, cuStreamIsCapturing_ptsz) F(501, cuGraphCreate) F(502, cuGraphAddKernelNode) \
	F(503, cuGraphKernelNodeGetParams) F(504, cuGraphAddMemcpyNode) \
	F(505, cuGraphMemcpyNodeGetParams) F(506, cuGraphAddMemsetNode) \
	F(507, cuGraphMemsetNodeGetParams) F(508, cuGraphMemsetNodeSetParams) \
	F(509, cuGraphNodeGetType) F(510, cuGraphGetRootNodes) \
	F(511, cuGraphNodeGetDependencies) F(512, cuGraphNodeGetDependentNodes) \
	F(513, cuGraphInstantiate) F(514, cuGraphLaunch) F(515, cuGraphLaunch_ptsz) \
	F(516, cuGraphExecDestroy) F(517, cuGraphDestroy) F(518, cuGraphAddDependencies) \
	F(519, cuGraphRemoveDependencies) F(520, cuGraphMemcpyNodeSetParams) \
	F(521, cuGraphKernelNodeSetParams) F(522, cuGraphDestroyNode) F(523, cuGraphClone) \
	F(524, cuGraphNodeFindInClone) F(525, cuGraphAddChildGraphNode) \
	F(526, cuGraphAddEmptyNode) F(527, cuLaunchHostFunc) F(528, cuLaunchHostFunc_ptsz) \
	F(529, cuGraphChildGraphNodeGetGraph) F(530, cuGraphAddHostNode) \
	F(531, cuGraphHostNodeGetParams) F(532, cuDeviceGetLuid) \
	F(533, cuGraphHostNodeSetParams) F(534, cuGraphGetNodes) F(535, cuGraphGetEdges) \
	F(536, cuStreamGetCaptureInfo) F(537, cuStreamGetCaptureInfo_ptsz) \
	F(538, cuGraphExecKernelNodeSetParams) F(539, cuStreamBeginCapture_v2) \
	F(540, cuStreamBeginCapture_v2_ptsz) F(541, cuThreadExchangeStreamCaptureMode) \
	F(542, cuDeviceGetNvSciSyncAttributes) F(543, cuOccupancyAvailableDynamicSMemPerBlock) \
	F(544, cuDevicePrimaryCtxRelease_v2) F(545, cuDevicePrimaryCtxReset_v2) \
	F(546, cuDevicePrimaryCtxSetFlags_v2) F(547, cuMemAddressReserve) \
	F(548, cuMemAddressFree) F(549, cuMemCreate) F(550, cuMemRelease) F(551, cuMemMap) \
	F(552, cuMemUnmap) F(553, cuMemSetAccess) F(554, cuMemExportToShareableHandle) \
	F(555, cuMemImportFromShareableHandle) F(556, cuMemGetAllocationGranularity) \
	F(557, cuMemGetAllocationPropertiesFromHandle) F(558, cuMemGetAccess) \
	F(559, cuStreamSetFlags) F(560, cuStreamSetFlags_ptsz) F(561, cuGraphExecUpdate) \
	F(562, cuGraphExecMemcpyNodeSetParams) F(563, cuGraphExecMemsetNodeSetParams) \
	F(564, cuGraphExecHostNodeSetParams) F(565, cuMemRetainAllocationHandle) \
	F(566, cuFuncGetModule) F(567, cuIpcOpenMemHandle_v2) \
	F(568, cuCtxResetPersistingL2Cache) F(569, cuGraphKernelNodeCopyAttributes) \
	F(570, cuGraphKernelNodeGetAttribute) F(571, cuGraphKernelNodeSetAttribute) \
	F(572, cuStreamCopyAttributes) F(573, cuStreamCopyAttributes_ptsz) \
	F(574, cuStreamGetAttribute) F(575, cuStreamGetAttribute_ptsz) \
	F(576, cuStreamSetAttribute) F(577, cuStreamSetAttribute_ptsz) \
	F(578, cuGraphInstantiate_v2) F(579, cuDeviceGetTexture1DLinearMaxWidth) \
	F(580, cuGraphUpload) F(581, cuGraphUpload_ptsz) F(582, cuArrayGetSparseProperties) \
	F(583, cuMipmappedArrayGetSparseProperties) F(584, cuMemMapArrayAsync) \
	F(585, cuMemMapArrayAsync_ptsz) F(586, cuGraphExecChildGraphNodeSetParams) \
	F(587, cuEventRecordWithFlags) F(588, cuEventRecordWithFlags_ptsz) \
	F(589, cuGraphAddEventRecordNode) F(590, cuGraphAddEventWaitNode) \
	F(591, cuGraphEventRecordNodeGetEvent) F(592, cuGraphEventWaitNodeGetEvent) \
	F(593, cuGraphEventRecordNodeSetEvent) F(594, cuGraphEventWaitNodeSetEvent) \
	F(595, cuGraphExecEventRecordNodeSetEvent) F(596, cuGraphExecEventWaitNodeSetEvent) \
	F(597, cuArrayGetPlane) F(598, cuMemAllocAsync) F(599, cuMemAllocAsync_ptsz) \
	F(600, cuMemFreeAsync) F(601, cuMemFreeAsync_ptsz) F(602, cuMemPoolTrimTo) \
	F(603, cuMemPoolSetAttribute) F(604, cuMemPoolGetAttribute) F(605, cuMemPoolSetAccess) \
	F(606, cuDeviceGetDefaultMemPool) F(607, cuMemPoolCreate) F(608, cuMemPoolDestroy) \
	F(609, cuDeviceSetMemPool) F(610, cuDeviceGetMemPool) F(611, cuMemAllocFromPoolAsync) \
	F(612, cuMemAllocFromPoolAsync_ptsz) F(613, cuMemPoolExportToShareableHandle) \
	F(614, cuMemPoolImportFromShareableHandle) F(615, cuMemPoolExportPointer) \
	F(616, cuMemPoolImportPointer) F(617, cuMemPoolGetAccess) \
	F(618, cuGraphAddExternalSemaphoresSignalNode) \
	F(619, cuGraphExternalSemaphoresSignalNodeGetParams) \
	F(620, cuGraphExternalSemaphoresSignalNodeSetParams) \
	F(621, cuGraphAddExternalSemaphoresWaitNode) \
	F(622, cuGraphExternalSemaphoresWaitNodeGetParams) \
	F(623, cuGraphExternalSemaphoresWaitNodeSetParams) \
	F(624, cuGraphExecExternalSemaphoresSignalNodeSetParams) \
	F(625, cuGraphExecExternalSemaphoresWaitNodeSetParams) F(626, cuGetProcAddress) \
	F(627, cuFlushGPUDirectRDMAWrites) F(628, cuGraphDebugDotPrint) \
	F(629, cuStreamGetCaptureInfo_v2) F(630, cuStreamGetCaptureInfo_v2_ptsz) \
	F(631, cuStreamUpdateCaptureDependencies) F(632, cuStreamUpdateCaptureDependencies_ptsz) \
	F(633, cuUserObjectCreate) F(634, cuUserObjectRetain) F(635, cuUserObjectRelease) \
	F(636, cuGraphRetainUserObject) F(637, cuGraphReleaseUserObject) \
	F(638, cuGraphAddMemAllocNode) F(639, cuGraphAddMemFreeNode) \
	F(640, cuDeviceGraphMemTrim) F(641, cuDeviceGetGraphMemAttribute) \
	F(642, cuDeviceSetGraphMemAttribute) F(643, cuGraphInstantiateWithFlags) \
	F(644, cuDeviceGetExecAffinitySupport) F(645, cuCtxCreate_v3) \
	F(646, cuCtxGetExecAffinity) F(647, cuDeviceGetUuid_v2) \
	F(648, cuGraphMemAllocNodeGetParams) F(649, cuGraphMemFreeNodeGetParams) \
	F(650, cuGraphNodeSetEnabled) F(651, cuGraphNodeGetEnabled) F(652, cuLaunchKernelEx) \
	F(653, cuLaunchKernelEx_ptsz) F(654, cuArrayGetMemoryRequirements) \
	F(655, cuMipmappedArrayGetMemoryRequirements) F(656, cuGraphInstantiateWithParams) \
	F(657, cuGraphInstantiateWithParams_ptsz) F(658, cuGraphExecGetFlags) \
	F(659, cuStreamWaitValue32_v2) F(660, cuStreamWaitValue32_v2_ptsz) \
	F(661, cuStreamWaitValue64_v2) F(662, cuStreamWaitValue64_v2_ptsz) \
	F(663, cuStreamWriteValue32_v2) F(664, cuStreamWriteValue32_v2_ptsz) \
	F(665, cuStreamWriteValue64_v2) F(666, cuStreamWriteValue64_v2_ptsz) \
	F(667, cuStreamBatchMemOp_v2) F(668, cuStreamBatchMemOp_v2_ptsz) \
	F(669, cuGraphAddBatchMemOpNode) F(670, cuGraphBatchMemOpNodeGetParams) \
	F(671, cuGraphBatchMemOpNodeSetParams) F(672, cuGraphExecBatchMemOpNodeSetParams) \
	F(673, cuModuleGetLoadingMode) F(674, cuMemGetHandleForAddressRange) \
	F(675, cuOccupancyMaxPotentialClusterSize) F(676, cuOccupancyMaxActiveClusters) \
	F(677, cuGetProcAddress_v2) F(678, cuLibraryLoadData) F(679, cuLibraryLoadFromFile) \
	F(680, cuLibraryUnload) F(681, cuLibraryGetKernel) F(682, cuLibraryGetModule) \
	F(683, cuKernelGetFunction) F(684, cuLibraryGetGlobal) F(685, cuLibraryGetManaged) \
	F(686, cuKernelGetAttribute) F(687, cuKernelSetAttribute) F(688, cuKernelSetCacheConfig) \
	F(689, cuGraphAddKernelNode_v2) F(690, cuGraphKernelNodeGetParams_v2) \
	F(691, cuGraphKernelNodeSetParams_v2) F(692, cuGraphExecKernelNodeSetParams_v2) \
	F(693, cuStreamGetId) F(694, cuStreamGetId_ptsz) F(695, cuCtxGetId) \
	F(696, cuGraphExecUpdate_v2) F(697, cuTensorMapEncodeTiled) \
	F(698, cuTensorMapEncodeIm2col) F(699, cuTensorMapReplaceAddress) \
	F(700, cuLibraryGetUnifiedFunction) F(701, cuCoredumpGetAttribute) \
	F(702, cuCoredumpGetAttributeGlobal) F(703, cuCoredumpSetAttribute) \
	F(704, cuCoredumpSetAttributeGlobal) F(705, cuCtxSetFlags) F(706, cuMulticastCreate) \
	F(707, cuMulticastAddDevice) F(708, cuMulticastBindMem) F(709, cuMulticastBindAddr) \
	F(710, cuMulticastUnbind) F(711, cuMulticastGetGranularity) F(712, cuGraphAddNode) \
	F(713, cuGraphNodeSetParams) F(714, cuGraphExecNodeSetParams) F(715, cuMemAdvise_v2) \
	F(716, cuMemPrefetchAsync_v2) F(717, cuMemPrefetchAsync_v2_ptsz) F(718, cuFuncGetName) \
	F(719, cuKernelGetName) F(720, cuStreamBeginCaptureToGraph) \
	F(721, cuStreamBeginCaptureToGraph_ptsz) F(722, cuGraphConditionalHandleCreate) \
	F(723, cuGraphAddNode_v2) F(724, cuGraphGetEdges_v2) \
	F(725, cuGraphNodeGetDependencies_v2) F(726, cuGraphNodeGetDependentNodes_v2) \
	F(727, cuGraphAddDependencies_v2) F(728, cuGraphRemoveDependencies_v2) \
	F(729, cuStreamGetCaptureInfo_v3) F(730, cuStreamGetCaptureInfo_v3_ptsz) \
	F(731, cuStreamUpdateCaptureDependencies_v2) \
	F(732, cuStreamUpdateCaptureDependencies_v2_ptsz) F(733, cuFuncGetParamInfo) \
	F(734, cuKernelGetParamInfo) F(735, cuDeviceRegisterAsyncNotification) \
	F(736, cuDeviceUnregisterAsyncNotification) F(737, cuModuleGetFunctionCount) \
	F(738, cuModuleEnumerateFunctions) F(739, cuLibraryGetKernelCount) \
	F(740, cuLibraryEnumerateKernels) F(741, cuFuncIsLoaded) F(742, cuFuncLoad) \
	F(743, cuGreenCtxCreate) F(744, cuGreenCtxDestroy) F(745, cuDeviceGetDevResource) \
	F(746, cuCtxGetDevResource) F(747, cuGreenCtxGetDevResource) \
	F(748, cuDevResourceGenerateDesc) F(749, cuGreenCtxRecordEvent) \
	F(750, cuGreenCtxWaitEvent) F(751, cuDevSmResourceSplitByCount) \
	F(752, cuStreamGetGreenCtx) F(753, cuCtxFromGreenCtx) F(754, cuKernelGetLibrary) \
	F(755, cuCtxRecordEvent) F(756, cuCtxWaitEvent) F(757, cuCtxCreate_v4) \
	F(758, cuGreenCtxStreamCreate) F(759, cuStreamGetCtx_v2) F(760, cuStreamGetCtx_v2_ptsz) \
	F(761, cuMemBatchDecompressAsync) F(762, cuMemBatchDecompressAsync_ptsz) \
	F(763, cuLogsRegisterCallback) F(764, cuLogsUnregisterCallback) F(765, cuLogsCurrent) \
	F(766, cuLogsDumpToFile) F(767, cuLogsDumpToMemory) \
	F(768, cuCheckpointProcessGetRestoreThreadId) F(769, cuCheckpointProcessGetState) \
	F(770, cuCheckpointProcessLock) F(771, cuCheckpointProcessCheckpoint) \
	F(772, cuCheckpointProcessRestore) F(773, cuCheckpointProcessUnlock) \
	F(774, cuStreamGetDevice) F(775, cuStreamGetDevice_ptsz) F(776, cuMemcpyBatchAsync) \
	F(777, cuMemcpyBatchAsync_ptsz) F(778, cuMemcpy3DBatchAsync) \
	F(779, cuMemcpy3DBatchAsync_ptsz) F(780, cuEventElapsedTime_v2) \
	F(781, cuTensorMapEncodeIm2colWide) F(782, cuGreenCtxGetId) \
	F(783, cuStreamBeginCaptureToCig) F(784, cuMemPrefetchBatchAsync) \
	F(785, cuMemPrefetchBatchAsync_ptsz) F(786, cuSemaphoreCreate) F(787, cuSemaphoreExport) \
	F(788, cuSemaphoreDestroy) F(789, cuMemDiscardBatchAsync) \
	F(790, cuMemDiscardBatchAsync_ptsz) F(791, cuMemDiscardAndPrefetchBatchAsync) \
	F(792, cuMemDiscardAndPrefetchBatchAsync_ptsz) \
	F(793, cuMultiKernelCooperativeDomainCreate) \
	F(794, cuMultiKernelCooperativeDomainDestroy) F(795, cuCtxGetDevice_v2) \
	F(796, cuMemcpyBatchAsync_v2) F(797, cuMemcpyBatchAsync_v2_ptsz) \
	F(798, cuMemcpy3DBatchAsync_v2) F(799, cuMemcpy3DBatchAsync_v2_ptsz) \
	F(800, cuCtxSynchronize_v2) F(801, cuMemGetDefaultMemPool) F(802, cuMemGetMemPool) \
	F(803, cuMemSetMemPool) F(804, cuDeviceGetP2PAtomicCapabilities) \
	F(805, cuDeviceGetHostAtomicCapabilities) F(806, cuDriverGetGpuCodeIsaVersion) \
	F(807, cuStreamGetDevResource) F(808, cuStreamGetDevResource_ptsz) \
	F(809, cuGraphNodeGetContainingGraph) F(810, cuGraphNodeGetLocalId) \
	F(811, cuGraphNodeGetToolsId) F(812, cuGraphGetId) F(813, cuGraphExecGetId) \
	F(814, cuStreamBeginCaptureToCig_ptsz) F(815, cuStreamEndCaptureToCig) \
	F(816, cuStreamEndCaptureToCig_ptsz) F(817, cuGraphCreateWithArguments) \
	F(818, cuGraphNodeAddRelocation) F(819, cuGraphLaunchWithArguments) \
	F(820, cuMulticastBindMem_v2) F(821, cuMulticastBindAddr_v2) \
	F(822, cuDevSmResourceSplit) F(823, cuSubgridScheduleCreate) \
	F(824, cuSubgridWorkerGridCreate) F(825, cuSubgridWorksetCreate) F(826, cuSubgridCreate) \
	F(827, cuSubgridScheduleFinalize) F(828, cuSubgridScheduleLaunch) \
	F(829, cuSubgridScheduleLaunch_ptsz) F(830, cuSubgridScheduleDestroy) \
	F(831, cuLaunchHostFunc_v2) F(832, cuLaunchHostFunc_v2_ptsz) \
	F(833, cuFuncGetDeviceCodeInfo) F(834, cuKernelGetDeviceCodeInfo) \
	F(835, cuFuncGetParamCount) F(836, cuKernelGetParamCount) \
	F(837, cuMemcpyWithAttributesAsync) F(838, cuMemcpyWithAttributesAsync_ptsz) \
	F(839, cuMemcpy3DWithAttributesAsync) F(840, cuMemcpy3DWithAttributesAsync_ptsz) \
	F(841, cuGraphNodeGetParams) F(842, cuCoredumpRegisterStartCallback) \
	F(843, cuCoredumpRegisterCompleteCallback) F(844, cuCoredumpDeregisterStartCallback) \
	F(845, cuCoredumpDeregisterCompleteCallback) F(846, cuStreamBeginRecaptureToGraph) \
	F(847, cuStreamBeginRecaptureToGraph_ptsz) F(848, cuLogicalEndpointIdReserve) \
	F(849, cuLogicalEndpointIdRelease) F(850, cuLogicalEndpointCreate) \
	F(851, cuLogicalEndpointAddDevice) F(852, cuLogicalEndpointDestroy) \
	F(853, cuLogicalEndpointBindAddr) F(854, cuLogicalEndpointBindMem) \
	F(855, cuLogicalEndpointUnbind) F(856, cuLogicalEndpointExport) \
	F(857, cuLogicalEndpointImport) F(858, cuLogicalEndpointGetLimits) \
	F(859, cuLogicalEndpointQuery) F(860, cuMemGetLocationInfo) \
	F(861, cuCheckpointOperationComplete) F(862, cuda862) F(863, cuGraphAddNode_v3) \
	F(864, cuGraphNodeSetParams_v2) F(865, cuDeviceGetFabricClusterUuid) \
	F(866, cuDeviceGetCliqueCount) F(867, cuDeviceGetCliqueInfo) F(868, cuda868) \
	F(869, cuda869) F(870, cuda870) F(871, cuda871) F(872, cuda872) F(873, cuda873) \
	F(874, cuda874) F(875, cuda875) F(876, cuda876)

#endif
