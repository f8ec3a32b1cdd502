/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The processes that a watch of the whole host follows: roots, and all below them, by fork and
 * exit events, and by /proc where some were lost. A reused number is another process. Not
 * thread-safe.
 */
#ifndef TARGET_TARGET_FAMILY_H
#define TARGET_TARGET_FAMILY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/map.h"

struct target_family {		/* start zeroed */
	struct map root_of;	/* member -> its root */
	struct map known_ns;	/* member -> CLOCK_MONOTONIC: it had begun by then */
};

/* Follows pid and its present descendants; the caller gets events of children born meanwhile. 0
 * or -ENOMEM. */
int target_family_add_root(struct target_family *f, pid_t pid);

/* Follows pid, which had begun by known_ns. 0 or -ENOMEM. */
int target_family_add(struct target_family *f, pid_t pid, pid_t root, uint64_t known_ns);

pid_t target_family_root(const struct target_family *f, pid_t pid);	/* 0: it is not followed */

static inline void target_family_forget(struct target_family *f, pid_t pid)
{
	map_del(&f->root_of, (uint64_t)pid);
	map_del(&f->known_ns, (uint64_t)pid);
}

/* Another process was created with this number: a member that was known before has exited. */
void target_family_note_other(struct target_family *f, pid_t pid, uint64_t made_ns);

/*
 * After forks and exits were lost. Processes below a member are followed; `ended` is called for
 * each member that does not exist any more. is_other: another process has its number, and it is
 * forgotten; else the caller is to check, for it may only be its first thread that has exited. 0
 * or -errno.
 */
int target_family_read(struct target_family *f,
		       void (*ended)(void *ctx, pid_t pid, pid_t root, bool is_other), void *ctx);

static inline void target_family_free(struct target_family *f)
{
	map_free(&f->root_of);
	map_free(&f->known_ns);
}

#endif
