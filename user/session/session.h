/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A live session from start to end: targets, probes, drain, model, capture. The verbs stat,
 * record and the interval mode differ only in what they do with it.
 */
#ifndef SESSION_SESSION_H
#define SESSION_SESSION_H

#include "session/command.h"
#include "session/session_options.h"
#include "capture/capture_sink.h"
#include "ledger/model.h"

struct session_plan {
	const struct session_options *o;
	const char *capture_path;	/* NULL: keep no capture */
	const char *output;		/* a file that is written when the session has ended; NULL: none */
	bool by_launch;			/* the model counts launches, too */
	uint64_t interval_ns;		/* 0: no intervals */
	/* At each interval's end, before the model is cut there; non-zero ends the session. */
	int (*on_interval)(void *ctx, const struct model *m, uint64_t now_ns);
	void *ctx;
};

struct session_outcome {
	struct model *model;		/* complete, also after an error if not NULL */
	bool started;			/* something was measured, even if an error ended it */
	struct capture_sink_stats kept;
	struct command command;		/* perhaps still running: see session_end */
	int signal_fd;
	struct decoder *decoder;	/* owns the model's functions */
	struct loader *loader;		/* detached, but its breakpoints may take a while to go */
};

/* An exit code (base/exit.h) of the session itself; what went wrong was logged. */
int session_run(const struct session_plan *plan, struct session_outcome *out);

/* To be called last, when all is printed: waits for CMD, if there is one, and for breakpoints that
 * the kernel is still taking off; frees what out holds.
 * CMD's own status if it failed, else rc. */
int session_end(struct session_outcome *out, int rc);

#endif
