// SPDX-License-Identifier: BSD-3-Clause
/* See the header. */
#include "inject/environment.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "inject/image.h"

bool inject_is_ours(const char *path)
{
	return !strcmp(str_basename(path), INJECT_FILE);
}

const char *inject_foreign(const char *name)
{
	const char *path = getenv(name);

	return path && *path && !inject_is_ours(path) ? path : NULL;
}

void inject_environment(const char *file)
{
	const char *before = inject_foreign(INJECT_CUDA);
	char reader[24];

	if (before)
		setenv(INJECT_CHAIN, before, 1);
	setenv(INJECT_CUDA, file, 1);
	if (!inject_foreign(INJECT_NVTX))
		setenv(INJECT_NVTX, file, 1);
	snprintf(reader, sizeof(reader), "%d", (int)getppid());
	setenv("GPUPROF_ARM", reader, 0);
}
