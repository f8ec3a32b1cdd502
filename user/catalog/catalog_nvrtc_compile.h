/* SPDX-License-Identifier: BSD-3-Clause */
/* Made by scripts/gen-catalog from the vendor's headers: rows of catalog_nvrtc.c. */
	ROW(nvrtcAddNameExpression, .class = CLASS_COMPILE, .rare = 1),
	ROW(nvrtcCompileProgram, .class = CLASS_COMPILE, .two = 1, .rare = 1),
	ROW(nvrtcCreateProgram, .class = CLASS_COMPILE, .rare = 1),
	ROW(nvrtcDestroyProgram, .class = CLASS_COMPILE, .rare = 1),
	ROW(nvrtcGetCUBIN, .class = CLASS_COMPILE, .rare = 1),
	ROW(nvrtcGetLTOIR, .class = CLASS_COMPILE, .rare = 1),
	ROW(nvrtcGetOptiXIR, .class = CLASS_COMPILE, .rare = 1),
	ROW(nvrtcGetPTX, .class = CLASS_COMPILE, .rare = 1),
