/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is generated from the tables of options_table.c for other programs: man pages and the
 * completions of shells. Each appends a whole file to out; `gpuprof help --as FORM` prints it.
 */
#ifndef CLI_GEN_H
#define CLI_GEN_H

#include "base/str.h"
#include "cli/option_row.h"

enum help_form { HELP_TEXT, HELP_MAN, HELP_BASH, HELP_ZSH, HELP_FISH, HELP_VERBS, HELP_END };

void document_add_man(struct strbuf *out, const struct verb *v);	/* roff, for man(1) */
void document_add_bash(struct strbuf *out);
void document_add_zsh(struct strbuf *out);
void document_add_fish(struct strbuf *out);

/* Bit of a verb in option_row.verbs. */
static inline unsigned int document_bit(const struct verb *v)
{
	size_t n;

	return 1u << (v - options_verbs(&n));
}

/* All words of a NULL-terminated list. */
void document_add_words(struct strbuf *out, const char *const *words, const char *separator);

/* "-p" and "--pid", with what separates them when there are both. */
void document_add_names(struct strbuf *out, const struct option_row *row, const char *separator);

/* In single quotes, as bash, zsh and fish read them; text has no backslash. */
void document_add_quoted(struct strbuf *out, const char *text);

#endif
