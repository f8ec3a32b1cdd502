// SPDX-License-Identifier: BSD-3-Clause
/*
 * The parser: walks argv once over the tables of options_table.c. Not getopt, which keeps its
 * state in globals and moves arguments about. Rows' common properties are checked here, the
 * meaning of a value is in option_value.c; by name it knows only the defaults and the targets.
 */
#include "cli/options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>

#include "base/log.h"
#include "base/str.h"
#include "base/time.h"
#include "base/exit.h"
#include "cli/option_row.h"
#include "probe/ops.h"
#include "probe/plan.h"
#include "base/utf8.h"
#include "view/render.h"
#include "view/view.h"

#define WORD_BITS 64

struct parser {
	struct options *o;
	char *const *argv;
	int argc;
	int at;			/* next argument */
	uint64_t seen[OPTIONS_ROWS_MAX / WORD_BITS];	/* bit of each row that was given */
};

static const struct options defaults = {
	.session.ring_bytes = 8 << 20,
	.session.stack_bytes = 4096,
	.session.budget = -1,
	.report.max_loss = 0.01,
	.session.on = ON_UNSET,
};

static int unknown_option(const char *given, size_t len)
{
	const char *names[OPTIONS_ROWS_MAX], *near;
	char word[64] = "";
	size_t n = 0;

	if (len >= sizeof(word))
		len = sizeof(word) - 1;
	memcpy(word, given, len);
	for (const struct option_row *row = options_rows; row->name; row++)
		names[n++] = row->name;
	near = str_nearest(word, names, n);
	if (near)
		log_error("unknown option '--%s'; did you mean '--%s'?", word, near);
	else
		log_error("unknown option '--%s'; see 'gpuprof help'", word);
	return EXIT_USAGE;
}

static int set_option(struct parser *p, const struct option_row *row, const char *value)
{
	size_t i = (size_t)(row - options_rows);
	int err = row->set(p->o, row, value);

	p->seen[i / WORD_BITS] |= 1ull << i % WORD_BITS;
	if (err == -ENOMEM)
		log_error("cannot keep the options: out of memory");
	else if (err)
		log_error("option '--%s': '%s' is not accepted; give %s", row->name, value,
			  row->accepts);
	return err == -ENOMEM ? EXIT_FAIL : err ? EXIT_USAGE : 0;
}

/* The value of an option stands behind it; NULL, logged, when the line ends there. */
static const char *next_value(struct parser *p, const struct option_row *row)
{
	if (p->at < p->argc && strcmp(p->argv[p->at], "--"))
		return p->argv[p->at++];
	log_error("option '--%s' needs a value; give %s", row->name, row->accepts);
	return NULL;
}

static int parse_long(struct parser *p, const char *text)
{
	size_t len = strcspn(text, "=");
	const char *value = text[len] ? text + len + 1 : NULL;

	for (const struct option_row *row = options_rows; row->name; row++) {
		if (strlen(row->name) != len || strncmp(row->name, text, len))
			continue;
		if (!row->arg && value) {
			log_error("option '--%s' takes no value", row->name);
			return EXIT_USAGE;
		}
		if (row->arg && !value)
			value = next_value(p, row);
		if (row->arg && !value)
			return EXIT_USAGE;
		return set_option(p, row, value);
	}
	return unknown_option(text, len);
}

/* "-av", "-p1234", "-ap 1234" */
static int parse_short(struct parser *p, const char *text)
{
	while (*text) {
		const struct option_row *row = options_rows;
		const char *at = text, *value;
		int err;

		while (row->name && row->letter != *text)
			row++;
		utf8_next(&text);
		value = text;
		if (!row->name) {
			log_error("unknown option '-%.*s'; see 'gpuprof help'", (int)(text - at),
				  at);
			return EXIT_USAGE;
		}
		if (row->arg && !*text)
			value = next_value(p, row);
		if (!value)
			return EXIT_USAGE;
		err = set_option(p, row, value);
		if (err || row->arg)
			return err;
	}
	return 0;
}

/* "stat, record" */
static void add_verbs(struct strbuf *out, uint32_t mask)
{
	for (const struct verb *v = options_verbs; v->name; v++)
		if (mask & 1u << (v - options_verbs))
			strbuf_addf(out, "%s%s", out->len ? ", " : "",
				    *v->name ? v->name : "gpuprof without a verb");
}

/* A capture or a program where a verb should be: what to type is logged. */
static bool suggest_for_file(const char *name)
{
	struct strbuf path = STRBUF_INIT;
	struct stat st;
	bool known = true;

	if (stat(name, &st) || !S_ISREG(st.st_mode))
		return false;
	strbuf_add_shell_path(&path, name);
	if (str_ends_in(name, ".gpr"))
		log_error("'%s' is a capture; type: gpuprof report %s", name, path.s);
	else if (st.st_mode & 0111 && strchr(name, '/'))
		log_error("'%s' is a program; type: gpuprof stat -- %s", name, path.s);
	else
		known = false;
	strbuf_free(&path);
	return known;
}

/* NULL, and a line with the nearest, if none. */
static const struct verb *find_verb(const char *name)
{
	const char *names[OPTIONS_VERBS_MAX], *near;
	struct strbuf sb = STRBUF_INIT;
	size_t n = 0;

	for (const struct verb *v = options_verbs + 1; v->name; v++) {
		names[n++] = v->name;
		if (!strcmp(name, v->name))
			return v;
	}
	if (suggest_for_file(name))
		return NULL;
	near = str_nearest(name, names, n);
	if (near) {
		log_error("unknown verb '%s'; did you mean '%s'?", name, near);
		return NULL;
	}
	add_verbs(&sb, ~1u);
	log_error("unknown verb '%s'; the verbs are %s", name, sb.s);
	strbuf_free(&sb);
	return NULL;
}

static int parse_word(struct parser *p, const char *word)
{
	struct options *o = p->o;

	if (!*o->verb->name) {
		const struct verb *verb = find_verb(word);

		if (verb)
			o->verb = verb;
		return verb ? 0 : EXIT_USAGE;
	}
	if (o->n_args == o->verb->max_args) {
		if (o->session.n_pids && !word[strspn(word, "0123456789")])
			log_error("unexpected argument '%s'; separate process ids by commas, as "
				  "in -p \"$(pgrep -d, -x NAME)\"", word);
		else
			log_error("unexpected argument '%s'; usage: gpuprof %s", word,
				  o->verb->usage);
		return EXIT_USAGE;
	}
	o->args[o->n_args++] = word;
	return 0;
}

static int parse_all(struct parser *p)
{
	int err = 0;

	while (!err && p->at < p->argc) {
		char *arg = p->argv[p->at++];

		if (!strcmp(arg, "--") && p->at == p->argc) {
			log_error("nothing follows '--'; give the command to run");
			err = EXIT_USAGE;
		} else if (!strcmp(arg, "--")) {
			p->o->session.cmd = p->argv + p->at;
			p->at = p->argc;
		} else if (*arg == '-' && str_ends_in(arg, ".gpr") && suggest_for_file(arg)) {
			err = EXIT_USAGE;
		} else if (!strncmp(arg, "--", 2)) {
			err = parse_long(p, arg + 2);
		} else if (*arg == '-' && arg[1]) {
			err = parse_short(p, arg + 1);
		} else {
			err = parse_word(p, arg);
		}
	}
	return err;
}

static int check_applies(const struct parser *p)
{
	const struct verb *verb = p->o->verb;
	struct strbuf sb = STRBUF_INIT;

	for (size_t i = 0; options_rows[i].name; i++) {
		const struct option_row *row = &options_rows[i];

		if (!(p->seen[i / WORD_BITS] >> i % WORD_BITS & 1) ||
		    row->verbs & 1u << (verb - options_verbs))
			continue;
		add_verbs(&sb, row->verbs);
		log_error("option '--%s' does not apply to '%s'; it is for %s", row->name,
			  *verb->name ? verb->name : "gpuprof without a verb", sb.s);
		strbuf_free(&sb);
		return EXIT_USAGE;
	}
	return 0;
}

/* Targets and words that exclude each other, or are missing. */
static int check_words(const struct options *o)
{
	if (o->session.selector && (o->session.n_pids || o->session.all || o->session.cmd))
		log_error("use either %s or --name, --user and the like",
			  o->session.n_pids ? "--pid" :
			  o->session.all    ? "--all" :
					      "a command after --");
	else if (o->session.cmd && !o->verb->has_targets)
		log_error("'%s' runs no command; usage: gpuprof %s", o->verb->name, o->verb->usage);
	else if (o->session.n_pids && o->session.all)
		log_error("use either --pid or --all");
	else if (o->session.n_pids && o->session.cmd)
		log_error("use either --pid or a command after --");
	else if (o->session.all && o->session.cmd)
		log_error("use either --all or a command after --");
	else if (o->verbose && o->quiet)
		log_error("use either --verbose or --quiet");
	else
		return 0;
	return EXIT_USAGE;
}

/* Flame graphs are of stacks, which are measured then. */
static int choose_stacks(struct options *o)
{
	const char *name = o->report.format == FORMAT_FOLDED ? "folded" :
			   o->report.format == FORMAT_SVG    ? "svg" : "speedscope";
	const bool is_by_other = o->report.by == CALLS_BY_LAUNCH || o->report.by == CALLS_BY_RESULT;

	if (o->report.format != FORMAT_FOLDED && o->report.format != FORMAT_SPEEDSCOPE &&
	    o->report.format != FORMAT_SVG)
		return 0;
	if (o->verb == &options_verbs[VERB_STACKS]) {
		log_error("option '--format': '%s' is not of stacks; take gpuprof stat", name);
		return EXIT_USAGE;
	}
	if (o->report.tables || is_by_other) {
		log_error("option '--format %s' is of calls and times off the CPU by stack: "
			  "leave out '%s'",
			  name, o->report.tables ? "--table" : "--by");
		return EXIT_USAGE;
	}
	o->report.by = CALLS_BY_STACK;
	o->session.stacks |= o->verb->has_targets;
	return 0;
}

static bool is_whole_host(const struct options *o)
{
	return o->verb->has_targets && !o->session.n_pids && !o->session.cmd &&
	       !o->session.selector;
}

/* Options that would be accepted and have no effect. */
static int check_measure(const struct options *o)
{
	const struct {
		bool vain;
		const char *said;
	} rules[] = {
		{ o->report.by == CALLS_BY_STACK && o->verb->has_targets && !o->session.stacks,
		  "'--by stack' needs '--stacks': without it few are taken" },
		{ o->session.stacks && o->session.no_stacks,
		  "'--no-stacks' excludes '--stacks'" },
		{ o->session.stack_bytes != defaults.session.stack_bytes && !o->session.stacks &&
			  (o->session.no_stacks || is_whole_host(o)),
		  "'--stack-size' needs '--stacks': without it none are taken here" },
		{ o->session.cupti == CUPTI_SUBSCRIBE && o->session.graphs == GRAPHS_WHOLE,
		  "'--cupti subscribe' needs '--graphs nodes': it tells which call made each" },
		{ o->session.graphs == GRAPHS_WHOLE && o->verb->has_targets && !o->session.cmd,
		  "'--graphs whole' needs a command after '--': where graphs may have been made "
		  "before, CUPTI could end the process" },
		{ o->verb == &options_verbs[VERB_TOP] && o->session.cmd,
		  "'--': top starts no command, whose output would write over the view; start "
		  "it, then: gpuprof top -p PID" },
		{ o->verb == &options_verbs[VERB_TOP] && o->n_args && !is_whole_host(o),
		  "'--pid' and the like do not go with a capture: it has the processes that were "
		  "recorded" },
		{ o->session.inject && !o->session.n_pids,
		  "'--inject' needs '--pid': into which processes?" },
		{ o->session.yes && !o->session.inject,
		  "'--yes' needs '--inject': there is nothing to ask" },
		{ o->session.force && !o->session.inject,
		  "'--force' needs '--inject': nothing else may harm a process" },
		{ o->check && (o->remove || o->dir || o->env_form),
		  "'--check' goes with '--pid' alone: it prints and installs nothing" },
		{ o->remove && (o->dir || o->env_form),
		  "'--remove' goes alone: it is for this shell" },
		{ o->verb == &options_verbs[VERB_ENV] && o->session.n_pids && !o->check,
		  "'--pid' needs '--check': a process that runs has its variables already" },
		{ o->session.budget > 0 && o->session.launch != LAUNCH_AUTO,
		  "'--budget' needs '--launch auto', which may leave probes out" },
		{ o->lines && o->report.by != CALLS_BY_STACK && !o->report.annotate &&
			  !(o->report.tables && strstr(o->report.tables, view_lines.name)),
		  "'--lines' needs '--by stack' or '--table lines': lines are those of a stack's "
		  "frames" },
		{ o->session.torch && is_whole_host(o),
		  "'--torch' needs chosen processes: -p, -- CMD or a selector" },
		{ o->session.gemms && is_whole_host(o),
		  "'--gemms' needs chosen processes: -p, -- CMD or a selector" },
		{ o->verb->needs_format && o->report.format < FORMAT_CSV,
		  "'--format' is needed: see 'gpuprof help export'" },
		{ o->report.format == FORMAT_TORCH_MEMORY && !o->report.output && isatty(1),
		  "'--format torch-memory' is no text: give '--output'" },
		{ o->report.format == FORMAT_TORCH_MEMORY && o->verb->has_targets,
		  "'--format torch-memory' is of a capture: record --torch-memory" },
		{ o->session.torch_memory && is_whole_host(o),
		  "'--torch-memory' needs chosen processes: -p, -- CMD or a selector" },
		{ o->session.gemms && o->session.tier,
		  "'--gemms' does not go with '--tier 1', which has cuBLAS's routines as calls" },
		{ o->session.shapes && o->session.torch != OPS_ALL,
		  "'--shapes' needs '--torch all': of what Python calls no tensor is seen" },
	};

	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		if (!rules[i].vain)
			continue;
		log_error("option %s", rules[i].said);
		return EXIT_USAGE;
	}
	return 0;
}

/* Who measures for a while wants all; who leaves it running wants the targets undisturbed. */
#define BUDGET_OF_INTERVALS 0.01

static void choose_budget(struct options *o)
{
	const bool is_left_running = (o->verb == &options_verbs[VERB_DEFAULT] ||
				      o->verb == &options_verbs[VERB_TOP]) &&
				     o->session.launch == LAUNCH_AUTO;

	if (o->session.budget < 0)
		o->session.budget = is_left_running ? BUDGET_OF_INTERVALS : 0;
}

int options_parse(struct options *o, int argc, char *const *argv)
{
	struct parser p = { .o = o, .argv = argv, .argc = argc, .at = 1 };
	int err;

	*o = defaults;
	o->bare = argc == 1;
	o->verb = options_verbs;
	err = parse_all(&p);
	if (err || o->help)
		return err;
	if (o->version) {
		o->verb = &options_verbs[VERB_VERSION];
		o->n_args = 0;	/* whatever other words were given */
		return 0;
	}
	err = check_applies(&p);
	if (!err)
		err = check_words(o);
	if (!err)
		err = choose_stacks(o);
	o->session.cmd_to_stderr = o->report.format != FORMAT_TEXT && !o->report.output;
	if (!err)
		err = check_measure(o);
	choose_budget(o);
	if (!err)
		o->session.all |= is_whole_host(o);
	return err;
}

void options_free(struct options *o)
{
	free(o->session.pids);
	selector_free(o->session.selector);
	o->session.selector = NULL;
	o->session.pids = NULL;
	o->session.n_pids = 0;
}

void options_warn_stacks(const struct options *o)
{
	if (o->session.stacks && !o->capture && !report_shows_stacks(&o->report))
		log_warn("option '--stacks' takes stacks that this report does not show; give "
			 "'--by stack'");
}
