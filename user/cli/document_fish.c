// SPDX-License-Identifier: BSD-3-Clause
/* The completion of fish: a line for each option and verb, under conditions on the verb. */
#include "cli/document.h"

static const char head[] =
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

/* Flags of `complete` that say what follows; -x: a value, and no files. */
static const char *const actions[] = {
	[COMPLETE_NOTHING] = "-x",
	[COMPLETE_FILES] = "-r -F",
	[COMPLETE_CAPTURES] = "-a '(__fish_complete_suffix .gpr)'",
	[COMPLETE_PIDS] = "-x -a '(__fish_complete_pids)'",
};

static void add_verbs(struct strbuf *out, const char *condition)
{
	size_t n;
	const struct verb *verbs = options_verbs(&n);

	for (size_t i = 1; i < n; i++) {
		strbuf_addf(out, "complete -c gpuprof -n '__gpuprof_in %s' -a %s -d ", condition,
			    verbs[i].name);
		document_add_quoted(out, verbs[i].summary);
		strbuf_addch(out, '\n');
	}
}

static void add_words(struct strbuf *out)
{
	size_t n;
	const struct verb *verbs = options_verbs(&n);

	for (size_t i = 1; i < n; i++) {
		if (verbs[i].completes == COMPLETE_VERBS)
			add_verbs(out, verbs[i].name);
		else if (verbs[i].completes)
			strbuf_addf(out, "complete -c gpuprof -n '__gpuprof_in %s' %s\n",
				    verbs[i].name, actions[verbs[i].completes]);
	}
}

static void add_option(struct strbuf *out, const struct option_row *row)
{
	size_t n;
	const struct verb *verbs = options_verbs(&n);

	strbuf_addstr(out, "complete -c gpuprof -n '__gpuprof_in");
	for (size_t i = 0; i < n; i++)
		if (row->verbs & 1u << i)
			strbuf_addf(out, " %s", i ? verbs[i].name : "-");
	strbuf_addch(out, '\'');
	if (row->letter)
		strbuf_addf(out, " -s %c", row->letter);
	strbuf_addf(out, " -l %s ", row->name);
	if (row->choices) {
		strbuf_addstr(out, "-x -a '");
		document_add_words(out, row->choices, " ");
		strbuf_addstr(out, "' ");
	} else if (row->arg) {
		strbuf_addf(out, "%s ", actions[row->completes]);
	}
	strbuf_addstr(out, "-d ");
	document_add_quoted(out, row->help);
	strbuf_addch(out, '\n');
}

void document_add_fish(struct strbuf *out)
{
	size_t n;
	const struct option_row *rows = options_rows(&n);

	strbuf_addstr(out, head);
	strbuf_addstr(out, "set -g __gpuprof_with_value");
	for (size_t i = 0; i < n; i++) {
		if (!rows[i].arg)
			continue;
		strbuf_addch(out, ' ');
		document_add_names(out, &rows[i], " ");
	}
	strbuf_addstr(out, "\n\n");
	add_verbs(out, "-");
	add_words(out);
	for (size_t i = 0; i < n; i++)
		add_option(out, &rows[i]);
}
