/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds elements of a ring by a number of theirs: hash chains through the ring's places, the newest
 * of a number first. Numbers that follow each other lie beside each other, because CUPTI counts
 * correlations up. Knows only places and numbers.
 */
#ifndef JOIN_CHAINS_H
#define JOIN_CHAINS_H

#include <stddef.h>
#include <stdint.h>

#define CHAINS_NONE UINT32_MAX

struct chain_link {
	uint32_t key, next, before;	/* places; CHAINS_NONE: it is the first, the last */
};

struct chains {
	uint32_t cap;			/* places and heads; a power of two */
	uint32_t *head;			/* CHAINS_NONE: empty */
	struct chain_link *link;
};

/* Memory for so many places, more or fewer than there were: links that have a place keep their keys, for
 * who adds them again. In use from chains_clear on, which forgets all others. 0 or -ENOMEM. */
int chains_reserve(struct chains *c, uint32_t cap);
void chains_clear(struct chains *c, uint32_t cap);
void chains_free(struct chains *c);

/* The place is free; others may have the key. */
void chains_add(struct chains *c, uint32_t place, uint32_t key);
void chains_del(struct chains *c, uint32_t place);

/* The place added last of those with the key, or CHAINS_NONE. */
uint32_t chains_find(const struct chains *c, uint32_t key);

#endif
