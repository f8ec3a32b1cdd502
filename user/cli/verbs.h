/* SPDX-License-Identifier: BSD-3-Clause */
/* One function per verb, each in the file of its name; each returns an exit code (base/exit.h). */
#ifndef CLI_VERBS_H
#define CLI_VERBS_H

#include "cli/options.h"

int verb_watch(const struct options *o);	/* no verb */
int verb_top(const struct options *o);
int print_start(void);				/* no verb, no option, no right to probe */
int verb_stat(const struct options *o);
int verb_record(const struct options *o);
int verb_report(const struct options *o);
int verb_stacks(const struct options *o);
int verb_env(const struct options *o);
int verb_doctor(const struct options *o);
int verb_version(const struct options *o);
int verb_help(const struct options *o);

/* report_print, on request with source lines, and report_judge of a model, with open calls closed
 * at now_ns (0: see snapshot_take); before: of the time since that snapshot, NULL: of all. */
struct model;
struct report_state;
struct snapshot;
int report_interval(const struct options *o, const struct model *m, uint64_t now_ns,
		    const struct snapshot *before, const struct report_state *how);
/* What a next command may name: processes that still run, a file that can be read again. */
void report_look_around(struct snapshot *snap, const char *capture);
int judge_model(const struct options *o, const struct model *m);

extern const char agents_text[];	/* the page of `gpuprof help agents` */

/* -h and --help: the output of `gpuprof help VERB`. */
int help_verb(const struct verb *v);

#endif
