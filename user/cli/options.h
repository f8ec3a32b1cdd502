/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The command line: one const table of options, one of verbs. Parsing, help, man pages and
 * completions walk them. A new option is a row in options_table.c and a member here.
 *
 * After options_parse a struct options is const and handed down; nothing else remembers it.
 */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/selector.h"
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

enum on { ON_UNSET = -1, ON_EXIT, ON_SIGNAL };

#define OPTIONS_PIDS_MAX 1024
#define OPTIONS_ARGS_MAX 4

/* What a shell offers for a value or for a word behind a verb, where there are no choices. */
enum completion { COMPLETE_NOTHING, COMPLETE_FILES, COMPLETE_CAPTURES, COMPLETE_PIDS, COMPLETE_VERBS };

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

	const char *output;		/* NULL: standard output; record: its default name */
	const char *capture;		/* stat, intervals: keep a capture here too; NULL none */
	uint64_t max_bytes;		/* of a capture file, or of memory with --before; 0: no limit */
	uint64_t max_files;		/* 0: no limit */
	uint64_t before_ns;		/* hold that much in memory; 0: write all */
	int on;				/* enum on: when to write what is held */
	uint64_t duration_ns;		/* 0: until CMD or the targets end, or Ctrl-C */
	uint64_t interval_ns;
	uint64_t count;			/* intervals to print; 0: no limit */

	const char *tables;		/* "calls,threads"; NULL: the default ones */
	int format;			/* enum format */
	int by;				/* enum calls_by of view/views.h */
	const char *sort;		/* column; NULL: each table's own order */
	uint64_t top;			/* rows of each table; 0: all */
	const char *filter;		/* extended regex on names; NULL none */
	bool wide;
	bool lines;			/* of source, and inlined functions */
	double max_loss;		/* share, 0..1 */

	int attach;			/* enum loader_way of probe/loader.h */
	int detail;			/* enum loader_detail of the same */
	int launch;			/* enum plan_launch of probe/plan.h */
	int graphs;			/* enum graphs_told */
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

struct verb {
	const char *name;		/* "" for no verb */
	int (*run)(const struct options *o);
	const char *summary;		/* one line of `gpuprof help` */
	const char *usage;		/* after "gpuprof " */
	const char *about;		/* lines of help: what it does */
	const char *examples;		/* lines of help */
	uint8_t min_args, max_args;	/* words behind the verb, <= OPTIONS_ARGS_MAX */
	uint8_t completes;		/* enum completion of these words */
	bool has_targets;		/* takes -p, -a, -- CMD */
};

enum option_group { GROUP_TARGETS, GROUP_TIME, GROUP_OUTPUT, GROUP_MEASURE, GROUP_OTHER, GROUP_END };

struct option_row {
	const char *name;		/* long, without "--" */
	char letter;			/* 0: none */
	uint8_t group;			/* enum option_group */
	uint8_t completes;		/* enum completion of the value */
	uint16_t verbs;			/* bit 1 << enum verb_id for each that takes it */
	const char *arg;		/* "DUR" in help; NULL: a flag */
	const char *const *choices;	/* for option_set_choice; NULL-terminated */
	const char *accepts;		/* "a duration such as 10s": for the message on a bad value */
	const char *help;		/* one line */
	size_t at;			/* offset of the member of struct options */
	/* 0, -EINVAL (bad value; the caller reports it) or -ENOMEM. */
	int (*set)(struct options *o, const struct option_row *row, const char *value);
};

/*
 * Reads argv. 0: o is complete; else an exit code, and the one line that says why was logged.
 * o points into argv. options_free in both cases.
 */
int options_parse(struct options *o, int argc, char *const *argv);
void options_free(struct options *o);

/* For parsing, help, man pages, completions. */
extern const char *const options_groups[GROUP_END];	/* titles */
const struct option_row *options_rows(size_t *n);
const struct verb *options_verbs(size_t *n);	/* indexed by enum verb_id */
const struct verb *options_find_verb(const char *name);	/* NULL, and a line with the nearest, if none */

/* The name nearest to word among n names (a short edit away), or NULL. */
const char *options_nearest(const char *word, const char *const *names, size_t n);

#endif
