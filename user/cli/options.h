/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The command line as it was read. A new option is a row in options_table.c and a member here.
 *
 * After options_parse a struct options is const and handed down; nothing else remembers it.
 */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/time.h"
#include "session/session_options.h"
#include "view/report.h"

enum verb_id {
	VERB_DEFAULT,		/* no verb: the live view or the interval mode */
	VERB_TOP,
	VERB_STAT,
	VERB_RECORD,
	VERB_REPORT,
	VERB_EXPORT,
	VERB_STACKS,
	VERB_ENV,
	VERB_DOCTOR,
	VERB_VERSION,
	VERB_HELP,
	VERB_END
};

#define OPTIONS_PIDS_MAX 1024
#define OPTIONS_ARGS_MAX 4

struct verb;

struct options {
	const struct verb *verb;	/* never NULL after parsing */
	bool help;			/* -h: print the verb's help instead of running it */
	bool version;			/* -V: the verb is `version` */

	struct session_options session;	/* owns pids and selector */
	struct report_options report;	/* and for record its output */
	const char *capture; /* stat, intervals: keep a capture here too; NULL none */
	uint64_t interval_ns;		/* 0: not given */
	uint64_t delay_ns;		/* between refreshes of the live view; 0: not given */
	bool batch, ascii;		/* live view: as text; without characters beyond ASCII */
	struct time_moment from, to;	/* report: of the capture only this */

	bool lines;			/* of source, and inlined functions */
	bool all_threads;		/* stacks: also CUDA's and the helper's own */

	bool bare;			/* nothing was given */
	bool verbose;
	bool quiet;

	int form;			/* enum help_form */
	int env_form;			/* enum env_form */
	const char *dir;		/* of the helper; NULL: the default */
	bool check, remove;		/* env: look only; print what unsets the variables */

	const char *args[OPTIONS_ARGS_MAX]; /* after the verb: FILE, VERB */
	size_t n_args;
};

/*
 * Reads argv. 0: o is complete; else an exit code, and the one-line error was logged. o points
 * into argv. options_free in both cases.
 */
int options_parse(struct options *o, int argc, char *const *argv);
void options_free(struct options *o);

/* Warns if stacks are taken that no capture keeps and no table shows. After report_check. */
void options_warn_stacks(const struct options *o);

#endif
