/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names of files with what is known of a session: "run.%h.%r.gpr". Values come from other
 * processes' environments: only letters, digits and "._-" of them get into a name.
 */
#ifndef SESSION_PATTERN_H
#define SESSION_PATTERN_H

#include <sys/types.h>

#include "base/str.h"

/* The letter behind a % that means nothing ("%" at the end: '%'); 0: all is well. */
char pattern_unknown(const char *pattern);

struct pattern_value {
	char letter;
	const char *text;	/* NULL: not known */
};

/* Appends the name. 0, or the letter whose value is not among the n or not known. */
char pattern_expand(struct strbuf *out, const char *pattern, const struct pattern_value *values,
		    size_t n);

#endif
