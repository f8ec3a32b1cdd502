// SPDX-License-Identifier: BSD-3-Clause
/* See the header. */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/io.h"
#include "inject/inject.h"

extern const char inject_image_begin[], inject_image_end[];

int inject_image_open(void)
{
	int fd = memfd_create("gpuprof-helper", MFD_CLOEXEC | MFD_ALLOW_SEALING), err;

	if (fd < 0)
		return -errno;
	err = io_write_all(fd, inject_image_begin,
			   (uintptr_t)inject_image_end - (uintptr_t)inject_image_begin);
	if (!err && fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL))
		err = -errno;
	if (!err)
		return fd;
	close(fd);
	return err;
}

void inject_environment(int fd)
{
	const char *before = getenv("CUDA_INJECTION64_PATH");
	char path[64], reader[24];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (fcntl(fd, F_SETFD, 0))
		return;
	if (before && *before)
		setenv("GPUPROF_CHAIN_INJECTION", before, 1);
	setenv("CUDA_INJECTION64_PATH", path, 1);
	setenv("NVTX_INJECTION64_PATH", path, 0);	/* only one tool can have NVTX: the user's own */
	snprintf(reader, sizeof(reader), "%d", (int)getppid());
	setenv("GPUPROF_ARM", reader, 0);
}
