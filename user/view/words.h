/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the words of the output mean, and what to do about what they name: for `gpuprof help WORD`,
 * gpuprof-words(7) and the completions. Buckets, findings, notes and fields of json have their
 * texts here; tables and columns bring their own (view/view.h).
 */
#ifndef VIEW_WORDS_H
#define VIEW_WORDS_H

#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

enum word_kind { WORD_FINDING, WORD_BUCKET, WORD_SCREEN, WORD_NOTE, WORD_FIELD, WORD_KINDS };

struct word {
	const char *name;	/* as in csv and json */
	uint8_t kind;		/* enum word_kind */
	const char *title;	/* of findings: what is wrong, in at most 23 columns; or NULL */
	const char *what;	/* sentences */
	const char *measured;	/* how it is known; NULL: `what` has it */
	/* What one does about it in CUDA, and in PyTorch; NULL: nothing particular. */
	const char *cuda, *pytorch;
	/* Findings only: the same in one line of at most 86 columns, which begins with a letter
	 * (csv puts a ' before a minus); NULL: cuda is short enough. */
	const char *fix;
	const char *see;	/* words to look up next, separated by blanks; or NULL */
};

extern const struct word word_list[];	/* by kind; a NULL name ends it */

/* "findings", "buckets of time", ... */
const char *word_kind_names(unsigned int kind);

/* The word that a finding of this name is, or NULL. */
const struct word *word_of_finding(const char *name);

/* Adds what the word means, as a table, a column, and in the list above, in lines of that many
 * columns. -ENOENT: nothing has that name. */
int words_explain(struct strbuf *out, const char *name, size_t width);

/* Adds the names of all words, by kind. */
void words_add_list(struct strbuf *out, size_t width);

/* Calls f with each name that words_explain knows, once or more. */
void words_each(void (*f)(void *ctx, const char *name), void *ctx);

#endif
