/* SPDX-License-Identifier: BSD-3-Clause */
/* Whole reads and writes of files, and of the counters behind eventfd and timerfd; retried on
 * EINTR. */
#ifndef BASE_IO_H
#define BASE_IO_H

#include <stdbool.h>
#include <stddef.h>

int io_write_all(int fd, const void *data, size_t len);	/* 0 or -errno */

/* Reads at most max bytes of a (proc) file into a new NUL-terminated buffer; caller frees.
 * NULL + errno; EFBIG when there is more. len may be NULL. */
char *io_read_file(const char *path, size_t max, size_t *len);

/* At most the first max bytes read from fd, as above. */
char *io_read_start(int fd, size_t max, size_t *len);

/* An O_PATH descriptor, which touches nothing; in_root as below. fd or -errno. */
int io_open_path(int dirfd, const char *path, bool in_root);

/*
 * Opens a regular file for reading without ever opening anything else (a FIFO would block, a
 * device may act). With in_root, symlinks and ".." in path stay below dirfd. fd or -errno.
 */
int io_open_regular(int dirfd, const char *path, bool in_root);

void io_raise_limit(void);	/* of open files, as far as anybody may */
void io_close(int *fd);		/* if it is open (>= 0); then it is -1. Keeps errno */
void io_notify(int fd);		/* makes an eventfd readable */
/* takes what an eventfd or a timerfd has counted; both non-blocking */
void io_clear(int fd);

#endif
