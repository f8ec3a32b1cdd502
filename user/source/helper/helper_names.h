/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The names that one helper has told, by number. Bounded by bytes: names that come when there is no
 * room are "[other]". Knows nothing of what is named. Start zeroed.
 */
#ifndef SOURCE_HELPER_HELPER_NAMES_H
#define SOURCE_HELPER_HELPER_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

#define HELPER_NAMES_BYTES (8u << 20)

struct helper_names {
	VEC(struct helper_name {
		char *text;	/* NULL: never told */
		uint64_t hash;	/* event_text_hash */
	}) all;			/* of number i + 1 */
	size_t bytes;
};

/* id: from 1; the text is copied, and replaces an older one. 0 or -ENOMEM. */
int helper_names_take(struct helper_names *n, uint32_t id, const char *text, size_t len);
const char *helper_names_get(const struct helper_names *n, uint32_t id);	/* or NULL */
uint64_t helper_names_hash(const struct helper_names *n, uint32_t id);		/* of that, or 0 */
void helper_names_free(struct helper_names *n);

#endif
