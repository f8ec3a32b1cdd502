/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A short list of texts under names, in the order in which the names were first set. Start zeroed.
 * Texts are copied, and cut at PAIRS_TEXT_MAX bytes.
 */
#ifndef BASE_PAIRS_H
#define BASE_PAIRS_H

#include <stddef.h>

#define PAIRS_TEXT_MAX 4096

struct pair {
	char *key, *value;
};

struct pairs {
	struct pair *v;
	size_t n, cap;
};

/* Replaces the value of key, or adds it. 0, -ENOSPC (there are max already) or -ENOMEM: nothing
 * has changed. */
int pairs_set(struct pairs *p, const char *key, const char *value, size_t max);
const char *pairs_get(const struct pairs *p, const char *key);	/* NULL: none */
int pairs_copy(struct pairs *to,
	       const struct pairs *from); /* to is empty; 0 or -ENOMEM: it is to be freed */
void pairs_free(struct pairs *p);	/* empty and usable again */

#endif
