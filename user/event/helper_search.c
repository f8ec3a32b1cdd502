// SPDX-License-Identifier: BSD-3-Clause
/* See the header. A descriptor is fetched by a pidfd that was opened before its name was looked at. */
#include "event/helper_search.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

int helper_search_again(int pidfd, int number)
{
	int fd = (int)syscall(SYS_pidfd_getfd, pidfd, number, 0);

	return fd < 0 ? -errno : fd;
}

/* The entry's name is a ring's. 1 or -errno. */
static int fetch(const struct helper_search *s, pid_t pid, const char *name, struct helper_found *out)
{
	*out = (struct helper_found){ .number = atoi(name), .fd = -1,
				      .pidfd = (int)syscall(SYS_pidfd_open, pid, 0) };
	if (out->pidfd < 0)
		return -errno;
	if (is_ring_link(dirfd(s->dir), name))	/* by now another process may have the pid */
		out->fd = helper_search_again(out->pidfd, out->number);
	else
		out->fd = -EBADF;
	if (out->fd >= 0)
		return 1;
	io_close(&out->pidfd);
	return out->fd == -EBADF ? -ENOENT : out->fd;	/* closed meanwhile */
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
			err = fetch(s, pid, entry->d_name, out);
	}
	if (err) {
		helper_search_stop(s);
		wait_longer(s, now_ns);
	}
	return err;
}
