/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A live source of events: probes, helpers, NVML, threads' states. A session drives all of them
 * through one table of operations; a source pushes into the session's sink and knows no session.
 * Used by the engine thread.
 */
#ifndef SESSION_LIVE_SOURCE_H
#define SESSION_LIVE_SOURCE_H

#include <sys/types.h>

#include "base/note.h"
#include "base/str.h"
#include "base/time.h"
#include "event/event.h"
#include "gpuprof/row.h"

struct capture_sink;
struct live_source;

struct live_unprobed {
	uint64_t since_ns;	/* 0: they have all been probed */
	uint64_t until_ns;	/* UINT64_MAX: they still are not */
};

/* The state of the session when it asks for reasons. */
enum live_moment { LIVE_FIRST_INTERVAL, LIVE_INTERVAL, LIVE_END };

#define LIVE_BUSY_NS (20 * NS_PER_MS)	/* between two readings */
#define LIVE_QUIET_NS (100 * NS_PER_MS)

struct live_source_ops {	/* NULL: nothing to do */
	/* Facts about the source, before EVENT_START. */
	void (*describe)(struct live_source *l);
	/* EVENT_START was pushed: pushes the calls that threads are in. 0, -ENOMEM or the sink's
	 * error. */
	int (*begin)(struct live_source *l, uint64_t start_ns);
	/* Starts its threads. keep: the capture whose blocks they store; NULL: none. 0 or -errno,
	 * logged unless -ENOMEM. */
	int (*run)(struct live_source *l, struct capture_sink *keep);
	/* An event of any source. 0 or -ENOMEM. */
	int (*on_event)(struct live_source *l, const struct event *ev);
	/* One of fds is readable. */
	void (*pump)(struct live_source *l);
	/* Probes: pushes what they have recorded until now: an interval ends, or another source
	 * pushes what may belong to it. Gives up after CATCH_UP_MS. */
	void (*catch_up)(struct live_source *l);
	/* Every LIVE_QUIET_NS; LIVE_BUSY_NS while some source is busy. 0, or the sink's error. */
	int (*read)(struct live_source *l);
	/* An interval ends at until_ns: pushes calls that have begun before and no event has
	 * shown yet. */
	void (*cut)(struct live_source *l, uint64_t until_ns);
	/* Why processes are silent about their devices, as facts. */
	void (*explain_silence)(struct live_source *l, enum live_moment when);
	/* Rows without a probe in some file, if that changed since *noted (at first 0). */
	bool (*left_out)(struct live_source *l, unsigned int *noted, bool left_out[GP_ROWS_MAX]);
	/* Probes: when CUPTI's records were the launches last, as is_recorded says of processes. */
	struct live_unprobed (*unprobed_launches)(struct live_source *l,
						  bool (*is_recorded)(void *ctx, pid_t pid),
						  void *ctx);
	/* The session is about to stop. Does not wait. */
	void (*request_stop)(struct live_source *l);
	/* Reads and pushes the last of everything. 0, or the sink's error. */
	int (*stop)(struct live_source *l, uint64_t now_ns);
	/* All have stopped: pushes what had to wait for others' last. 0, or the sink's error. */
	int (*finish)(struct live_source *l);
	/* Counters so far, for a capture file that ends now. */
	void (*push_counts)(struct live_source *l, const struct event_sink *to);
	/* After stop: why there may be no call at all. */
	void (*explain_empty)(const struct live_source *l, struct strbuf *why);
	/* When the model is finished. */
	void (*warn)(const struct live_source *l);
	/* After stop, or without it: gives back all but what only free may wait for. */
	void (*release)(struct live_source *l);
	void (*free)(struct live_source *l);
};

struct live_source {
	const struct live_source_ops *ops;
	const struct event_sink *sink;
	int fds[2];			/* -1: none */
	uint64_t caps;			/* 1 << CAP_*, needed until stop */
	bool is_busy;			/* it is to be read soon, and often */
};

/* The sink remembers an error of these two. */
void live_push_fact(const struct event_sink *to, const char *key, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void live_push_trait(const struct event_sink *to, pid_t pid, const char *key, const char *value);

/* A message: logged, and pushed as an EVENT_NOTE. pid 0: of no process. */
void live_push_note(const struct event_sink *to, enum note_code code, pid_t pid,
		    const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* An EVENT_COUNT: hits = received + lost. 0 or the sink's error. */
int live_push_count(const struct event_sink *to, const char *source, const char *kind,
		    uint64_t received, uint64_t lost);

/* Adds advice to an error that starting a thread or a mapping met, logs it. Returns -errno for the
 * caller to pass on, never -ENOMEM, since it is logged. */
int live_cannot(const char *what, int err);

#endif
