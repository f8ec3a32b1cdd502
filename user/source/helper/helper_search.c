// SPDX-License-Identifier: BSD-3-Clause
/*
 * See the header. A name says little: a file of FUSE can have it, and opening, reading or closing that
 * would wait for whoever serves it. So a descriptor is first held as a path, which asks no file system;
 * what is in memory is then opened anew.
 */
#include "source/helper/helper_search.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/io.h"
#include "base/num.h"
#include "gpuprof/ring.h"

#define RING_LINK "/memfd:" GP_RING_NAME
#define FIRST_NS 5000000ull
#define SOON_NS 40000000ull	/* at most, of the first SOON times */
#define SOON 125
#define MAX_NS 1000000000ull
#define BEGIN_COST 8		/* in descriptors */
#define FETCH_COST 8

static bool is_ring_link(int dir_fd, const char *name)
{
	char link[sizeof(RING_LINK)];
	ssize_t n = readlinkat(dir_fd, name, link, sizeof(link) - 1);

	return n == sizeof(link) - 1 && !memcmp(link, RING_LINK, sizeof(link) - 1);
}

static int begin(struct helper_search *s, pid_t pid, unsigned int *left)
{
	char path[64];

	*left -= (unsigned int)num_min(*left, BEGIN_COST);
	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	s->dir = opendir(path);
	if (s->dir)
		return 0;
	return errno == ENOENT ? -ESRCH : errno == EACCES ? -EPERM : -errno;
}

bool helper_search_is_due(const struct helper_search *s, uint64_t now_ns)
{
	return s->dir || now_ns >= s->at_ns;
}

void helper_search_soon(struct helper_search *s)
{
	s->at_ns = s->every_ns = s->times = 0;
}

void helper_search_hurry(struct helper_search *s)
{
	s->at_ns = 0;
}

static void wait_longer(struct helper_search *s, uint64_t now_ns)
{
	s->every_ns = num_min(num_max(s->every_ns * 2, FIRST_NS), ++s->times < SOON ? SOON_NS : MAX_NS);
	s->at_ns = now_ns + s->every_ns;
}

void helper_search_stop(struct helper_search *s)
{
	if (s->dir)
		closedir(s->dir);
	s->dir = NULL;
}

int helper_search_again(pid_t pid, int number)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", pid, number);
	fd = open(path, O_PATH | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* Asks no file system. */
static bool look(int fd, struct statx *out)
{
	return !statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_INO, out);
}

static bool are_on_one_device(const struct statx *a, const struct statx *b)
{
	return a->stx_dev_major == b->stx_dev_major && a->stx_dev_minor == b->stx_dev_minor;
}

bool helper_search_is_same(int fd, int other)
{
	struct statx a, b;

	return look(fd, &a) && look(other, &b) && are_on_one_device(&a, &b) && a.stx_ino == b.stx_ino;
}

/* Of small pages, as memfds are made of: of huge ones there may be none left to give. */
static bool is_memory(int fd)
{
	int own = memfd_create("gpuprof", MFD_CLOEXEC);
	struct statx a, b;
	bool is = own >= 0 && look(fd, &a) && look(own, &b) && are_on_one_device(&a, &b);

	io_close(&own);
	return is;
}

/* Takes path_fd. What has a lease is not waited for. */
static int open_memory(int path_fd)
{
	char path[64];
	int fd = -1, err = ENOENT;

	if (is_memory(path_fd)) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", path_fd);
		fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
		err = errno;
	}
	io_close(&path_fd);
	return fd < 0 ? -err : fd;
}

/* The entry's name is a ring's. 1 or -errno. */
static int fetch(const struct helper_search *s, pid_t pid, const char *name, struct helper_found *out)
{
	int path_fd;

	*out = (struct helper_found){ .number = atoi(name), .fd = -1,
				      .pidfd = (int)syscall(SYS_pidfd_open, pid, 0) };
	if (out->pidfd < 0)
		return -errno;
	path_fd = openat(dirfd(s->dir), name, O_PATH | O_CLOEXEC);
	out->fd = path_fd < 0 ? -errno : open_memory(path_fd);
	if (out->fd >= 0)
		return 1;
	io_close(&out->pidfd);
	return out->fd;
}

/* As fetch; 0: it is none, or no more. */
static int try(const struct helper_search *s, pid_t pid, const char *name, unsigned int *left,
	       struct helper_found *out)
{
	int err = fetch(s, pid, name, out);

	*left -= (unsigned int)num_min(*left, FETCH_COST);
	return err == -ENOENT ? 0 : err;
}

int helper_search(struct helper_search *s, pid_t pid, uint64_t now_ns, unsigned int *left,
		  struct helper_found *out)
{
	const struct dirent *entry;
	int err = s->dir || !*left ? 0 : begin(s, pid, left);

	while (!err && *left) {
		--*left;
		entry = readdir(s->dir);
		if (!entry)
			err = -ENOENT;
		else if (is_ring_link(dirfd(s->dir), entry->d_name))
			err = try(s, pid, entry->d_name, left, out);
	}
	if (err && err != 1)
		helper_search_stop(s);
	if (err)
		wait_longer(s, now_ns);
	return err;
}
