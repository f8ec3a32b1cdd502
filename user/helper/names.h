/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Texts as numbers: each is sent once to each reader. A library's text is known by its address and
 * its content, since a module may go and another one come to its place. One thread at a time.
 */
#ifndef HELPER_NAMES_H
#define HELPER_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "helper/ring.h"

#define NAMES_MAX 65536		/* of different texts; more are unknown */
#define NAMES_BYTES_MAX (32u << 20)

struct names;

struct names *names_new(void);		/* NULL: no memory */
void names_free(struct names *n);

/* The text's number; new ones are sent to all who want names. 0: text is NULL, or there is no room. */
uint32_t names_of(struct names *n, struct helper_ring *r, const char *text);

/* All texts, to a reader that is new. */
void names_tell(const struct names *n, struct helper_ring *r, uint32_t slots);

uint64_t names_refused(const struct names *n);

#endif
