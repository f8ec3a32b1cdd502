// SPDX-License-Identifier: BSD-3-Clause
/* See the header. */
#include "inject/environment.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "inject/image.h"

bool inject_is_ours(const char *path)
{
	return !strcmp(str_basename(path), INJECT_FILE) || !strncmp(path, "/proc/self/fd/", 14);
}

const char *inject_foreign(const char *name)
{
	const char *path = getenv(name);

	return path && *path && !inject_is_ours(path) ? path : NULL;
}

void inject_environment(int fd)
{
	const char *before = inject_foreign(INJECT_CUDA);
	char path[64], reader[24];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (fcntl(fd, F_SETFD, 0))
		return;
	if (before)
		setenv(INJECT_CHAIN, before, 1);
	setenv(INJECT_CUDA, path, 1);
	if (!inject_foreign(INJECT_NVTX))
		setenv(INJECT_NVTX, path, 1);
	snprintf(reader, sizeof(reader), "%d", (int)getppid());
	setenv("GPUPROF_ARM", reader, 0);
}
