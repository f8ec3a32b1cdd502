/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A growing array of any element type: `struct { T *v; size_t n, cap; }`. VEC_PUSH(&vec) is the
 * address of a new zeroed last element, or NULL when out of memory; VEC_INSERT(&vec, at) that of
 * a new zeroed element before the one at that index (n: the last). Addresses move when it
 * grows, when VEC_TRIM gives back its unused part, and when VEC_DROP_FIRST forgets its first
 * elements, which it does not free. VEC_COPY(&to, &from) fills an empty one with the elements of
 * another; false: out of memory. Free with VEC_FREE. VEC_NEW(&vec) appends to a VEC(T *) a pointer
 * to a new zeroed T and returns it, or NULL.
 */
#ifndef BASE_VEC_H
#define BASE_VEC_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define VEC(T) struct { T *v; size_t n, cap; }

static inline void *vec_push(void **v, size_t *n, size_t *cap, size_t size)
{
	char *at;

	if (*n == *cap) {
		/* There are thousands that have one large element. */
		size_t want = *cap ? *cap * 2 : size < 64 ? 8 : 2;
		void *grown = reallocarray(*v, want, size);

		if (!grown)
			return NULL;
		*v = grown;
		*cap = want;
	}
	at = (char *)*v + (*n)++ * size;
	memset(at, 0, size);
	return at;
}

#define VEC_PUSH(vec) \
	((__typeof__((vec)->v))vec_push((void **)&(vec)->v, &(vec)->n, &(vec)->cap, \
					sizeof(*(vec)->v)))

static inline void *vec_insert(void **v, size_t *n, size_t *cap, size_t size, size_t at)
{
	char *new;

	if (!vec_push(v, n, cap, size))
		return NULL;
	new = (char *)*v + at * size;
	memmove(new + size, new, (*n - 1 - at) * size);
	return memset(new, 0, size);
}

#define VEC_INSERT(vec, at) \
	((__typeof__((vec)->v))vec_insert((void **)&(vec)->v, &(vec)->n, &(vec)->cap, \
					  sizeof(*(vec)->v), (at)))

static inline void *vec_new(void **v, size_t *n, size_t *cap, size_t size)
{
	void **at = vec_push(v, n, cap, sizeof(*at));

	if (!at)
		return NULL;
	*at = calloc(1, size);
	*n -= !*at;
	return *at;
}

#define VEC_NEW(vec) \
	((__typeof__(*(vec)->v))vec_new((void **)&(vec)->v, &(vec)->n, &(vec)->cap, \
					sizeof(**(vec)->v)))

static inline void vec_trim(void **v, size_t n, size_t *cap, size_t size)
{
	void *less = n && n < *cap ? reallocarray(*v, n, size) : NULL;

	if (!n) {
		free(*v);
		*v = NULL;
		*cap = 0;
	} else if (less) {
		*v = less;
		*cap = n;
	}
}

#define VEC_TRIM(vec) \
	vec_trim((void **)&(vec)->v, (vec)->n, &(vec)->cap, sizeof(*(vec)->v))

static inline void vec_drop_first(void *v, size_t *n, size_t gone, size_t size)
{
	if (!gone)
		return;
	*n -= gone;
	memmove(v, (char *)v + gone * size, *n * size);
}

#define VEC_DROP_FIRST(vec, gone) vec_drop_first((vec)->v, &(vec)->n, gone, sizeof(*(vec)->v))

static inline bool vec_copy(void **to, const void *from, size_t n, size_t size)
{
	*to = n ? reallocarray(NULL, n, size) : NULL;
	if (*to)
		memcpy(*to, from, n * size);
	return *to || !n;
}

#define VEC_COPY(to, from) \
	((to)->n = (to)->cap = (from)->n, \
	 vec_copy((void **)&(to)->v, (from)->v, (from)->n, sizeof(*(to)->v)) ? true : \
	 ((to)->n = (to)->cap = 0, false))

#define VEC_FREE(vec) (free((vec)->v), (vec)->v = NULL, (vec)->n = (vec)->cap = 0)

#endif
