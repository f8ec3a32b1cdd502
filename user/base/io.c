// SPDX-License-Identifier: BSD-3-Clause
/* Cases that read and write leave to their callers: partial transfers and EINTR. */
#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

int io_write_all(int fd, const void *data, size_t len)
{
	const char *p = data;

	while (len) {
		ssize_t n = write(fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

/* Stops at the end, or with more than max. */
static char *read_fd(int fd, size_t max, size_t *len)
{
	size_t n = 0, cap = 4096;
	char *buf = malloc(cap + 1), *grown;
	ssize_t got;

	if (!buf)
		return NULL;
	while ((got = read(fd, buf + n, cap - n)) != 0) {
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			goto fail;
		n += (size_t)got;
		if (n > max)
			break;
		if (n < cap)
			continue;
		cap *= 2;
		grown = realloc(buf, cap + 1);
		if (!grown)
			goto fail;
		buf = grown;
	}
	buf[n] = '\0';
	*len = n;
	return buf;
fail:
	free(buf);
	return NULL;
}

char *io_read_file(const char *path, size_t max, size_t *len)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t n = 0;
	char *buf;

	if (fd < 0)
		return NULL;
	buf = read_fd(fd, max, &n);
	io_close(&fd);
	if (buf && n > max) {
		free(buf);
		buf = NULL;
		errno = EFBIG;
	}
	if (len)
		*len = n;
	return buf;
}

char *io_read_start(int fd, size_t max, size_t *len)
{
	char *buf = read_fd(fd, max, len);

	if (buf && *len > max)
		buf[*len = max] = '\0';
	return buf;
}

void io_raise_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur == limit.rlim_max)
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

void io_close(int *fd)
{
	int saved = errno;

	if (*fd >= 0)
		close(*fd);
	*fd = -1;
	errno = saved;
}

void io_notify(int fd)
{
	const uint64_t one = 1;

	while (write(fd, &one, sizeof(one)) < 0 && errno == EINTR)
		;
}

void io_clear(int fd)
{
	uint64_t n;

	while (read(fd, &n, sizeof(n)) < 0 && errno == EINTR)
		;
}

int io_open_path(int dirfd, const char *path, bool in_root)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	long fd = in_root ? syscall(SYS_openat2, dirfd, path, &how, sizeof(how)) :
			    openat(dirfd, path, O_PATH | O_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

int io_open_regular(int dirfd, const char *path, bool in_root)
{
	int path_fd = io_open_path(dirfd, path, in_root), fd = -ENXIO;
	char self[40];
	struct stat st;

	if (path_fd < 0)
		return path_fd;
	if (!fstat(path_fd, &st) && S_ISREG(st.st_mode)) {
		snprintf(self, sizeof(self), "/proc/self/fd/%d", path_fd);
		fd = open(self, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			fd = -errno;
	}
	close(path_fd);
	return fd;
}
