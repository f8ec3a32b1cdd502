/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whom a watch of the whole host follows: the processes that it was asked for (roots), and all
 * below them, as forks and ends are told, and as /proc says where some were not. A number that is
 * used again is another process. Not thread-safe.
 */
#ifndef TARGET_TARGET_FAMILY_H
#define TARGET_TARGET_FAMILY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/map.h"

struct target_family {		/* start zeroed */
	struct map root_of;	/* member -> whom it is, or is below */
	struct map known_ns;	/* member -> CLOCK_MONOTONIC: it had begun by then */
};

/* Follows pid and whoever is below it now; of children that are born meanwhile the caller hears.
 * 0 or -ENOMEM. */
int target_family_add_root(struct target_family *f, pid_t pid);

/* Follows pid, which had begun by known_ns. 0 or -ENOMEM. */
int target_family_add(struct target_family *f, pid_t pid, pid_t root, uint64_t known_ns);

pid_t target_family_root(const struct target_family *f, pid_t pid);	/* 0: it is not followed */
void target_family_forget(struct target_family *f, pid_t pid);

/* Somebody else has made a process of this number: a member that was known before has ended. */
void target_family_note_other(struct target_family *f, pid_t pid, uint64_t made_ns);

/*
 * After forks and ends were lost. Whoever is below a member is followed; `ended` is called for each
 * member that is not there any more. is_other: another process has its number, and it is forgotten;
 * else the caller is to look, for it may only be its first thread that has ended. 0 or -errno.
 */
int target_family_read(struct target_family *f,
		       void (*ended)(void *ctx, pid_t pid, pid_t root, bool is_other), void *ctx);
void target_family_free(struct target_family *f);

#endif
