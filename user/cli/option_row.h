/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One const table of options, one of verbs (options_table.c). Parsing, help, man pages and
 * completions walk them.
 */
#ifndef CLI_OPTION_ROW_H
#define CLI_OPTION_ROW_H

#include "cli/options.h"

/* A shell's completion of a value or of a word behind a verb, where there are no choices. */
enum completion {
	COMPLETE_NOTHING,
	COMPLETE_FILES,
	COMPLETE_CAPTURES,
	COMPLETE_PIDS,
	COMPLETE_VERBS
};

enum help_form { HELP_TEXT, HELP_MAN, HELP_BASH, HELP_ZSH, HELP_FISH, HELP_VERBS,
		 HELP_WORDS, HELP_END };

/* The purpose of the environment: the forms of `gpuprof env --for`. */
enum env_form { ENV_SHELL, ENV_SYSTEMD, ENV_DOCKER, ENV_K8S, ENV_SLURM, ENV_CDI,
		ENV_APPTAINER, ENV_PROLOG, ENV_FORMS };

struct verb {
	const char *name;		/* "" for no verb */
	const char *summary;		/* one line of `gpuprof help` */
	const char *usage;		/* after "gpuprof " */
	const char *about;		/* lines of help: its effect */
	const char *examples;		/* lines of help */
	uint8_t max_args;	/* words behind the verb, <= OPTIONS_ARGS_MAX */
	uint8_t completes;		/* enum completion of these words */
	bool has_targets;		/* takes -p, -a, -- CMD */
	bool needs_format;		/* --format is to be given */
};

enum option_group {
	GROUP_TARGETS,
	GROUP_TIME,
	GROUP_OUTPUT,
	GROUP_MEASURE,
	GROUP_OTHER,
	GROUP_END
};

struct option_row {
	const char *name;		/* long, without "--" */
	char letter;			/* 0: none */
	uint8_t group;			/* enum option_group */
	uint8_t completes;		/* enum completion of the value */
	uint32_t verbs;			/* bit 1u << enum verb_id for each that takes it */
	const char *arg;		/* "DUR" in help; NULL: a flag */
	const char *const *choices;	/* for option_set_choice; NULL-terminated */
	const char *accepts; /* "a duration such as 10s": for the message on a bad value */
	const char *help;		/* one line */
	size_t at;			/* offset of the member of struct options */
	/* 0, -EINVAL (bad value; the caller reports it) or -ENOMEM. */
	int (*set)(struct options *o, const struct option_row *row, const char *value);
};

#define OPTIONS_ROWS_MAX 128
#define OPTIONS_VERBS_MAX 32	/* bits of option_row.verbs */

extern const char *const options_groups[GROUP_END];	/* titles */
extern const struct option_row *const options_rows;	/* the last one has no name */
extern const struct verb *const options_verbs;	/* by enum verb_id; the last one's name is NULL */

#endif
