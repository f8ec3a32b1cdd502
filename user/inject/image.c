// SPDX-License-Identifier: BSD-3-Clause
/* See the header; image.S brings the bytes. */
#include "inject/image.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/io.h"

extern const char inject_image_begin[], inject_image_end[];

const void *inject_image(size_t *len)
{
	*len = (uintptr_t)inject_image_end - (uintptr_t)inject_image_begin;
	return inject_image_begin;
}

int inject_image_open(void)
{
	int fd = memfd_create(IMAGE_MEMORY, MFD_CLOEXEC | MFD_ALLOW_SEALING), err;
	size_t len;
	const void *image = inject_image(&len);

	if (fd < 0)
		return -errno;
	err = io_write_all(fd, image, len);
	if (!err && fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL))
		err = -errno;
	if (!err)
		return fd;
	close(fd);
	return err;
}
