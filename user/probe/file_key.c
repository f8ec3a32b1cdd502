// SPDX-License-Identifier: BSD-3-Clause
/* One mapping of our own, found again in the kernel's list of our mappings. */
#include "probe/file_key.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "probe/loader_read.h"

static int find_mapping(int iter_fd, uint64_t start, struct file_key *out)
{
	struct gp_mapping rec;
	ssize_t n;

	/* The kernel delivers whole records: a read never ends inside one of this size. */
	while ((n = read(iter_fd, &rec, sizeof(rec))) != 0) {
		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n != sizeof(rec))
			return n < 0 ? -errno : -EIO;
		if (rec.start != start || rec.pid != (uint32_t)getpid())
			continue;
		*out = (struct file_key){ .dev = rec.dev, .ino = rec.ino };
		return 0;
	}
	return -ENOENT;
}

int file_key_read(const struct loader *l, int fd, struct file_key *out)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *at = mmap(NULL, page, PROT_READ, MAP_PRIVATE, fd, 0);
	int iter_fd, err;

	if (at == MAP_FAILED)
		return -errno;
	iter_fd = loader_open_mappings(l, getpid());
	err = iter_fd < 0 ? iter_fd : find_mapping(iter_fd, (uintptr_t)at, out);
	if (iter_fd >= 0)
		close(iter_fd);
	munmap(at, page);
	return err;
}
