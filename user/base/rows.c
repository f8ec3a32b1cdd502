// SPDX-License-Identifier: BSD-3-Clause
/* Adding, merging and removing rows; finding one is inline in the header. */
#include "base/rows.h"

#include <errno.h>
#include <stdlib.h>

#include "base/vec.h"

#define SLOTS_FIRST 8

static void put_slot(struct rows_slot *slot, size_t slots, uint64_t hash, void *row)
{
	size_t i = hash & (slots - 1);

	while (slot[i].row)
		i = (i + 1) & (slots - 1);
	slot[i] = (struct rows_slot){ hash, row };
}

/* Makes sure that the index and the list have place for one row more. */
static bool make_place(struct rows *r)
{
	size_t slots = r->slots ? 2 * r->slots : SLOTS_FIRST;
	struct rows_slot *slot;

	if (r->n == r->cap) {
		size_t cap = r->cap ? 2 * r->cap : SLOTS_FIRST / 2;
		void **v = reallocarray(r->v, cap, sizeof(*v));

		if (!v)
			return false;
		r->v = v;
		r->cap = cap;
	}
	if (r->n < r->slots / 2)
		return true;
	slot = calloc(slots, sizeof(*slot));
	if (!slot)
		return false;
	for (size_t i = 0; i < r->slots; i++)
		if (r->slot[i].row)
			put_slot(slot, slots, r->slot[i].hash, r->slot[i].row);
	free(r->slot);
	r->slot = slot;
	r->slots = slots;
	return true;
}

static void put_row(struct rows *r, const struct rows_type *type, void *row)
{
	r->type = type;
	put_slot(r->slot, r->slots, rows_hash(row, type->key_size), row);
	r->v[r->n++] = row;
}

static void *add_row(struct rows *r, const struct rows_type *type, const void *key)
{
	void *row = make_place(r) ? aligned_alloc(type->align, type->row_size) : NULL;

	if (!row)
		return NULL;
	memset(row, 0, type->row_size);
	memcpy(row, key, type->key_size);
	put_row(r, type, row);
	return row;
}

void *rows_get(struct rows *r, const struct rows_type *type, const void *key, bool *is_new)
{
	char other[ROWS_KEY_MAX] __attribute__((aligned(16)));
	void *row = rows_find(r, type, key);

	if (!row && type->max && r->n >= type->max) {
		if (!type->other)
			return NULL;
		memcpy(other, key, type->key_size);
		type->other(other);
		key = other;
		row = rows_find(r, type, key);
	}
	if (is_new)
		*is_new = !row;
	return row ? row : add_row(r, type, key);
}

int rows_take(struct rows *r, const struct rows_type *type, void *row)
{
	if (!make_place(r))
		return -ENOMEM;
	put_row(r, type, row);
	return 0;
}

int rows_merge(struct rows *to, const struct rows *from)
{
	for (size_t i = 0; i < from->n; i++) {
		void *row = rows_get(to, from->type, from->v[i], NULL);
		int err = row ? from->type->add(row, from->v[i]) : -ENOMEM;

		if (err)
			return err;
	}
	return 0;
}

int rows_copy(struct rows *to, const struct rows *from)
{
	const struct rows_type *type = from->type;
	int err = 0;

	for (size_t i = 0; i < from->n && !err; i++) {
		void *row = add_row(to, type, from->v[i]);

		if (!row)
			return -ENOMEM;
		memcpy(row, from->v[i], type->row_size);
		err = type->own ? type->own(row) : 0;
	}
	return err;
}

/* There are not more rows than slots were made for. */
static void index_all(struct rows *r)
{
	if (r->slots)
		memset(r->slot, 0, r->slots * sizeof(*r->slot));
	for (size_t i = 0; i < r->n; i++)
		put_slot(r->slot, r->slots, rows_hash(r->v[i], r->type->key_size), r->v[i]);
}

static void free_row(const struct rows_type *type, void *row)
{
	if (type->release)
		type->release(row);
	free(row);
}

void rows_keep(struct rows *r, bool (*keep)(void *ctx, void *row), void *ctx)
{
	size_t kept = 0, n = r->n;

	for (size_t i = 0; i < n; i++)
		if (keep(ctx, r->v[i]))
			r->v[kept++] = r->v[i];
		else
			free_row(r->type, r->v[i]);
	r->n = kept;
	if (kept < n)
		index_all(r);
}

void rows_trim(struct rows *r)
{
	vec_trim((void **)&r->v, r->n, &r->cap, sizeof(*r->v));
}

size_t rows_bytes(const struct rows *r)
{
	size_t bytes = r->cap * sizeof(*r->v) + r->slots * sizeof(*r->slot);

	for (size_t i = 0; i < r->n; i++)
		bytes += r->type->row_size + (r->type->owned ? r->type->owned(r->v[i]) : 0);
	return bytes;
}

void rows_free(struct rows *r)
{
	for (size_t i = 0; i < r->n; i++)
		free_row(r->type, r->v[i]);
	free(r->v);
	free(r->slot);
	*r = (struct rows){ 0 };
}
