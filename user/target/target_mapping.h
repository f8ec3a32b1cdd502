/* SPDX-License-Identifier: BSD-3-Clause */
/* The mappings of a process, one by one, for readers of its memory (stacks). */
#ifndef TARGET_TARGET_MAPPING_H
#define TARGET_TARGET_MAPPING_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct mapping;

struct target_mapping {
	pid_t pid;
	uint64_t start, end;
	uint64_t offset;		/* of start, in the file */
	uint64_t dev, ino;		/* as /proc/PID/maps shows them; ino 0: no file */
	const char *path;		/* "" or "[vdso]" without a file; may end in " (deleted)" */
	bool code;			/* executable */
	const struct mapping *internal;
};

/* 0 goes on; another value ends the walk and is passed on. m lives during the call. */
typedef int (*target_mapping_fn)(void *ctx, const struct target_mapping *m);

/* In the order of addresses. 0, fn's value, or -errno as target_each_file. */
int target_each_mapping(pid_t pid, target_mapping_fn fn, void *ctx);

/* Within the callback: the mapped file, for reading; deleted ones and other mount namespaces' too.
 * fd or -errno. */
int target_mapping_open(const struct target_mapping *m);

/* A regular file at an absolute path as pid sees it. fd or -errno (ENXIO: something else). */
int target_open_in_root(pid_t pid, const char *path);

#endif
