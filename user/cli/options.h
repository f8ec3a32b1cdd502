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

#include "host/selector.h"
#include "view/report.h"

enum verb_id {
	VERB_DEFAULT,		/* no verb: the live view or the interval mode */
	VERB_STAT,
	VERB_RECORD,
	VERB_REPORT,
	VERB_STACKS,
	VERB_ENV,
	VERB_DOCTOR,
	VERB_VERSION,
	VERB_HELP,
	VERB_END
};

/* --off-cpu: `auto` is on for chosen processes and off for the whole host. */
enum off_cpu { OFF_CPU_AUTO, OFF_CPU_ON, OFF_CPU_OFF };

enum graphs_told { GRAPHS_AUTO, GRAPHS_NODES, GRAPHS_WHOLE };	/* auto: nodes, but whole at intervals */

enum cupti_how { CUPTI_AUTO, CUPTI_SUBSCRIBE };

enum on { ON_UNSET = -1, ON_EXIT, ON_SIGNAL };

#define OPTIONS_PIDS_MAX 1024
#define OPTIONS_ARGS_MAX 4

struct verb;

struct options {
	const struct verb *verb;	/* never NULL after parsing */
	bool help;			/* -h: print the verb's help instead of running it */
	bool version;			/* -V: the verb is `version` */

	/* Targets: pids, or all, or cmd. */
	uint32_t *pids;			/* owned, distinct, in the order given */
	size_t n_pids;
	bool isolate;			/* -p: not what is below them */
	struct selector *selector;	/* --name, --user, ...; owned; NULL: none was given */
	bool all;			/* -a, or nothing was named */
	char *const *cmd;		/* what follows "--", NULL-terminated; NULL none */

	struct report_options report;	/* and for record its output */
	const char *capture;		/* stat, intervals: keep a capture here too; NULL none */
	uint64_t max_bytes;		/* of a capture file, or of memory with --before; 0: no limit */
	uint64_t max_files;		/* 0: no limit */
	uint64_t before_ns;		/* hold that much in memory; 0: write all */
	int on;				/* enum on: when to write what is held */
	uint64_t duration_ns;		/* 0: until CMD or the targets end, or Ctrl-C */
	uint64_t interval_ns;
	uint64_t count;			/* intervals to print; 0: no limit */

	bool lines;			/* of source, and inlined functions */

	int attach;			/* enum loader_way of probe/loader.h */
	int launch;			/* enum plan_launch of probe/plan.h */
	int graphs;			/* enum graphs_told */
	int cupti;			/* enum cupti_how */
	int tier;			/* highest tier of the catalogue's rows that is probed */
	uint64_t budget_ns;		/* what single-stepping may add to a call; 0: the default */
	uint64_t ring_bytes;		/* a power of two */
	bool stacks;			/* of each call */
	uint64_t stack_bytes;		/* seen of each */
	int off_cpu;			/* enum off_cpu */
	bool no_cmdline;
	bool inject;			/* the helper into processes that have none */
	bool yes;			/* asked for it already */

	bool verbose;
	bool quiet;

	int form;			/* enum help_form of cli/document.h */
	int env_form;			/* enum env_form of cli/env.h */
	const char *dir;		/* of the helper; NULL: the default */

	const char *args[OPTIONS_ARGS_MAX]; /* after the verb: FILE, VERB */
	size_t n_args;
};

/*
 * Reads argv. 0: o is complete; else an exit code, and the one line that says why was logged.
 * o points into argv. options_free in both cases.
 */
int options_parse(struct options *o, int argc, char *const *argv);
void options_free(struct options *o);

/* Stacks that are taken, kept in no capture and shown in no table: a warning. After report_check. */
void options_warn_stacks(const struct options *o);

#endif
