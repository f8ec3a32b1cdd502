/* SPDX-License-Identifier: BSD-3-Clause */
/* A walk over files that reports each distinct one once. For the room. */
#ifndef TARGET_TARGET_WALK_H
#define TARGET_TARGET_WALK_H

#include <errno.h>
#include <sys/stat.h>

#include "base/map.h"
#include "target/target.h"

struct target_walk {		/* start with seen zeroed, and free it */
	target_file_fn fn;
	void *ctx;
	struct map seen;	/* files by device and inode number */
};

static inline uint64_t target_walk_key(uint64_t dev, uint64_t ino)
{
	return map_hash(map_hash(dev) ^ ino);
}

/* Calls back for a file that is new to the walk. 0, fn's value, or -errno. fd is the caller's. */
static inline int target_walk_report(struct target_walk *walk, pid_t pid, int fd, const char *path)
{
	bool is_new = false;
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	if (!map_put(&walk->seen, target_walk_key(st.st_dev, st.st_ino), &is_new))
		return -ENOMEM;
	return !is_new ? 0 : walk->fn(walk->ctx, &(struct target_file){
		.pid = pid, .dev = st.st_dev, .ino = st.st_ino, .path = path, .fd = fd,
	});
}

#endif
