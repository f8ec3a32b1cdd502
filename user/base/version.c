// SPDX-License-Identifier: BSD-3-Clause
#include "base/version.h"

const char *version_text(void)
{
#ifdef GPUPROF_VERSION
	return GPUPROF_VERSION;
#else
	return "unknown";
#endif
}
