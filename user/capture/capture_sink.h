/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where a session puts its events: one capture file or a set of them (capture_set.h), or memory
 * that is written to a file on request (capture_recorder.h).
 */
#ifndef CAPTURE_CAPTURE_SINK_H
#define CAPTURE_CAPTURE_SINK_H

#include <limits.h>

#include "capture/capture.h"

struct capture_sink_stats {
	struct capture_stats last;	/* of the file closed last */
	uint64_t events;		/* of all files */
	uint64_t files;			/* written */
	uint64_t removed;		/* of these, removed again */
	char first_path[PATH_MAX];	/* of the files that are left */
	char last_path[PATH_MAX];	/* "": none was written */
};

struct capture_sink;

struct capture_sink_ops {
	int (*push)(struct capture_sink *k, const struct event *ev);
	int (*flush)(struct capture_sink *k);
	void (*defer)(struct capture_sink *k);	/* full was set: for files that exist already */
	int (*store)(struct capture_sink *k, struct capture_block *b);
	int (*fire)(struct capture_sink *k);	/* NULL: it writes as it goes */
	int (*close)(struct capture_sink *k, struct capture_sink_stats *stats);
};

/* The first member of each implementation. */
struct capture_sink {
	const struct capture_sink_ops *ops;
	/* As capture_defer; NULL: blocks are stored at once. */
	void (*full)(void *ctx, struct capture_block *b);
	void *full_ctx;
	/* A file is about to end: push the counters. May be NULL. */
	void (*on_cut)(void *ctx);
	void *cut_ctx;
};

/* 0 or -errno, sticky and logged, as capture_push. */
static inline int capture_sink_push(struct capture_sink *k, const struct event *ev)
{
	return k->ops->push(k, ev);
}

/* At least once a second. */
static inline int capture_sink_flush(struct capture_sink *k)
{
	return k->ops->flush(k);
}

/* Blocks are stored by another thread from now on: see capture_defer. */
static inline void capture_sink_defer(struct capture_sink *k,
				      void (*full)(void *ctx, struct capture_block *b),
				      void *ctx)
{
	k->full = full;
	k->full_ctx = ctx;
	k->ops->defer(k);
}

/* A block that full was given, in the same order, in one thread. */
static inline int capture_sink_store(struct capture_sink *k, struct capture_block *b)
{
	return k->ops->store(k, b);
}

/* Writes the events in memory now. */
static inline int capture_sink_fire(struct capture_sink *k)
{
	return k->ops->fire ? k->ops->fire(k) : 0;
}

/* Frees. All blocks have been stored. */
static inline int capture_sink_close(struct capture_sink *k, struct capture_sink_stats *stats)
{
	return k->ops->close(k, stats);
}

#endif
