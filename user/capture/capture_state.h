/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state that a capture file needs at its beginning if it begins in the middle of a session, so
 * that it can be read alone: facts, processes with their devices, open ranges and live memory,
 * threads and the calls they are in. Takes all events of the session; knows nothing of files.
 *
 * A capture's events keep the numbers of their threads, but begin anew: events delivered before
 * the capture are no hole in it. A call that was open when the capture begins is its thread's first
 * event (ENTER, or the latest INSIDE). Counters of the session (EVENT_COUNT, some facts) count from
 * the capture's beginning.
 */
#ifndef CAPTURE_CAPTURE_STATE_H
#define CAPTURE_CAPTURE_STATE_H

#include <string.h>

#include "event/event.h"

struct start_state;

struct start_state *start_state_new(void);	/* NULL + errno */
void start_state_free(struct start_state *s);

/* Takes note of ev; out: as the present capture has it (texts: of ev, or until the next call). 0 or
 * -ENOMEM; out is right in both cases. */
int start_state_take(struct start_state *s, const struct event *ev, struct event *out);

/* The counter that a fact of this key is; COUNTER_END: none. */
static inline unsigned int start_state_counter(const char *key)
{
	unsigned int i = 0;

	while (i < COUNTER_END && strcmp(key, counter_name(i)))
		i++;
	return i;
}

/* Does ev count since the session began? */
static inline bool start_state_counts(const struct event *ev)
{
	return ev->kind == EVENT_COUNT || (ev->kind == EVENT_FACT && ev->fact.key &&
					   start_state_counter(ev->fact.key) < COUNTER_END);
}

/* One that a source counts went into the capture before: the present one does not count it. */
void start_state_count_before(struct start_state *s, const char *source, const char *kind);

/* A capture begins here: START, facts, processes, threads and their open calls, stacks. 0 or to's
 * error. */
int start_state_put(struct start_state *s, uint64_t start_ns, const struct event_sink *to);

#endif
