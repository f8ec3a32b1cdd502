/* SPDX-License-Identifier: BSD-3-Clause */
/* A walk over files that reports each distinct one once. For the room. */
#ifndef TARGET_TARGET_WALK_H
#define TARGET_TARGET_WALK_H

#include <sys/stat.h>

#include "base/map.h"
#include "target/target.h"

/* A walk that reports each distinct file once. Start with seen zeroed, end with target_walk_end. */
struct target_walk {
	target_file_fn fn;
	void *ctx;
	struct map seen;	/* files by device and inode number */
};

/* 1: the file is new to the walk, 0: seen before, -errno. */
int target_walk_mark(struct target_walk *walk, int fd, struct stat *st);

/* Marks the file and, if it is new, calls back. 0, fn's value, or -errno. fd stays the caller's. */
int target_walk_report(struct target_walk *walk, pid_t pid, int fd, const char *path);

void target_walk_end(struct target_walk *walk);

#endif
