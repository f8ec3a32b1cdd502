/* SPDX-License-Identifier: BSD-3-Clause */
/* Made by scripts/gen-catalog from the vendor's headers: rows of catalog_nvptxcompiler.c. */
	ROW(nvPTXCompilerCompile, .class = CLASS_COMPILE, .two = 1, .rare = 1),
	ROW(nvPTXCompilerCreate, .class = CLASS_COMPILE, .rare = 1, .bytes = 2),
	ROW(nvPTXCompilerDestroy, .class = CLASS_COMPILE, .rare = 1),
	ROW(nvPTXCompilerGetCompiledProgram, .class = CLASS_COMPILE, .rare = 1),
	ROW(nvPTXCompilerSetFlowCallback, .class = CLASS_COMPILE, .rare = 1),
