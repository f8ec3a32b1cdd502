/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * File names with placeholders: "run.%h.%r.gpr". Values come from other processes' environments:
 * only letters, digits and "._-" of them get into a name.
 */
#ifndef CAPTURE_PATTERN_H
#define CAPTURE_PATTERN_H

#include <sys/types.h>

#include "base/str.h"

/* The first letter after a % that has no meaning ('%' for a trailing %); 0: none. */
char pattern_unknown(const char *pattern);

struct pattern_value {
	char letter;
	const char *text;	/* NULL: unknown */
};

/* Appends the name. 0, or the letter whose value is missing from the n or unknown. */
char pattern_expand(struct strbuf *out, const char *pattern, const struct pattern_value *values,
		    size_t n);

#endif
