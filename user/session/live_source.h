/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A live source of events: probes, helpers, NVML. A session drives all of them through one table of
 * operations; a source pushes into the session's sink and knows no session. Used by the engine
 * thread.
 */
#ifndef SESSION_LIVE_SOURCE_H
#define SESSION_LIVE_SOURCE_H

#include <sys/types.h>

#include "base/note.h"
#include "base/str.h"
#include "event/event.h"

struct live_source;

/* The state of the session when it asks for reasons. */
enum live_moment { LIVE_FIRST_INTERVAL, LIVE_INTERVAL, LIVE_END };

struct live_source_ops {	/* NULL: nothing to do */
	/* Facts about the source, before EVENT_START. */
	void (*describe)(struct live_source *l);
	/* An event of any source. 0 or -ENOMEM. */
	int (*on_event)(struct live_source *l, const struct event *ev);
	/* One of fds is readable. */
	void (*pump)(struct live_source *l);
	/* Every 20 ms. 0, or the sink's error. */
	int (*read)(struct live_source *l);
	/* An interval ends at until_ns: pushes calls that have begun before and no event has
	 * shown yet. */
	void (*cut)(struct live_source *l, uint64_t until_ns);
	/* Why processes are silent about their devices, as facts. */
	void (*explain_silence)(struct live_source *l, enum live_moment when);
	/* The session is about to stop. Does not wait. */
	void (*request_stop)(struct live_source *l);
	/* Reads and pushes the last of everything. 0, or the sink's error. */
	int (*stop)(struct live_source *l, uint64_t now_ns);
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

#endif
