/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Processes that begin to be meant while a session runs, with what is below them. For the
 * worker's thread; who is followed already is BPF's set to say.
 */
#ifndef SESSION_NEWCOMERS_H
#define SESSION_NEWCOMERS_H

#include "probe/loader.h"
#include "host/selector.h"

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
