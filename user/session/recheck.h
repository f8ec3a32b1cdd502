/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes that are to be looked at again in a while. Knows no clock and not what for. */
#ifndef SESSION_RECHECK_H
#define SESSION_RECHECK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/map.h"
#include "base/vec.h"
#include "host/selector.h"
#include "probe/loader.h"
#include "target/target.h"
#include "target/target_watch.h"

struct later_look {
	pid_t pid;
	uint64_t time_ns;	/* what happened to it, when */
	uint64_t due_ns;
	uint64_t again_ns;	/* 0: once; else after that long again, then after twice as long */
	const void *watch;	/* the caller's */
};

struct later {
	VEC(struct later_look) all;
};

int later_add(struct later *l, const struct later_look *look);	/* 0 or -ENOMEM */
void later_forget(struct later *l, pid_t pid);

/* Takes one that is due; one that comes again stays, with its next time. False: none is. */
bool later_take(struct later *l, uint64_t now_ns, struct later_look *out);
int later_timeout_ms(const struct later *l, uint64_t now_ns);	/* for poll; -1: nothing waits */
void later_free(struct later *l);

/*
 * Files that were looked at a moment ago and have nothing to probe. Shells and compilers map the
 * same few with each process they start, and a look costs a dozen system calls. A file that was
 * changed just now is no such file; what is written over in place is seen when the moment is over. Nor is
 * one whose inode may be another's by now, and nobody could tell (target_event.file is 0).
 */

struct dull {			/* start zeroed */
	struct map until_ns;	/* by target_event.file */
};

bool dull_is(const struct dull *d, const struct target_event *ev);
bool dull_may_be(const struct target_file *file);	/* it was not changed lately */
void dull_note(struct dull *d, const struct target_event *ev);	/* what ev maps has nothing */
void dull_free(struct dull *d);

/*
 * Processes that begin to be meant while a session runs, with what is below them. For the
 * worker's thread; who is followed already is BPF's set to say.
 */

struct newcomers {
	const struct selector *selector;	/* the options' */
	struct loader *loader;
	bool below;
	bool refused;		/* somebody could not be followed, which was said */
};

/* Follows one of them, known to be meant. False: it cannot be, and is not measured. */
bool newcomers_follow(struct newcomers *n, pid_t pid);

/*
 * Is pid (which is not followed) meant? If so it is followed from now on, and below it everybody:
 * fn is called for each of them. True: it is.
 */
bool newcomers_take(struct newcomers *n, pid_t pid, void (*fn)(void *ctx, pid_t pid), void *ctx);

#endif
