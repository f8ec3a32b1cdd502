// SPDX-License-Identifier: BSD-3-Clause
/* What compiles and links device code in the process: libnvrtc and libnvJitLink. */
#include "probe/catalog.h"
#include "probe/catalog_rows.h"

#define COMMON DEFAULT_ROWS

static const struct catalog_row nvrtc_rows[] = {
#include "probe/catalog_nvrtc_compile.h"
};

static const struct catalog_row nvjitlink_rows[] = {
#include "probe/catalog_nvjitlink_compile.h"
};

const struct catalog_library catalog_nvrtc = {
	.name = "nvrtc",
	.file = "libnvrtc.so",
	.rows = nvrtc_rows,
	.n_rows = sizeof(nvrtc_rows) / sizeof(nvrtc_rows[0]),
};

const struct catalog_library catalog_nvjitlink = {
	.name = "nvjitlink",
	.file = "libnvJitLink.so",
	.rows = nvjitlink_rows,
	.n_rows = sizeof(nvjitlink_rows) / sizeof(nvjitlink_rows[0]),
};
