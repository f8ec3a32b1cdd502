// SPDX-License-Identifier: BSD-3-Clause
/*
 * The completion of bash: the tables as two functions of case statements, and a walk over the
 * words that is the same for all of them. Needs nothing of the bash-completion package, but uses
 * it, where it is there, to complete the command after `--`.
 */
#include "cli/document.h"

static const char head[] =
	"# shellcheck shell=bash\n"
	"# Completion of gpuprof for bash. Made by `gpuprof help --as bash`.\n";

/* Bash splits words at '=', so "--format=t" arrives as three. */
static const char walk[] =
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

static void add_verb_names(struct strbuf *out)
{
	size_t n;
	const struct verb *verbs = options_verbs(&n);

	strbuf_addstr(out, "words");
	for (size_t i = 1; i < n; i++)
		strbuf_addf(out, " %s", verbs[i].name);
}

/* What each verb takes. */
static void add_options(struct strbuf *out)
{
	size_t n, rows_n;
	const struct verb *verbs = options_verbs(&n);
	const struct option_row *rows = options_rows(&rows_n);

	strbuf_addstr(out, "\n_gpuprof_options() { # VERB\n\tcase $1 in\n");
	for (size_t i = 0; i < n; i++) {
		strbuf_addf(out, "\t%s) echo '", i ? verbs[i].name : "-");
		for (size_t r = 0; r < rows_n; r++) {
			if (!(rows[r].verbs & 1u << i))
				continue;
			document_add_names(out, &rows[r], " ");
			strbuf_addch(out, ' ');
		}
		strbuf_addstr(out, "' ;;\n");
	}
	strbuf_addstr(out, "\tesac\n}\n");
}

/* What each option with a value takes. */
static void add_values(struct strbuf *out)
{
	size_t n;
	const struct option_row *rows = options_rows(&n);

	strbuf_addstr(out, "\n_gpuprof_value() { # OPTION\n\tcase $1 in\n");
	for (size_t i = 0; i < n; i++) {
		if (!rows[i].arg)
			continue;
		strbuf_addch(out, '\t');
		document_add_names(out, &rows[i], " | ");
		strbuf_addstr(out, ") echo '");
		if (rows[i].choices) {
			strbuf_addstr(out, "words ");
			document_add_words(out, rows[i].choices, " ");
		} else {
			strbuf_addstr(out, kinds[rows[i].completes]);
		}
		strbuf_addstr(out, "' ;;\n");
	}
	strbuf_addstr(out, "\tesac\n}\n");
}

/* What stands behind each verb. */
static void add_words(struct strbuf *out)
{
	size_t n;
	const struct verb *verbs = options_verbs(&n);

	strbuf_addstr(out, "\n_gpuprof_words() { # VERB\n\tcase $1 in\n");
	for (size_t i = 0; i < n; i++) {
		unsigned int completes = i ? verbs[i].completes : COMPLETE_VERBS;

		strbuf_addf(out, "\t%s) echo '", i ? verbs[i].name : "-");
		if (completes == COMPLETE_VERBS)
			add_verb_names(out);
		else
			strbuf_addstr(out, kinds[completes]);
		strbuf_addstr(out, "' ;;\n");
	}
	strbuf_addstr(out, "\tesac\n}\n\n");
}

void document_add_bash(struct strbuf *out)
{
	strbuf_addstr(out, head);
	add_options(out);
	add_values(out);
	add_words(out);
	strbuf_addstr(out, walk);
}
