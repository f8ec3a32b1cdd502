/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A bounded table of aggregated rows. A row is a struct that begins with its key; the table
 * finds or adds the row of a key by the key's bytes. When it has `max` rows, a new key shares
 * the row of the key that `other` makes of it ("[other]" of its process, say); such rows come on
 * top of max. Knows nothing of the rows' meaning. Not thread-safe.
 *
 * Start zeroed, pass the same const rows_type to all that find or add rows, end with rows_free.
 * Rows are allocated one by one, so that a row's address is stable until it is removed.
 * rows.v[0..n) are the rows in the order in which they were added; read them there.
 *
 * A key has no padding and a size that is a multiple of 8 (the macro checks the latter). A text in
 * a key is its hash or an interned pointer.
 *
 * Example: copies by direction, at most 4096 (pid, direction) pairs:
 *
 * 	struct copy_row {
 * 		struct copy_key { uint32_t pid, dir; } key;
 * 		uint64_t count, bytes;
 * 	};
 *
 * 	static void other(void *key)
 * 	{
 * 		((struct copy_key *)key)->pid = 0;
 * 	}
 *
 * 	static const struct rows_type copies_type = {
 * 		ROWS_OF(struct copy_row), ROWS_SUMS(struct copy_row, count, bytes),
 * 		.max = 4096, .other = other,
 * 	};
 *
 * 	row = rows_get(&copies, &copies_type, &(struct copy_key){ pid, dir }, NULL);
 * 	row->count++;				(if (!row): -ENOMEM)
 *
 * What came between two copies of a table is their difference (rows_subtract).
 */
#ifndef BASE_ROWS_H
#define BASE_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/map.h"
#include "base/vec.h"

#define ROWS_KEY_MAX 128

struct rows_type {
	size_t row_size, key_size, align;
	size_t max;			/* 0: no bound */
	void (*other)(void *key);	/* NULL: a new key beyond max finds no row */
	/* So many uint64_t of the row, one behind the other, are sums: rows_add adds them up, and
	 * rows_subtract subtracts them. */
	size_t sums_at, n_sums;
	/* The row owns texts (char *, NULL: none) and histograms, so many one behind the
	 * other. Copies have their own; histograms are added and subtracted, too. */
	size_t texts_at, n_texts;
	size_t hists_at, n_hists;
	/* For other members, called after these; NULL: there are none. add: 0 or -ENOMEM. */
	int (*add)(void *to, const void *from);
	void (*subtract)(void *from, const void *earlier);
	bool drops_empty;		/* rows_subtract removes rows whose sums are all 0 */
	/* The row is a copy of another one's bytes: it forgets memory that it cannot share, for
	 * rows_copy. NULL: there is none. */
	void (*own)(void *row);
	void (*release)(void *row);	/* frees what else the row owns; NULL: nothing */
};

/* The row's members of a rows_type; the row begins with a member `key`. */
#define ROWS_OF(row)                                                                      \
	.row_size = sizeof(row), .align = _Alignof(row),                                  \
	.key_size = sizeof(((row *)0)->key) +                                             \
		    0 * sizeof(char[offsetof(row, key) == 0 &&                            \
				    sizeof(((row *)0)->key) % 8 == 0 &&                   \
				    sizeof(((row *)0)->key) <= ROWS_KEY_MAX ? 1 : -1])

/* Its sums: all members from first to last. */
#define ROWS_SUMS(row, first, last)                                                       \
	.sums_at = offsetof(row, first),                                                  \
	.n_sums = (offsetof(row, last) + sizeof(((row *)0)->last) - offsetof(row, first)) / \
		  sizeof(uint64_t)

/* Its texts and histograms, likewise. */
#define ROWS_TEXTS(row, first, last)                                                      \
	.texts_at = offsetof(row, first),                                                 \
	.n_texts = (offsetof(row, last) - offsetof(row, first)) / sizeof(char *) + 1
#define ROWS_HISTS(row, first, last)                                                      \
	.hists_at = offsetof(row, first),                                                 \
	.n_hists = (offsetof(row, last) - offsetof(row, first)) / sizeof(struct hist) + 1

struct rows_slot {
	uint64_t hash;
	void *row;			/* NULL: free */
};

struct rows {
	const struct rows_type *type;	/* of the rows; NULL: none was added yet */
	void **v;			/* n rows */
	size_t n, cap;
	struct rows_slot *slot;		/* open addressing, at most half full */
	size_t slots;			/* a power of two, or 0 */
};

static inline uint64_t rows_hash(const void *key, size_t size)
{
	uint64_t hash = 0, word;

	for (size_t i = 0; i < size; i += sizeof(word)) {
		memcpy(&word, (const char *)key + i, sizeof(word));
		hash = map_hash(hash ^ word) + i;
	}
	return hash;
}

/* The row of key, or NULL. Inline: with a type that is known the comparison is a few
 * instructions. */
static inline void *rows_find(const struct rows *r, const struct rows_type *type, const void *key)
{
	const uint64_t hash = rows_hash(key, type->key_size);

	if (!r->slots)
		return NULL;
	for (size_t i = hash & (r->slots - 1); r->slot[i].row; i = (i + 1) & (r->slots - 1))
		if (r->slot[i].hash == hash && !memcmp(r->slot[i].row, key, type->key_size))
			return r->slot[i].row;
	return NULL;
}

/* The row of key, found or added (then zero but for its key, and *is_new); beyond max that of
 * other(key). is_new may be NULL. NULL: out of memory, or beyond max without `other`. */
void *rows_get(struct rows *r, const struct rows_type *type, const void *key, bool *is_new);

/* Adds the values of one row to another's; sums stop at UINT64_MAX. 0, or -ENOMEM: `to` is of no
 * use. */
int rows_add(const struct rows_type *type, void *to, const void *from);

/* Adds every row of from to the row of its key. 0, or an error: `to` is of no use. */
int rows_merge(struct rows *to, const struct rows *from);

/* Subtracts the rows of an earlier copy; one whose key has none any more, from the row of
 * other(key). */
void rows_subtract(struct rows *from, const struct rows *earlier);

/* A copy of all rows in an empty table. 0, or -ENOMEM: rows_free frees the partial copy. */
int rows_copy(struct rows *to, const struct rows *from);

/* Adds a row of another table, with a new key; its address stays. The caller removes it there (n--
 * for the last row) and only frees that table afterwards. 0 or -ENOMEM. */
int rows_take(struct rows *r, const struct rows_type *type, void *row);

/* Frees a row that is in no table any more. */
void rows_free_row(const struct rows_type *type, void *row);

/* Removes the rows for which keep returns false. */
void rows_keep(struct rows *r, bool (*keep)(void *ctx, void *row), void *ctx);

/* gives back memory that the present rows do not need */
static inline void rows_trim(struct rows *r)
{
	vec_trim((void **)&r->v, r->n, &r->cap, sizeof(*r->v));
}

size_t rows_bytes(const struct rows *r);	/* allocated, about */
void rows_free(struct rows *r);	/* empty and usable again */

#endif
