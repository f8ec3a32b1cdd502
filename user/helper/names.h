/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Texts as numbers: each is sent to each reader before its first use. A text is known by its
 * address and its content, since a module may go and another one come to its place.
 *
 * names_of may be called by any thread, also by the application's: it takes no lock, allocates
 * nothing and never waits. Two threads that meet a text at once may give it two numbers.
 */
#ifndef HELPER_NAMES_H
#define HELPER_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "helper/ring.h"

#define NAMES_MAX 65536		/* of different texts; more are unknown */
#define NAMES_BYTES_MAX (32u << 20)
#define NAMES_TEXT_MAX 4096	/* longer names are cut */

struct names;

struct names *names_new(void);		/* NULL: no memory; it is touched when it is used */

/* The text's number; new ones are sent to all who want names. 0: text is NULL, or there is no
 * room. */
uint32_t names_of(struct names *n, struct helper_ring *r, const char *text);

/* All texts, to readers that are new and want names already: others may come meanwhile. */
void names_send(const struct names *n, struct helper_ring *r, uint32_t slots);

#endif
