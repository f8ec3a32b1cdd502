/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who lives: what a capture that begins in the middle of a session has to say first, so that it
 * can be read alone. Takes all events of the session; knows nothing of files.
 *
 * A capture's events keep the numbers of their threads, but begin anew: what was delivered before
 * the capture is no hole in it. A call that was open when the capture begins is its thread's first
 * event (ENTER, or the latest INSIDE). What counts since the session began (EVENT_COUNT, some facts)
 * counts since the capture did.
 */
#ifndef CAPTURE_ROSTER_H
#define CAPTURE_ROSTER_H

#include "event/event.h"

struct roster;

struct roster *roster_new(void);	/* NULL + errno */
void roster_free(struct roster *r);

/* Takes note of ev; out: as the present capture has it (texts: of ev, or until the next call). 0 or
 * -ENOMEM; out is right in both cases. */
int roster_take(struct roster *r, const struct event *ev, struct event *out);

/* Does ev count since the session began? */
bool roster_counts(const struct event *ev);

/* One that a source counts went into the capture before: in the present one it is none. */
void roster_count_before(struct roster *r, const char *source, const char *kind);

/* A capture begins here: START, facts, processes with what they have (holdings.h), threads and their
 * open calls. 0 or to's error. */
int roster_begin(struct roster *r, uint64_t start_ns, const struct event_sink *to);

#endif
