/* SPDX-License-Identifier: BSD-3-Clause */
/* Made by scripts/gen-catalog from the vendor's headers: rows of catalog_nvjitlink.c. */
	ROW(nvJitLinkAddData, .class = CLASS_COMPILE, .two = 1, .rare = 1),
	ROW(nvJitLinkAddFile, .class = CLASS_COMPILE, .two = 1, .rare = 1),
	ROW(nvJitLinkComplete, .class = CLASS_COMPILE, .two = 1, .rare = 1),
	ROW(nvJitLinkCreate, .class = CLASS_COMPILE, .two = 1, .rare = 1),
	ROW(nvJitLinkDestroy, .class = CLASS_COMPILE, .two = 1, .rare = 1),
	ROW(nvJitLinkGetLinkedCubin, .class = CLASS_COMPILE, .two = 1, .rare = 1),
	ROW(nvJitLinkGetLinkedPtx, .class = CLASS_COMPILE, .two = 1, .rare = 1),
