// SPDX-License-Identifier: BSD-3-Clause
/*
 * The completion of zsh: a call of _arguments for each verb, and a walk over the words that finds
 * the verb. Belongs into a file named _gpuprof of $fpath.
 */
#include <string.h>

#include "cli/document.h"

static const char head[] =
	"#compdef gpuprof\n"
	"# Completion of gpuprof for zsh. Made by `gpuprof help --as zsh`.\n";

static const char walk[] =
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

static const char *const actions[] = {
	[COMPLETE_NOTHING] = " ",	/* a value of which nothing is known */
	[COMPLETE_FILES] = "_files",
	[COMPLETE_CAPTURES] = "_files -g \"*.gpr(-.)\"",
	[COMPLETE_PIDS] = "_sequence _pids",
	[COMPLETE_VERBS] = "_gpuprof_verbs",
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
			document_add_words(&text, row->choices, " ");
			strbuf_addch(&text, ')');
		} else {
			strbuf_addstr(&text, actions[row->completes]);
		}
	}
	out->failed |= text.failed;
	document_add_quoted(out, text.s);
	strbuf_free(&text);
}

/* '(-p --pid)'{-p+,--pid=}'[...]:PID:_pids': one of them, with the value behind it or next. */
static void add_option(struct strbuf *out, const struct option_row *row)
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
	size_t n;
	const struct option_row *rows = options_rows(&n);

	strbuf_addf(out, "\t%s)\n\t\t_arguments -s -S", *v->name ? v->name : "-");
	for (size_t i = 0; i < n; i++)
		if (rows[i].verbs & document_bit(v))
			add_option(out, &rows[i]);
	strbuf_addstr(out, " \\\n\t\t\t'1:verb:_gpuprof_verbs'");
	if (v->max_args)
		strbuf_addf(out, " \\\n\t\t\t'2:word:%s'", actions[v->completes]);
	strbuf_addstr(out, "\n\t\t;;\n");
}

static void add_verb_names(struct strbuf *out)
{
	size_t n;
	const struct verb *verbs = options_verbs(&n);

	strbuf_addstr(out, "\n_gpuprof_verbs() {\n\tlocal -a verbs=(\n");
	for (size_t i = 1; i < n; i++) {
		struct strbuf text = STRBUF_INIT;

		strbuf_addf(&text, "%s:", verbs[i].name);
		add_plain(&text, verbs[i].summary);
		strbuf_addstr(out, "\t\t");
		document_add_quoted(out, text.s);
		strbuf_addch(out, '\n');
		out->failed |= text.failed;
		strbuf_free(&text);
	}
	strbuf_addstr(out, "\t)\n\t_describe verb verbs\n}\n");
}

static void add_takes_value(struct strbuf *out)
{
	size_t n;
	const struct option_row *rows = options_rows(&n);
	const char *before = "\t";

	strbuf_addstr(out, "\n_gpuprof_takes_value() {\n\tcase $1 in\n");
	for (size_t i = 0; i < n; i++) {
		if (!rows[i].arg)
			continue;
		strbuf_addstr(out, before);
		document_add_names(out, &rows[i], " | ");
		before = " | ";
	}
	strbuf_addstr(out, ") return 0 ;;\n\tesac\n\treturn 1\n}\n");
}

void document_add_zsh(struct strbuf *out)
{
	size_t n;
	const struct verb *verbs = options_verbs(&n);

	strbuf_addstr(out, head);
	add_verb_names(out);
	add_takes_value(out);
	strbuf_addstr(out, "\n_gpuprof_verb() {\n\tcase $1 in\n");
	for (size_t i = 0; i < n; i++)
		add_verb(out, &verbs[i]);
	strbuf_addstr(out, "\tesac\n}\n\n");
	strbuf_addstr(out, walk);
}
