/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A live session: targets, probes, drain, model, capture. Open, step until it has ended, stop,
 * print, close. It owns all that it measures with.
 */
#ifndef SESSION_SESSION_H
#define SESSION_SESSION_H

#include "session/session_options.h"
#include "capture/capture_sink.h"
#include "model/model.h"

struct session_plan {
	const struct session_options *o;
	const char *capture_path;	/* NULL: keep no capture */
	/* a file that is written when the session has ended; NULL: none */
	const char *output;
	bool by_launch;			/* the model counts launches, too */
	bool has_bins;			/* and knows the books by bins of time */
	const struct consumers *consumers;	/* that the model has, too; NULL: none */
	uint64_t interval_ns;		/* 0: no intervals */
	uint64_t first_interval_at_ns;	/* it ends then, or a little later; 0: as the others */
	int input_fd;			/* when it is readable: SESSION_INPUT; 0: none */
};

struct session;

/* Starts to measure; plan must live as long. Errors were logged, and session_stop returns them.
 * NULL: out of memory (logged). */
struct session *session_open(const struct session_plan *plan);

enum session_step { SESSION_ENDED, SESSION_GOES_ON, SESSION_INTERVAL, SESSION_INPUT };

/* Waits for events, for a second at most. SESSION_INTERVAL: an interval has ended;
 * before the next step the model is as it was then, at session_interval_end. SESSION_INPUT: there
 * is something to read. */
enum session_step session_step(struct session *s);
uint64_t session_interval_end(const struct session *s);

/* Writes what a flight recorder holds: into which file, or NULL (a failure is logged). Of other
 * sinks all is written anyway. */
const char *session_keep_now(struct session *s);

/* After its end, until session_close: waits for input. False: a signal ends the wait, or has ended
 * the session. */
bool session_wait_input(struct session *s);

/* Reads the last of everything; a second time does nothing. An exit code (base/exit.h). */
int session_stop(struct session *s);

struct model *session_model(const struct session *s);	/* NULL: nothing was measured */
/* when it was stopped */
const struct capture_sink_stats *session_kept(const struct session *s);

/* To be called last, when all is printed: waits for CMD, if there is one, and for breakpoints that
 * the kernel is still taking off. CMD's own status if it failed, else rc. */
int session_close(struct session *s, int rc);

#endif
