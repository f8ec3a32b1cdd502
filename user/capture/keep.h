/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where a session keeps its events: one capture file or a set of them (capture_set.h), or memory
 * that is written to a file when something happens (capture_hold.h). Whoever pushes need not know.
 */
#ifndef CAPTURE_KEEP_H
#define CAPTURE_KEEP_H

#include <limits.h>

#include "capture/capture.h"

struct keep_stats {
	struct capture_stats last;	/* of the file closed last */
	uint64_t events;		/* of all files */
	uint64_t files;			/* written */
	uint64_t removed;		/* of these, removed again */
	char first_path[PATH_MAX];	/* of the files that are left */
	char last_path[PATH_MAX];	/* "": none was written */
};

struct keep;

struct keep_ops {
	int (*push)(struct keep *k, const struct event *ev);
	int (*flush)(struct keep *k);
	void (*defer)(struct keep *k);	/* full was set: for files that exist already */
	int (*store)(struct keep *k, struct capture_block *b);
	int (*fire)(struct keep *k);	/* NULL: has nothing to fire */
	int (*close)(struct keep *k, struct keep_stats *stats);
};

/* The head of what keeps. */
struct keep {
	const struct keep_ops *ops;
	void (*full)(void *ctx, struct capture_block *b);	/* as capture_defer; NULL: at once */
	void *full_ctx;
	/* A file is about to end: push what was counted so far. May be NULL. */
	void (*on_cut)(void *ctx);
	void *cut_ctx;
};

/* 0 or -errno, sticky and logged, as capture_push. */
static inline int keep_push(struct keep *k, const struct event *ev)
{
	return k->ops->push(k, ev);
}

/* At least once a second. */
static inline int keep_flush(struct keep *k)
{
	return k->ops->flush(k);
}

/* Blocks are stored by another thread from now on: see capture_defer. */
static inline void keep_defer(struct keep *k, void (*full)(void *ctx, struct capture_block *b),
			      void *ctx)
{
	k->full = full;
	k->full_ctx = ctx;
	k->ops->defer(k);
}

/* A block that full was given, in the same order, in one thread. */
static inline int keep_store(struct keep *k, struct capture_block *b)
{
	return k->ops->store(k, b);
}

/* What is held is written now. */
static inline int keep_fire(struct keep *k)
{
	return k->ops->fire ? k->ops->fire(k) : 0;
}

/* Frees. All blocks have been stored. */
static inline int keep_close(struct keep *k, struct keep_stats *stats)
{
	return k->ops->close(k, stats);
}

#endif
