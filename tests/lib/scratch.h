/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Directories that a test program makes, gone when it ends: also those of tests that were skipped or
 * failed, which leave by a jump. Included once per test program.
 */
#ifndef TESTS_SCRATCH_H
#define TESTS_SCRATCH_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

struct kept_dir {
	struct kept_dir *next;
	pid_t owner;		/* not a child that was forked later */
	char dir[64];
};

static struct kept_dir *kept_dirs;

static void scratch_sweep(void)
{
	char command[96];

	while (kept_dirs) {
		struct kept_dir *k = kept_dirs;

		snprintf(command, sizeof(command), "rm -rf '%s'", k->dir);
		if (k->owner == getpid() && !access(k->dir, F_OK) && system(command))
			perror(k->dir);
		kept_dirs = k->next;
		free(k);
	}
}

/* dir: a template of mkdtemp. False: it cannot be made. */
static inline bool scratch_dir(char dir[64])
{
	struct kept_dir *k = malloc(sizeof(*k));

	if (!k || !mkdtemp(dir) || (!kept_dirs && atexit(scratch_sweep))) {
		free(k);
		return false;
	}
	k->next = kept_dirs;
	k->owner = getpid();
	snprintf(k->dir, sizeof(k->dir), "%s", dir);
	kept_dirs = k;
	return true;
}

#endif
