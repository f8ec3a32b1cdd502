/* SPDX-License-Identifier: BSD-3-Clause */
/* One function per verb, each in the file of its name; each returns an exit code (base/exit.h). */
#ifndef CLI_VERBS_H
#define CLI_VERBS_H

#include "cli/options.h"

int verb_watch(const struct options *o);	/* no verb */
int verb_stat(const struct options *o);
int verb_record(const struct options *o);
int verb_report(const struct options *o);
int verb_stacks(const struct options *o);
int verb_env(const struct options *o);
int verb_doctor(const struct options *o);
int verb_version(const struct options *o);
int verb_help(const struct options *o);

/* report_print, after lines_find on request, and report_judge of a model, with open calls closed
 * at now_ns (0: model_now). */
struct model;
struct report_state;
int report_model(const struct options *o, const struct model *m, uint64_t now_ns,
		 const struct report_state *how);
int judge_model(const struct options *o, const struct model *m);

/* -h and --help: the output of `gpuprof help VERB`. */
int help_verb(const struct verb *v);

#endif
