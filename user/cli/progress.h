/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is being measured, and how far it is: for people on a terminal, on standard error. Where
 * that is none, or with -q, nothing. Sample, of which the second line is rewritten each second:
 *
 *   gpuprof: measuring process 1234 for 10 s; Ctrl-C ends it
 *   3 s, 4,475 events
 */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include "cli/options.h"
#include "session/session.h"

struct progress {
	const struct options *o;
	uint64_t start_ns, at_ns;	/* at_ns: of the latest line; 0: there are none */
};

/* Before anything else: attaching takes a while. */
void progress_begin(struct progress *p, const struct options *o);

/* After each step; at most one line a second. None while a command has the terminal. */
void progress_show(struct progress *p, const struct session *s);

/* Removes the line. */
void progress_end(const struct progress *p);

#endif
