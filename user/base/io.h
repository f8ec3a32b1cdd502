/* SPDX-License-Identifier: BSD-3-Clause */
/* Whole reads and writes of files, retried on EINTR. */
#ifndef BASE_IO_H
#define BASE_IO_H

#include <stddef.h>

int io_write_all(int fd, const void *data, size_t len);	/* 0 or -errno */

/* Reads at most max bytes of a (proc) file into a new NUL-terminated buffer; caller frees.
 * NULL + errno; EFBIG when there is more. len may be NULL. */
char *io_read_file(const char *path, size_t max, size_t *len);

#endif
