/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes that are to be looked at again in a while. Knows no clock and not what for. */
#ifndef PROBE_RECHECK_H
#define PROBE_RECHECK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/map.h"
#include "base/vec.h"
#include "host/selector.h"
#include "probe/loader.h"
#include "target/target.h"
#include "target/target_watch.h"

struct recheck_entry {
	pid_t pid;
	uint64_t time_ns;	/* the latest change of it */
	uint64_t due_ns;
	uint64_t again_ns; /* 0: once; else after that long again, then after twice as long */
	const void *watch;	/* the caller's */
};

struct recheck {
	VEC(struct recheck_entry) all;
};

int recheck_add(struct recheck *l, const struct recheck_entry *look);	/* 0 or -ENOMEM */
void recheck_forget(struct recheck *l, pid_t pid);

/* Takes one that is due; one that comes again stays, with its next time. False: none is. */
bool recheck_take(struct recheck *l, uint64_t now_ns, struct recheck_entry *out);
/* for poll; -1: nothing waits */
int recheck_timeout_ms(const struct recheck *l, uint64_t now_ns);

static inline void recheck_free(struct recheck *l)
{
	VEC_FREE(&l->all);
}

/*
 * Files scanned a moment ago that have nothing to probe. Shells and compilers map the same few
 * with each process they start, and a scan costs a dozen system calls. A file that was changed
 * just now is not cached; a file overwritten in place is noticed when the moment is over. Nor is
 * a file cached whose inode could have been reused unnoticed (target_event.file is 0).
 */

struct scan_cache {			/* start zeroed */
	struct map until_ns;	/* by target_event.file */
};

bool scan_cache_has(const struct scan_cache *d, const struct target_event *ev);
bool scan_cache_may_add(const struct target_file *file);	/* it was not changed lately */
/* ev's file has nothing to probe */
void scan_cache_add(struct scan_cache *d, const struct target_event *ev);

static inline void scan_cache_free(struct scan_cache *d)
{
	map_free(&d->until_ns);
}

/*
 * Processes that begin to match while a session runs, with their descendants. For the worker's
 * thread; BPF's set knows the followed processes.
 */

struct target_match {
	const struct selector *selector;	/* the options' */
	struct loader *loader;
	bool below;
	bool refused;		/* a process could not be followed, with a message */
};

/* Follows one of them, known to be meant. False: it cannot be, and is not measured. */
bool target_match_follow(struct target_match *n, pid_t pid);

/*
 * Is pid (which is not followed) meant? If so it is followed from now on, and below it everybody:
 * fn is called for each of them. True: it is.
 */
bool target_match_take(struct target_match *n, pid_t pid, void (*fn)(void *ctx, pid_t pid),
		       void *ctx);

#endif
