/* SPDX-License-Identifier: BSD-3-Clause */
/* Made by scripts/gen-catalog from the vendor's headers: rows of catalog_nvptxcompiler.c. */
	ROW(nvPTXCompilerGetCompiledProgramSize, .rare = 1),
	ROW(nvPTXCompilerGetErrorLog, .rare = 1),
	ROW(nvPTXCompilerGetErrorLogSize, .rare = 1),
	ROW(nvPTXCompilerGetInfoLog, .rare = 1),
	ROW(nvPTXCompilerGetInfoLogSize, .rare = 1),
	ROW(nvPTXCompilerGetNumSupportedArchs, .rare = 1),
	ROW(nvPTXCompilerGetNumSupportedVersions, .rare = 1),
	ROW(nvPTXCompilerGetSupportedArchs, .rare = 1),
	ROW(nvPTXCompilerGetSupportedVersions, .rare = 1),
	ROW(nvPTXCompilerGetVersion, .rare = 1),
