// SPDX-License-Identifier: BSD-3-Clause
/*
 * Help, generated from the tables of options_table.c. The first screen of everything (24 lines of
 * 80 columns) holds usage, examples and what is needed most.
 */
#include <string.h>

#include "base/str.h"
#include "cli/gen.h"
#include "base/exit.h"
#include "view/output.h"
#include "cli/verbs.h"

#define HELP_COLUMN 28

static void add_option(struct strbuf *out, const struct option_row *row)
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

static void add_options(struct strbuf *out, const struct verb *v)
{
	size_t n, verbs;
	const struct option_row *rows = options_rows(&n);
	unsigned int bit = 1u << (v - options_verbs(&verbs));

	for (unsigned int group = 0; group < GROUP_END; group++) {
		bool any = false;

		for (size_t i = 0; i < n; i++) {
			if (rows[i].group != group || !(rows[i].verbs & bit))
				continue;
			if (!any)
				strbuf_addf(out, "%s:\n", options_groups[group]);
			any = true;
			add_option(out, &rows[i]);
		}
	}
}

static void add_overview(struct strbuf *out)
{
	size_t n;
	const struct verb *verbs = options_verbs(&n);

	strbuf_addf(out,
		    "gpuprof: where the time of GPU processes goes, without touching their "
		    "code\n\nusage: gpuprof %s\n       gpuprof VERB ...\n\n",
		    verbs[VERB_DEFAULT].usage);
	for (size_t i = 1; i < n; i++)
		strbuf_addf(out, "  %-9s%s\n", verbs[i].name, verbs[i].summary);
	strbuf_addstr(out, "\nWithout a verb it prints a report every few seconds.\n"
		      "'gpuprof help VERB' lists options; 'gpuprof --help' those of no verb.\n"
		      "\nexamples:\n"
		      "  sudo gpuprof -p 1234                  watch one process and its threads\n"
		      "  sudo gpuprof stat -p 1234 -d 10s      measure 10 s, print one report\n"
		      "  sudo gpuprof stat -- ./train          run a command and report on it\n"
		      "  sudo gpuprof record -o run.gpr -p 1234\n"
		      "  gpuprof report run.gpr --table calls --format csv\n");
}

static void add_verb(struct strbuf *out, const struct verb *v)
{
	strbuf_addf(out, "usage: gpuprof %s\n", v->usage);
	if (*v->about)
		strbuf_addf(out, "%s", v->about);
	strbuf_addf(out, "examples:\n%s", v->examples);
	add_options(out, v);
}

static int print(struct strbuf *text)
{
	int rc = output_write(NULL, text);

	strbuf_free(text);
	return rc;
}

int help_verb(const struct verb *v)
{
	struct strbuf sb = STRBUF_INIT;

	add_verb(&sb, v);
	return print(&sb);
}

static void add_verb_names(struct strbuf *out)
{
	size_t n;
	const struct verb *verbs = options_verbs(&n);

	for (size_t i = 1; i < n; i++)
		strbuf_addf(out, "%s\n", verbs[i].name);
}

/* v: NULL: of gpuprof as a whole. */
static int print_form(enum help_form form, const struct verb *v)
{
	struct strbuf sb = STRBUF_INIT;
	size_t n;

	switch (form) {
	case HELP_MAN:
		document_add_man(&sb, v ? v : options_verbs(&n));
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
		add_verb_names(&sb);
		break;
	default:
		if (v)
			add_verb(&sb, v);
		else
			add_overview(&sb);
		break;
	}
	return print(&sb);
}

int verb_help(const struct options *o)
{
	const struct verb *v = NULL;

	if (o->n_args) {
		v = options_find_verb(o->args[0]);
		if (!v)
			return EXIT_USAGE;
	}
	return print_form((enum help_form)o->form, v);
}
