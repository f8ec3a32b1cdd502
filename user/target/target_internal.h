/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of target discovery share; nobody else includes it. */
#ifndef TARGET_TARGET_INTERNAL_H
#define TARGET_TARGET_INTERNAL_H

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

struct proc_stat;
int target_process_stat(pid_t pid, struct proc_stat *out);	/* 0 or -errno */

struct target_link {		/* a process and whose child it is */
	pid_t pid, parent;
	uint64_t start_ns;
	bool has_ended;		/* its first thread */
};

/* The tree's, in no order. */
const struct target_link *target_tree_links(const struct target_tree *tree, size_t *n);

#endif
