/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A growing queue of any element type in one array, whose first element may stand anywhere in it:
 * `RING(T)` is a struct of v, cap (a power of two, or 0), n and first. Start zeroed, free v.
 * Elements are RING_AT(&ring, 0) .. RING_AT(&ring, n - 1); addresses move when it grows.
 *
 *	if (ring.n == ring.cap && RING_GROW(&ring, 16))
 *		return -ENOMEM;
 *	*RING_AT(&ring, ring.n++) = element;
 *	...
 *	RING_DROP(&ring);		(the first one; n > 0)
 */
#ifndef BASE_RING_H
#define BASE_RING_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define RING(T) struct { T *v; size_t cap, n, first; }

#define RING_AT(r, i) (&(r)->v[((r)->first + (i)) & ((r)->cap - 1)])
#define RING_DROP(r) ((r)->first++, (r)->n--)

/* The cap after growing: twice as many, `initial` at first. */
#define RING_NEXT_CAP(r, initial) ((r)->cap ? 2 * (r)->cap : (size_t)(initial))

/* 0, or -ENOMEM: nothing has changed. */
#define RING_GROW(r, initial) \
	ring_grow((void **)&(r)->v, &(r)->cap, &(r)->first, sizeof(*(r)->v), (initial))

#define RING_FREE(r) (free((r)->v), (r)->v = NULL, (r)->cap = (r)->n = (r)->first = 0)

/* The ring is full or empty. Its elements stay where they are, but those before the first one go
 * behind the last. */
static inline int ring_grow(void **v, size_t *cap, size_t *first, size_t size, size_t initial)
{
	const size_t grown = *cap ? 2 * *cap : initial, at = *cap ? *first & (*cap - 1) : 0;
	char *to = realloc(*v, grown * size);

	if (!to)
		return -ENOMEM;
	if (at)
		memcpy(to + *cap * size, to, at * size);
	*v = to;
	*cap = grown;
	*first = at;
	return 0;
}

#endif
