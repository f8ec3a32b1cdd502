/* SPDX-License-Identifier: BSD-3-Clause */
/* Where a session puts its events: one capture file, several, or memory (the flight recorder). */
#ifndef CAPTURE_CAPTURE_SINK_H
#define CAPTURE_CAPTURE_SINK_H

#include <limits.h>
#include <sys/types.h>

#include "capture/capture.h"

/* When the flight recorder writes the held events. */
enum trigger { ON_UNSET = -1, ON_EXIT, ON_SIGNAL };

struct capture_sink_plan {
	/* Of the file's name: "run.%h.%r.gpr". Values come from other processes' environments: only
	 * letters, digits and "._-" of them get into a name. */
	const char *pattern;
	pid_t target;		/* gives %p, %r and %j their values; 0: none */
	/* of a file, or of memory with before_ns, at least 64 KiB; 0: no limit, or the default */
	uint64_t max_bytes;
	uint64_t max_files;	/* the oldest is removed when there are more; 0: no limit */
	uint64_t before_ns;	/* hold that much in memory; 0: write all */
	enum trigger on;
	uint64_t number;	/* of a file without a limit, for capture_file_name */
};

/* Do the pattern and the limits fit together? 0, or -EINVAL, logged: a usage error. */
int capture_sink_plan_check(const struct capture_sink_plan *plan);

struct capture_sink;

/* funcs must outlive it. NULL, logged. */
struct capture_sink *capture_sink_open(const struct capture_sink_plan *plan,
				       const struct funcs *funcs);

/* Without a pattern. NULL + errno, logged. Each of several files can be read alone: it begins with
 * a state (capture_state.h). Together they hold every event once. */
struct capture_sink *capture_set_new(const struct capture_sink_plan *plan, const char *path,
				     const struct funcs *funcs);
struct capture_sink *capture_recorder_new(const struct capture_sink_plan *plan, const char *path,
					  const struct funcs *funcs);
uint64_t capture_recorder_bytes(const struct capture_sink *k);	/* held now: <= max_bytes */

/* "run.gpr" and 2: "run.000002.gpr"; 0: path itself. 0 or -ENAMETOOLONG, logged. */
int capture_file_name(char name[PATH_MAX], const char *path, uint64_t number);

struct capture_sink_stats {
	struct capture_stats last;	/* of the file closed last */
	uint64_t events;		/* of all files */
	uint64_t files;			/* written */
	uint64_t removed;		/* of these, removed again */
	char first_path[PATH_MAX];	/* of the files that are left */
	char last_path[PATH_MAX];	/* "": none was written */
};

struct capture_sink_ops {
	int (*push)(struct capture_sink *k, const struct event *ev);
	int (*flush)(struct capture_sink *k);
	/* full was set: for files that exist already. NULL: nothing is slow, it gets no blocks */
	void (*defer)(struct capture_sink *k);
	int (*store)(struct capture_sink *k, struct capture_block *b);
	/* NULL: it writes as it goes */
	const char *(*fire)(struct capture_sink *k);
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
	if (!k->ops->defer)
		return;
	k->full = full;
	k->full_ctx = ctx;
	k->ops->defer(k);
}

/* A block that full was given, in the same order, in one thread. */
static inline int capture_sink_store(struct capture_sink *k, struct capture_block *b)
{
	return k->ops->store(k, b);
}

/* Writes the events in memory now: into which file, or NULL (a failure is logged). */
static inline const char *capture_sink_fire(struct capture_sink *k)
{
	return k->ops->fire ? k->ops->fire(k) : NULL;
}

/* Frees. All blocks have been stored. */
static inline int capture_sink_close(struct capture_sink *k, struct capture_sink_stats *stats)
{
	return k->ops->close(k, stats);
}

#endif
