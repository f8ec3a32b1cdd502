/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CUPTI's numbers of functions, as EVENT_API has them: dir is the domain, func the number. Knows
 * nothing of the functions.
 */
#ifndef CATALOG_CBID_H
#define CATALOG_CBID_H

#include <stddef.h>

/* event.dir: CUPTI's kinds of API records. */
#define CBID_DRIVER 4
#define CBID_RUNTIME 5
#define CBID_MAX 2048		/* numbers are below */

struct cbid {
	unsigned int number;	/* < CBID_MAX */
	const char *name;	/* with its version: "cuMemAlloc_v2" */
};

/* All of a domain, n of them; of any other domain none. */
const struct cbid *cbid_all(unsigned int domain, size_t *n);

const char *cbid_name(unsigned int domain, unsigned int number);	/* NULL: none is known */

#endif
