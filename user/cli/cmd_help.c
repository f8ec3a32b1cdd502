// SPDX-License-Identifier: BSD-3-Clause
/*
 * Help, man pages and the shells' completions, generated from the tables of options_table.c;
 * `gpuprof help --as FORM` prints one. The first screen of everything (24 lines of 80 columns)
 * holds usage, examples and the most important options.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/exit.h"
#include "base/log.h"
#include "base/str.h"
#include "base/version.h"
#include "cli/option_row.h"
#include "cli/verbs.h"
#include "view/output.h"
#include "view/schema.h"
#include "view/view.h"
#include "view/words.h"

enum { WORDS_MAX = 1024, WORDS_WIDTH = 80 };

static bool takes(const struct verb *v, const struct option_row *row)
{
	return row->verbs & 1u << (v - options_verbs);
}

/* In completions, "-" stands for no verb. */
static const char *verb_word(const struct verb *v)
{
	return *v->name ? v->name : "-";
}

/* The options of a verb by group. The group's title stands between before and after. */
static void add_grouped(struct strbuf *out, const struct verb *v, const char *before,
			const char *after, void (*add)(struct strbuf *, const struct option_row *))
{
	for (unsigned int group = 0; group < GROUP_END; group++) {
		bool any = false;

		for (const struct option_row *row = options_rows; row->name; row++) {
			if (row->group != group || !takes(v, row))
				continue;
			if (!any)
				strbuf_addf(out, "%s%s%s\n", before, options_groups[group], after);
			any = true;
			add(out, row);
		}
	}
}

/* ---- bash ---------------------------------------------------------------------------------- */

/*
 * The completion of bash: the tables as two functions of case statements, and a bash_walk over the
 * words that is the same for all of them. Needs nothing of the bash-completion package, but uses
 * it, where it is there, to complete the command after `--`.
 */

/* All words of a NULL-terminated list. */
static void document_add_words(struct strbuf *out, const char *const *words)
{
	for (size_t i = 0; words[i]; i++)
		strbuf_addf(out, "%s%s", i ? " " : "", words[i]);
}

/* "-p" and "--pid", with what separates them when there are both. */
static void document_add_names(struct strbuf *out, const struct option_row *row,
			       const char *separator)
{
	if (row->letter)
		strbuf_addf(out, "-%c%s", row->letter, separator);
	strbuf_addf(out, "--%s", row->name);
}

/* A quote ends the string, is quoted alone, and begins it anew: all three shells read that. */
static void document_add_quoted(struct strbuf *out, const char *text)
{
	strbuf_addch(out, '\'');
	for (; *text; text++) {
		if (*text == '\'')
			strbuf_addstr(out, "'\\''");
		else
			strbuf_addch(out, *text);
	}
	strbuf_addch(out, '\'');
}

static const char bash_head[] =
	"# shellcheck shell=bash\n"
	"# Completion of gpuprof for bash. Made by `gpuprof help --as bash`.\n";

/* Bash splits words at '=', so "--format=t" arrives as three. */
static const char bash_walk[] =
	"_gpuprof_complete() { # KIND [WORD...]\n"
	"\tlocal kind=$1 before\n"
	"\tshift\n"
	"\tcase $kind in\n"
	"\twords) mapfile -t COMPREPLY < <(compgen -W \"$*\" -- \"$cur\") ;;\n"
	"\tfiles)\n"
	"\t\tcompopt -o filenames 2>/dev/null\n"
	"\t\tmapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n"
	"\t\t;;\n"
	"\tcaptures)\n"
	"\t\tcompopt -o filenames 2>/dev/null\n"
	"\t\tmapfile -t COMPREPLY < <(compgen -f -X '!*.gpr' -- \"$cur\"; compgen -d -- \"$cur\")\n"
	"\t\t;;\n"
	"\tpids)\n"
	"\t\tbefore=${cur%\"${cur##*,}\"}\n"
	"\t\tmapfile -t COMPREPLY < <(\n"
	"\t\t\tcd /proc && compgen -P \"$before\" -W \"$(echo [0-9]*)\" -- \"${cur##*,}\"\n"
	"\t\t)\n"
	"\t\t;;\n"
	"\tesac\n"
	"}\n"
	"\n"
	"_gpuprof_command() { # AT: the command's first word\n"
	"\tif declare -F _command_offset >/dev/null; then\n"
	"\t\t_command_offset \"$1\"\n"
	"\telif [ \"$COMP_CWORD\" -eq \"$1\" ]; then\n"
	"\t\tmapfile -t COMPREPLY < <(compgen -c -- \"$cur\")\n"
	"\telse\n"
	"\t\t_gpuprof_complete files\n"
	"\tfi\n"
	"}\n"
	"\n"
	"_gpuprof() {\n"
	"\tlocal cur=${COMP_WORDS[COMP_CWORD]} verb=- value='' word i kind\n"
	"\tCOMPREPLY=()\n"
	"\tfor ((i = 1; i < COMP_CWORD; i++)); do\n"
	"\t\tword=${COMP_WORDS[i]}\n"
	"\t\tif [ \"$word\" = -- ]; then\n"
	"\t\t\t_gpuprof_command $((i + 1))\n"
	"\t\t\treturn\n"
	"\t\tfi\n"
	"\t\tif [ -n \"$value\" ]; then\n"
	"\t\t\t[ \"$word\" = = ] || value=''\n"
	"\t\telif [[ $word == -* ]]; then\n"
	"\t\t\tvalue=$(_gpuprof_value \"$word\")\n"
	"\t\telif [ \"$verb\" = - ]; then\n"
	"\t\t\tverb=$word\n"
	"\t\tfi\n"
	"\tdone\n"
	"\t[ \"$cur\" != = ] || cur=''\n"
	"\tif [ -n \"$value\" ]; then\n"
	"\t\tkind=$value\n"
	"\telif [[ $cur == -* ]]; then\n"
	"\t\tkind=\"words $(_gpuprof_options \"$verb\")\"\n"
	"\telse\n"
	"\t\tkind=$(_gpuprof_words \"$verb\")\n"
	"\tfi\n"
	"\t# shellcheck disable=SC2086 # a kind and its words\n"
	"\t_gpuprof_complete $kind\n"
	"}\n"
	"\n"
	"complete -F _gpuprof gpuprof\n";

static const char *const kinds[] = {
	[COMPLETE_NOTHING] = "nothing", [COMPLETE_FILES] = "files",
	[COMPLETE_CAPTURES] = "captures", [COMPLETE_PIDS] = "pids",
};

/* The options of each verb. */
static void add_options(struct strbuf *out)
{
	strbuf_addstr(out, "\n_gpuprof_options() { # VERB\n\tcase $1 in\n");
	for (const struct verb *v = options_verbs; v->name; v++) {
		strbuf_addf(out, "\t%s) echo '", verb_word(v));
		for (const struct option_row *row = options_rows; row->name; row++) {
			if (!takes(v, row))
				continue;
			document_add_names(out, row, " ");
			strbuf_addch(out, ' ');
		}
		strbuf_addstr(out, "' ;;\n");
	}
	strbuf_addstr(out, "\tesac\n}\n");
}

/* The values of each option. */
static void add_values(struct strbuf *out)
{
	strbuf_addstr(out, "\n_gpuprof_value() { # OPTION\n\tcase $1 in\n");
	for (const struct option_row *row = options_rows; row->name; row++) {
		if (!row->arg)
			continue;
		strbuf_addch(out, '\t');
		document_add_names(out, row, " | ");
		strbuf_addstr(out, ") echo '");
		if (row->choices) {
			strbuf_addstr(out, "words ");
			document_add_words(out, row->choices);
		} else {
			strbuf_addstr(out, kinds[row->completes]);
		}
		strbuf_addstr(out, "' ;;\n");
	}
	strbuf_addstr(out, "\tesac\n}\n");
}

/* The words behind each verb. */
static void add_bash_words(struct strbuf *out)
{
	strbuf_addstr(out, "\n_gpuprof_words() { # VERB\n\tcase $1 in\n");
	for (const struct verb *v = options_verbs; v->name; v++) {
		bool is_verb = !*v->name || v->completes == COMPLETE_VERBS;

		strbuf_addf(out, "\t%s) echo '%s", verb_word(v),
			    is_verb ? "words" : kinds[v->completes]);
		for (const struct verb *word = options_verbs + 1; is_verb && word->name; word++)
			strbuf_addf(out, " %s", word->name);
		strbuf_addstr(out, "'");
		if (v->completes == COMPLETE_VERBS)
			strbuf_addstr(out, "\" $(gpuprof help --as words 2>/dev/null)\"");
		strbuf_addstr(out, " ;;\n");
	}
	strbuf_addstr(out, "\tesac\n}\n\n");
}

static void document_add_bash(struct strbuf *out)
{
	strbuf_addstr(out, bash_head);
	add_options(out);
	add_values(out);
	add_bash_words(out);
	strbuf_addstr(out, bash_walk);
}

/* ---- zsh ----------------------------------------------------------------------------------- */

/*
 * The completion of zsh: a call of _arguments for each verb, and a zsh_walk over the words that
 * finds the verb. Belongs into a file named _gpuprof of $fpath.
 */

static const char zsh_head[] =
	"#compdef gpuprof\n"
	"# Completion of gpuprof for zsh. Made by `gpuprof help --as zsh`.\n";

static const char zsh_walk[] =
	"_gpuprof() {\n"
	"\tlocal verb=- word skip= at\n"
	"\tat=${words[(i)--]}\n"
	"\tif (( at < CURRENT )); then # a command is being typed\n"
	"\t\tshift $at words\n"
	"\t\t(( CURRENT -= at ))\n"
	"\t\t_normal\n"
	"\t\treturn\n"
	"\tfi\n"
	"\tfor word in \"${(@)words[2,CURRENT-1]}\"; do\n"
	"\t\tif [[ -n $skip ]]; then\n"
	"\t\t\tskip=\n"
	"\t\telif [[ $word == -* ]]; then\n"
	"\t\t\t_gpuprof_takes_value $word && skip=1\n"
	"\t\telse\n"
	"\t\t\tverb=$word\n"
	"\t\t\tbreak\n"
	"\t\tfi\n"
	"\tdone\n"
	"\t_gpuprof_verb $verb\n"
	"}\n"
	"\n"
	"_gpuprof \"$@\"\n";

static const char *const zsh_actions[] = {
	[COMPLETE_NOTHING] = " ",	/* a value of which nothing is known */
	[COMPLETE_FILES] = "_files",
	[COMPLETE_CAPTURES] = "_files -g \"*.gpr(-.)\"",
	[COMPLETE_PIDS] = "_sequence _pids",
	[COMPLETE_VERBS] = "_gpuprof_help_words",
};

/* In a description, brackets and colons are _arguments' own. */
static void add_plain(struct strbuf *text, const char *s)
{
	for (; *s; s++) {
		if (strchr("[]:\\", *s))
			strbuf_addch(text, '\\');
		strbuf_addch(text, *s);
	}
}

/* "[help]" or "[help]:ARG:action", in quotes. */
static void add_rest(struct strbuf *out, const struct option_row *row)
{
	struct strbuf text = STRBUF_INIT;

	strbuf_addch(&text, '[');
	add_plain(&text, row->help);
	strbuf_addch(&text, ']');
	if (row->arg) {
		strbuf_addch(&text, ':');
		add_plain(&text, row->arg);
		strbuf_addch(&text, ':');
		if (row->choices) {
			strbuf_addch(&text, '(');
			document_add_words(&text, row->choices);
			strbuf_addch(&text, ')');
		} else {
			strbuf_addstr(&text, zsh_actions[row->completes]);
		}
	}
	out->failed |= text.failed;
	document_add_quoted(out, text.s);
	strbuf_free(&text);
}

/* '(-p --pid)'{-p+,--pid=}'[...]:PID:_pids': one of them, with the value behind it or next. */
static void add_zsh_option(struct strbuf *out, const struct option_row *row)
{
	strbuf_addstr(out, " \\\n\t\t\t");
	if (row->letter)
		strbuf_addf(out, "'(-%c --%s)'{-%c%s,--%s%s}", row->letter, row->name, row->letter,
			    row->arg ? "+" : "", row->name, row->arg ? "=" : "");
	else
		strbuf_addf(out, "--%s%s", row->name, row->arg ? "=" : "");
	add_rest(out, row);
}

static void add_verb(struct strbuf *out, const struct verb *v)
{
	strbuf_addf(out, "\t%s)\n\t\t_arguments -s -S", verb_word(v));
	for (const struct option_row *row = options_rows; row->name; row++)
		if (takes(v, row))
			add_zsh_option(out, row);
	strbuf_addstr(out, " \\\n\t\t\t'1:verb:_gpuprof_verbs'");
	if (v->max_args)
		strbuf_addf(out, " \\\n\t\t\t'2:word:%s'", zsh_actions[v->completes]);
	strbuf_addstr(out, "\n\t\t;;\n");
}

static void add_zsh_verb_names(struct strbuf *out)
{
	strbuf_addstr(out, "\n_gpuprof_verbs() {\n\tlocal -a verbs=(\n");
	for (const struct verb *v = options_verbs + 1; v->name; v++) {
		struct strbuf text = STRBUF_INIT;

		strbuf_addf(&text, "%s:", v->name);
		add_plain(&text, v->summary);
		strbuf_addstr(out, "\t\t");
		document_add_quoted(out, text.s);
		strbuf_addch(out, '\n');
		out->failed |= text.failed;
		strbuf_free(&text);
	}
	strbuf_addstr(out, "\t)\n\t_describe verb verbs\n}\n\n"
			   "_gpuprof_help_words() {\n\t_gpuprof_verbs\n"
			   "\tcompadd -- $(gpuprof help --as words 2>/dev/null)\n}\n");
}

static void add_takes_value(struct strbuf *out)
{
	const char *before = "\t";

	strbuf_addstr(out, "\n_gpuprof_takes_value() {\n\tcase $1 in\n");
	for (const struct option_row *row = options_rows; row->name; row++) {
		if (!row->arg)
			continue;
		strbuf_addstr(out, before);
		document_add_names(out, row, " | ");
		before = " | ";
	}
	strbuf_addstr(out, ") return 0 ;;\n\tesac\n\treturn 1\n}\n");
}

static void document_add_zsh(struct strbuf *out)
{
	strbuf_addstr(out, zsh_head);
	add_zsh_verb_names(out);
	add_takes_value(out);
	strbuf_addstr(out, "\n_gpuprof_verb() {\n\tcase $1 in\n");
	for (const struct verb *v = options_verbs; v->name; v++)
		add_verb(out, v);
	strbuf_addstr(out, "\tesac\n}\n\n");
	strbuf_addstr(out, zsh_walk);
}

/* ---- fish ---------------------------------------------------------------------------------- */

/* The completion of fish: a line for each option and verb, under conditions on the verb. */

static const char fish_head[] =
	"# Completion of gpuprof for fish. Made by `gpuprof help --as fish`.\n"
	"\n"
	"function __gpuprof_verb # the verb so far; -: none yet; cmd: what follows --\n"
	"\tset -l words (commandline -opc)[2..-1]\n"
	"\tset -l skip 0\n"
	"\tif contains -- -- $words\n"
	"\t\techo cmd\n"
	"\t\treturn\n"
	"\tend\n"
	"\tfor word in $words\n"
	"\t\tif test $skip = 1\n"
	"\t\t\tset skip 0\n"
	"\t\telse if contains -- $word $__gpuprof_with_value\n"
	"\t\t\tset skip 1\n"
	"\t\telse if not string match -q -- '-*' $word\n"
	"\t\t\techo $word\n"
	"\t\t\treturn\n"
	"\t\tend\n"
	"\tend\n"
	"\techo -\n"
	"end\n"
	"\n"
	"function __gpuprof_in\n"
	"\tcontains -- (__gpuprof_verb) $argv\n"
	"end\n"
	"\n"
	"function __gpuprof_command\n"
	"\tset -l words (commandline -opc) (commandline -ct)\n"
	"\tset -l at (contains -i -- -- $words)\n"
	"\tcomplete -C (string join ' ' -- $words[(math $at + 1)..-1])\n"
	"end\n"
	"\n"
	"complete -c gpuprof -f\n"
	"complete -c gpuprof -n '__gpuprof_in cmd' -a '(__gpuprof_command)'\n";

/* Flags of `complete` for the next word; -x: a value, and no files. */
static const char *const fish_actions[] = {
	[COMPLETE_NOTHING] = "-x",
	[COMPLETE_FILES] = "-r -F",
	[COMPLETE_CAPTURES] = "-a '(__fish_complete_suffix .gpr)'",
	[COMPLETE_PIDS] = "-x -a '(__fish_complete_pids)'",
};

static void add_verbs(struct strbuf *out, const char *condition)
{
	for (const struct verb *v = options_verbs + 1; v->name; v++) {
		strbuf_addf(out, "complete -c gpuprof -n '__gpuprof_in %s' -a %s -d ", condition,
			    v->name);
		document_add_quoted(out, v->summary);
		strbuf_addch(out, '\n');
	}
}

static void add_fish_option(struct strbuf *out, const struct option_row *row)
{
	strbuf_addstr(out, "complete -c gpuprof -n '__gpuprof_in");
	for (const struct verb *v = options_verbs; v->name; v++)
		if (takes(v, row))
			strbuf_addf(out, " %s", verb_word(v));
	strbuf_addch(out, '\'');
	if (row->letter)
		strbuf_addf(out, " -s %c", row->letter);
	strbuf_addf(out, " -l %s ", row->name);
	if (row->choices) {
		strbuf_addstr(out, "-x -a '");
		document_add_words(out, row->choices);
		strbuf_addstr(out, "' ");
	} else if (row->arg) {
		strbuf_addf(out, "%s ", fish_actions[row->completes]);
	}
	strbuf_addstr(out, "-d ");
	document_add_quoted(out, row->help);
	strbuf_addch(out, '\n');
}

static void document_add_fish(struct strbuf *out)
{
	strbuf_addstr(out, fish_head);
	strbuf_addstr(out, "set -g __gpuprof_with_value");
	for (const struct option_row *row = options_rows; row->name; row++) {
		if (!row->arg)
			continue;
		strbuf_addch(out, ' ');
		document_add_names(out, row, " ");
	}
	strbuf_addstr(out, "\n\n");
	add_verbs(out, "-");
	for (const struct verb *v = options_verbs + 1; v->name; v++)
		if (v->completes == COMPLETE_VERBS) {
			add_verbs(out, v->name);
			strbuf_addf(out,
				    "complete -c gpuprof -n '__gpuprof_in %s' -a "
				    "'(gpuprof help --as words 2>/dev/null)'\n",
				    v->name);
		} else if (v->completes) {
			strbuf_addf(out, "complete -c gpuprof -n '__gpuprof_in %s' %s\n", v->name,
				    fish_actions[v->completes]);
		}
	for (const struct option_row *row = options_rows; row->name; row++)
		add_fish_option(out, row);
}

/* ---- man pages ----------------------------------------------------------------------------- */

/*
 * Man pages, as roff with the man macros: one of gpuprof, one of each verb. Generated from the
 * tables of options_table.c; knows no verb or option by name.
 */

static const struct {
	enum exit_code code;
	const char *meaning;
} exits[] = {
	{ EXIT_OK, "All went well." },
	{ EXIT_FAIL, "Something failed; the message says what." },
	{ EXIT_USAGE, "The command line is wrong." },
	{ EXIT_PERMISSION, "A capability is missing; the message names it." },
	{ EXIT_UNSUPPORTED, "This kernel or this library does not allow it." },
	{ EXIT_PARTIAL,
	  "Printed, but more was lost than --max-loss, or the capture is incomplete." },
	{ EXIT_NOT_RUN, "The command behind -- is there, but cannot be run." },
	{ EXIT_NOT_FOUND, "There is no such command." },
};

/* Characters that roff reads as something else. A hyphen is an option's minus. */
static const char *escape(char c)
{
	switch (c) {
	case '\\': return "\\e";
	case '-': return "\\-";
	case '\'': return "\\(aq";
	case '`': return "\\(ga";
	case '^': return "\\(ha";
	case '~': return "\\(ti";
	case '"': return "\\(dq";
	default: return NULL;
	}
}

static void add_text(struct strbuf *out, const char *text)
{
	bool at_start = !out->len || out->s[out->len - 1] == '\n';

	for (; *text; text++) {
		const char *as = escape(*text);

		if (at_start && *text == '.')
			strbuf_addstr(out, "\\&");	/* else it would begin a request */
		at_start = *text == '\n';
		if (as)
			strbuf_addstr(out, as);
		else
			strbuf_addch(out, *text);
	}
}

static void add_title(struct strbuf *out, const struct verb *v)
{
	strbuf_addstr(out, ".\\\" Made by `gpuprof help --as man`.\n.TH GPUPROF");
	if (*v->name) {
		strbuf_addstr(out, "\\-");
		for (const char *c = v->name; *c; c++) {
			const char upper[] = { (char)toupper((unsigned char)*c), 0 };

			add_text(out, upper);
		}
	}
	strbuf_addstr(out, " 1 \"\" \"gpuprof ");
	add_text(out, version_text());
	strbuf_addstr(out, "\" \"gpuprof\"\n.SH NAME\ngpuprof");
	if (*v->name) {
		strbuf_addstr(out, "\\-");
		add_text(out, v->name);
	}
	strbuf_addstr(out, " \\- ");
	add_text(out, v->summary);
	strbuf_addch(out, '\n');
}

/* .TP, then "-p, --pid PID" in bold and italics, then the text. */
static void man_add_option(struct strbuf *out, const struct option_row *row)
{
	strbuf_addstr(out, ".TP\n");
	if (row->letter)
		strbuf_addf(out, "\\fB\\-%c\\fR, ", row->letter);
	strbuf_addstr(out, "\\fB\\-\\-");
	add_text(out, row->name);
	strbuf_addstr(out, "\\fR");
	if (row->arg) {
		strbuf_addstr(out, " \\fI");
		add_text(out, row->arg);
		strbuf_addstr(out, "\\fR");
	}
	strbuf_addch(out, '\n');
	add_text(out, row->help);
	strbuf_addch(out, '\n');
}

static void man_add_verbs(struct strbuf *out)
{
	strbuf_addstr(out, ".SH VERBS\n");
	for (const struct verb *v = options_verbs + 1; v->name; v++) {
		strbuf_addf(out, ".TP\n.BR gpuprof\\-%s (1)\n", v->name);
		add_text(out, v->summary);
		strbuf_addch(out, '\n');
	}
}

static void add_exits(struct strbuf *out, const struct verb *v)
{
	strbuf_addstr(out, ".SH EXIT STATUS\n");
	for (size_t i = 0; i < sizeof(exits) / sizeof(exits[0]); i++) {
		strbuf_addf(out, ".TP\n.B %d\n", exits[i].code);
		add_text(out, exits[i].meaning);
		strbuf_addch(out, '\n');
	}
	if (v->has_targets)
		strbuf_addstr(out,
			      ".PP\nWith \\fB\\-\\-\\fR \\fICMD\\fR, the status of a command that "
			      "failed is passed on.\n");
}

static void add_see_also(struct strbuf *out, const struct verb *v)
{
	const char *before = "";

	strbuf_addstr(out, ".SH SEE ALSO\n");
	for (const struct verb *other = options_verbs; other->name; other++) {
		if (other == v)
			continue;
		strbuf_addf(out, "%s.BR gpuprof%s%s (1)", before, *other->name ? "\\-" : "",
			    other->name);
		before = " ,\n";
	}
	strbuf_addch(out, '\n');
}

/* roff, for man(1) */
static void document_add_man(struct strbuf *out, const struct verb *v)
{
	add_title(out, v);
	strbuf_addstr(out, ".SH SYNOPSIS\n.B gpuprof\n");
	add_text(out, v->usage);
	strbuf_addch(out, '\n');
	if (!*v->name)
		strbuf_addstr(out, ".br\n.B gpuprof\nVERB ...\n");
	if (*v->about) {
		strbuf_addstr(out, ".SH DESCRIPTION\n");
		add_text(out, v->about);
	}
	if (!*v->name)
		man_add_verbs(out);
	strbuf_addstr(out, ".SH OPTIONS\n");
	add_grouped(out, v, ".SS ", "", man_add_option);
	strbuf_addstr(out, ".SH EXAMPLES\n.nf\n");
	add_text(out, v->examples);
	strbuf_addstr(out, ".fi\n");
	add_exits(out, v);
	add_see_also(out, v);
}

/* ---- words and tables ---------------------------------------------------------------------- */

/* The two pages of section 7, whose names are words of `gpuprof help`. */
static const char words_page[] = "words", tables_page[] = "tables";

static void add_title_7(struct strbuf *out, const char *page, const char *summary)
{
	strbuf_addf(out, ".\\\" Made by `gpuprof help %s --as man`.\n.TH GPUPROF\\-", page);
	for (const char *c = page; *c; c++)
		strbuf_addch(out, (char)toupper((unsigned char)*c));
	strbuf_addstr(out, " 7 \"\" \"gpuprof ");
	add_text(out, version_text());
	strbuf_addf(out, "\" \"gpuprof\"\n.SH NAME\ngpuprof\\-%s \\- %s\n", page, summary);
}

static void add_entry(struct strbuf *out, const char *name, const char *text)
{
	strbuf_addstr(out, ".TP\n.B ");
	add_text(out, name);
	strbuf_addch(out, '\n');
	add_text(out, text);
	strbuf_addch(out, '\n');
}

static void add_remark(struct strbuf *out, const char *title, const char *text)
{
	if (!text)
		return;
	strbuf_addf(out, ".br\n\\fI%s:\\fR ", title);
	add_text(out, text);
	strbuf_addch(out, '\n');
}

static void man_add_words(struct strbuf *out)
{
	unsigned int kind = WORD_KINDS;

	add_title_7(out, words_page, "what the words of its output mean");
	strbuf_addstr(out, ".SH DESCRIPTION\n"
			   "\\fBgpuprof help\\fR \\fIWORD\\fR prints one of these. Tables and "
			   "their columns are in\n"
			   ".BR gpuprof\\-tables (7).\n");
	for (const struct word *w = word_list; w->name; w++) {
		if (w->kind != kind) {
			strbuf_addstr(out, ".SH ");
			for (const char *c = word_kind_names(w->kind); *c; c++)
				strbuf_addch(out, (char)toupper((unsigned char)*c));
			strbuf_addch(out, '\n');
		}
		kind = w->kind;
		add_entry(out, w->name, w->what);
		add_remark(out, "Measured", w->measured);
		add_remark(out, w->pytorch ? "In CUDA" : "What to do", w->cuda);
		add_remark(out, "In PyTorch", w->pytorch);
	}
}

static void man_add_tables(struct strbuf *out)
{
	add_title_7(out, tables_page, "tables of its reports and their columns");
	for (size_t i = 0; view_list[i]; i++) {
		const struct view *v = view_list[i];

		strbuf_addf(out, ".SH %s\nA row: ", v->name);
		add_text(out, v->help);
		strbuf_addch(out, '\n');
		for (unsigned int k = 0; k < v->n_columns; k++)
			add_entry(out, v->columns[k].name, v->columns[k].help);
	}
	strbuf_addstr(out, ".SH SEE ALSO\n.BR gpuprof\\-words (7)\n");
}

struct names {
	const char *v[WORDS_MAX];
	size_t n;
};

static void keep_name(void *ctx, const char *name)
{
	struct names *all = ctx;

	if (all->n < WORDS_MAX && !strchr(name, ' '))	/* else no word of a command line */
		all->v[all->n++] = name;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* All words, each once, in order. */
static void read_names(struct names *all)
{
	size_t n = 0;

	all->n = 0;
	words_each(keep_name, all);
	qsort(all->v, all->n, sizeof(all->v[0]), compare_names);
	for (size_t i = 0; i < all->n; i++)
		if (!i || strcmp(all->v[i], all->v[n - 1]) != 0)
			all->v[n++] = all->v[i];
	all->n = n;
}

static void add_names(struct strbuf *out)
{
	struct names all;

	read_names(&all);
	for (size_t i = 0; i < all.n; i++)
		strbuf_addf(out, "%s\n", all.v[i]);
}

/* EXIT_OK, or EXIT_USAGE and a line: there is no such word. */
static int explain(struct strbuf *out, enum help_form form, const char *name)
{
	const char *near;
	struct names all;

	if (!strcmp(name, words_page) || !strcmp(name, tables_page)) {
		if (form != HELP_MAN)
			words_add_list(out, WORDS_WIDTH);
		else if (!strcmp(name, words_page))
			man_add_words(out);
		else
			man_add_tables(out);
		return EXIT_OK;
	}
	if (!strcmp(name, "agents")) {
		strbuf_addstr(out, agents_text);
		return EXIT_OK;
	}
	if (!strcmp(name, "schema")) {
		schema_add(out);
		return EXIT_OK;
	}
	if (!words_explain(out, name, WORDS_WIDTH))
		return EXIT_OK;
	read_names(&all);
	for (const struct verb *v = options_verbs + 1; v->name; v++)
		keep_name(&all, v->name);
	near = str_nearest(name, all.v, all.n);
	if (near)
		log_error("no verb or word '%s'; did you mean '%s'?", name, near);
	else
		log_error("no verb or word '%s'; 'gpuprof help words' lists them", name);
	return EXIT_USAGE;
}

/* ---- help ---------------------------------------------------------------------------------- */

#define HELP_COLUMN 28

static void help_add_option(struct strbuf *out, const struct option_row *row)
{
	size_t start = out->len;

	strbuf_addstr(out, "  ");
	if (row->letter)
		strbuf_addf(out, "-%c, ", row->letter);
	strbuf_addf(out, "--%s%s%s", row->name, row->arg ? " " : "", row->arg ? row->arg : "");
	do
		strbuf_addch(out, ' ');
	while (out->len - start < HELP_COLUMN && !out->failed);
	strbuf_addf(out, "%s\n", row->help);
}

static void add_overview(struct strbuf *out)
{
	strbuf_addf(out,
		    "gpuprof: where the time of GPU processes goes, without touching their "
		    "code\n\nusage: gpuprof %s\n       gpuprof VERB ...\n\n",
		    options_verbs[VERB_DEFAULT].usage);
	for (const struct verb *v = options_verbs + 1; v->name; v++)
		strbuf_addf(out, "  %-9s%s\n", v->name, v->summary);
	strbuf_addstr(out, "\nWithout a verb it prints a report every few seconds.\n"
		      "'gpuprof help VERB' lists options, 'gpuprof help WORD' explains a word of "
		      "a report.\n"
		      "\nexamples:\n"
		      "  sudo gpuprof -p 1234                  watch one process and its threads\n"
		      "  sudo gpuprof stat -p 1234 -d 10s      measure 10 s, print one report\n"
		      "  sudo gpuprof stat -- ./train          run a command and report on it\n"
		      "  sudo gpuprof record -o run.gpr -p 1234\n"
		      "  gpuprof report run.gpr --table calls --format csv\n");
}

static void help_add_verb(struct strbuf *out, const struct verb *v)
{
	strbuf_addf(out, "usage: gpuprof %s\n", v->usage);
	if (*v->about)
		strbuf_addf(out, "%s", v->about);
	strbuf_addf(out, "examples:\n%s", v->examples);
	add_grouped(out, v, "", ":", help_add_option);
}

/* name: a verb or a word; NULL: of gpuprof as a whole. */
static int print_form(enum help_form form, const char *name)
{
	const struct verb *v = NULL;
	struct strbuf sb = STRBUF_INIT;
	int rc = EXIT_OK;

	for (const struct verb *each = options_verbs; name && each->name; each++)
		if (!strcmp(each->name, name))
			v = each;
	if (name && !v) {
		rc = explain(&sb, form, name);
		if (!rc)
			rc = output_write(NULL, &sb);
		strbuf_free(&sb);
		return rc;
	}
	switch (form) {
	case HELP_MAN:
		document_add_man(&sb, v ? v : options_verbs);
		break;
	case HELP_BASH:
		document_add_bash(&sb);
		break;
	case HELP_ZSH:
		document_add_zsh(&sb);
		break;
	case HELP_FISH:
		document_add_fish(&sb);
		break;
	case HELP_VERBS:
		for (const struct verb *each = options_verbs + 1; each->name; each++)
			strbuf_addf(&sb, "%s\n", each->name);
		break;
	case HELP_WORDS:
		add_names(&sb);
		break;
	default:
		if (v)
			help_add_verb(&sb, v);
		else
			add_overview(&sb);
		break;
	}
	rc = output_write(NULL, &sb);
	strbuf_free(&sb);
	return rc;
}

int help_verb(const struct verb *v)
{
	return print_form(HELP_TEXT, v->name);
}

int verb_help(const struct options *o)
{
	return print_form((enum help_form)o->form, o->n_args ? o->args[0] : NULL);
}
