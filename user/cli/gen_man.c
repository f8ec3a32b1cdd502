// SPDX-License-Identifier: BSD-3-Clause
/*
 * Man pages, as roff with the man macros: one of gpuprof, one of each verb. Generated from the
 * tables of options_table.c; knows no verb or option by name.
 */
#include <ctype.h>
#include <string.h>

#include "cli/gen.h"
#include "base/exit.h"
#include "base/version.h"

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

static void add_upper(struct strbuf *out, const char *text)
{
	for (; *text; text++) {
		const char upper[] = { (char)toupper((unsigned char)*text), 0 };

		add_text(out, upper);
	}
}

static void add_title(struct strbuf *out, const struct verb *v)
{
	strbuf_addstr(out, ".\\\" Made by `gpuprof help --as man`.\n.TH GPUPROF");
	if (*v->name) {
		strbuf_addstr(out, "\\-");
		add_upper(out, v->name);
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

static void add_synopsis(struct strbuf *out, const struct verb *v)
{
	strbuf_addstr(out, ".SH SYNOPSIS\n.B gpuprof\n");
	add_text(out, v->usage);
	strbuf_addch(out, '\n');
	if (!*v->name)
		strbuf_addstr(out, ".br\n.B gpuprof\nVERB ...\n");
}

/* .TP, then "-p, --pid PID" in bold and italics, then the text. */
static void add_option(struct strbuf *out, const struct option_row *row)
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

static void add_options(struct strbuf *out, const struct verb *v)
{
	size_t n;
	const struct option_row *rows = options_rows(&n);

	strbuf_addstr(out, ".SH OPTIONS\n");
	for (unsigned int group = 0; group < GROUP_END; group++) {
		bool any = false;

		for (size_t i = 0; i < n; i++) {
			if (rows[i].group != group || !(rows[i].verbs & document_bit(v)))
				continue;
			if (!any)
				strbuf_addf(out, ".SS %s\n", options_groups[group]);
			any = true;
			add_option(out, &rows[i]);
		}
	}
}

static void add_examples(struct strbuf *out, const struct verb *v)
{
	strbuf_addstr(out, ".SH EXAMPLES\n.nf\n");
	add_text(out, v->examples);
	strbuf_addstr(out, ".fi\n");
}

static void add_verbs(struct strbuf *out)
{
	size_t n;
	const struct verb *verbs = options_verbs(&n);

	strbuf_addstr(out, ".SH VERBS\n");
	for (size_t i = 1; i < n; i++) {
		strbuf_addf(out, ".TP\n.BR gpuprof\\-%s (1)\n", verbs[i].name);
		add_text(out, verbs[i].summary);
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
	size_t n;
	const struct verb *verbs = options_verbs(&n);
	const char *before = "";

	strbuf_addstr(out, ".SH SEE ALSO\n");
	for (size_t i = 0; i < n; i++) {
		if (&verbs[i] == v)
			continue;
		strbuf_addf(out, "%s.BR gpuprof%s%s (1)", before, *verbs[i].name ? "\\-" : "",
			    verbs[i].name);
		before = " ,\n";
	}
	strbuf_addch(out, '\n');
}

void document_add_man(struct strbuf *out, const struct verb *v)
{
	add_title(out, v);
	add_synopsis(out, v);
	if (*v->about) {
		strbuf_addstr(out, ".SH DESCRIPTION\n");
		add_text(out, v->about);
	}
	if (!*v->name)
		add_verbs(out);
	add_options(out, v);
	add_examples(out, v);
	add_exits(out, v);
	add_see_also(out, v);
}
