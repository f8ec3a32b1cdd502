// SPDX-License-Identifier: BSD-3-Clause
/*
 * Libraries that compile and link device code in the process: libnvrtc, libnvJitLink and the PTX
 * compiler, which is an archive only and so always inside another file.
 */
#include "catalog/catalog.h"
#include "catalog/rows.h"

#define COMMON DEFAULT_ROWS

static const struct catalog_row nvrtc_rows[] = {
#include "catalog/nvrtc.inc"
};

static const struct catalog_row nvjitlink_rows[] = {
#include "catalog/nvjitlink.inc"
};

static const struct catalog_row nvptxcompiler_rows[] = {
#include "catalog/nvptxcompiler.inc"
};

const struct catalog_library catalog_nvrtc = {
	.name = "nvrtc", .file = "libnvrtc.so", ROWS(nvrtc_rows),
};

const struct catalog_library catalog_nvjitlink = {
	.name = "nvjitlink", .file = "libnvJitLink.so", ROWS(nvjitlink_rows),
};

/* The vendor renames the archive's inner functions to a hash each, behind this. */
const struct catalog_library catalog_nvptxcompiler = {
	.name = "nvptxcompiler", ROWS(nvptxcompiler_rows),
	.marker = "libnvptxcompiler_static_", .marker_begins = true,
};
