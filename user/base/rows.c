// SPDX-License-Identifier: BSD-3-Clause
/* Adding, merging and removing rows; finding one is inline in the header. */
#include "base/rows.h"

#include <errno.h>
#include <stdlib.h>

#include "base/hist.h"
#include "base/num.h"
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

struct other_key {
	char v[ROWS_KEY_MAX] __attribute__((aligned(16)));
};

static const void *make_other(struct other_key *other, const struct rows_type *type,
			      const void *key)
{
	memcpy(other->v, key, type->key_size);
	type->other(other->v);
	return other->v;
}

void *rows_get(struct rows *r, const struct rows_type *type, const void *key, bool *is_new)
{
	struct other_key other;
	void *row = rows_find(r, type, key);

	if (!row && type->max && r->n >= type->max) {
		if (!type->other)
			return NULL;
		key = make_other(&other, type, key);
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

static uint64_t *sums_of(const struct rows_type *type, const void *row)
{
	return (uint64_t *)((uintptr_t)row + type->sums_at);
}

static char **texts_of(const struct rows_type *type, const void *row)
{
	return (char **)((uintptr_t)row + type->texts_at);
}

static struct hist *hists_of(const struct rows_type *type, const void *row)
{
	return (struct hist *)((uintptr_t)row + type->hists_at);
}

int rows_add(const struct rows_type *type, void *to, const void *from)
{
	int err = 0;

	num_add_each(sums_of(type, to), sums_of(type, from), type->n_sums);
	for (size_t i = 0; i < type->n_hists && !err; i++)
		err = hist_merge(&hists_of(type, to)[i], &hists_of(type, from)[i]);
	return err || !type->add ? err : type->add(to, from);
}

static void subtract(const struct rows_type *type, void *from, const void *earlier)
{
	num_sub_each(sums_of(type, from), sums_of(type, earlier), type->n_sums);
	for (size_t i = 0; i < type->n_hists; i++)
		hist_subtract(&hists_of(type, from)[i], &hists_of(type, earlier)[i]);
	if (type->subtract)
		type->subtract(from, earlier);
}

int rows_merge(struct rows *to, const struct rows *from)
{
	for (size_t i = 0; i < from->n; i++) {
		void *row = rows_get(to, from->type, from->v[i], NULL);
		int err = row ? rows_add(from->type, row, from->v[i]) : -ENOMEM;

		if (err)
			return err;
	}
	return 0;
}

/* The row is a copy of another one's bytes: it gets its own copies of owned memory, too. 0, or
 * -ENOMEM: it can be freed all the same. */
static int own_row(const struct rows_type *type, void *row)
{
	char **texts = texts_of(type, row);
	int err = 0;

	for (size_t i = 0; i < type->n_texts; i++) {
		if (!texts[i])
			continue;
		texts[i] = strdup(texts[i]);
		err = texts[i] ? err : -ENOMEM;
	}
	for (size_t i = 0; i < type->n_hists; i++)
		if (hist_own(&hists_of(type, row)[i]))
			err = -ENOMEM;
	if (type->own)
		type->own(row);
	return err;
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
		err = own_row(type, row);
	}
	return err;
}

void rows_free_row(const struct rows_type *type, void *row)
{
	for (size_t i = 0; i < type->n_texts; i++)
		free(texts_of(type, row)[i]);
	for (size_t i = 0; i < type->n_hists; i++)
		hist_free(&hists_of(type, row)[i]);
	if (type->release)
		type->release(row);
	free(row);
}

void rows_keep(struct rows *r, bool (*keep)(void *ctx, void *row), void *ctx)
{
	size_t kept = 0;

	for (size_t i = 0; i < r->n; i++)
		if (keep(ctx, r->v[i]))
			r->v[kept++] = r->v[i];
		else
			rows_free_row(r->type, r->v[i]);
	if (kept == r->n)
		return;
	r->n = kept;
	memset(r->slot, 0, r->slots * sizeof(*r->slot));
	for (size_t i = 0; i < kept; i++)
		put_slot(r->slot, r->slots, rows_hash(r->v[i], r->type->key_size), r->v[i]);
}

static bool has_values(void *type, void *row)
{
	const uint64_t *sums = sums_of(type, row);

	for (size_t i = 0; i < ((const struct rows_type *)type)->n_sums; i++)
		if (sums[i])
			return true;
	return false;
}

void rows_subtract(struct rows *from, const struct rows *earlier)
{
	const struct rows_type *type = earlier->type;
	struct other_key other;

	for (size_t i = 0; i < earlier->n; i++) {
		void *row = rows_find(from, type, earlier->v[i]);

		if (!row && type->other)
			row = rows_find(from, type, make_other(&other, type, earlier->v[i]));
		if (row)
			subtract(type, row, earlier->v[i]);
	}
	if (from->n && from->type->drops_empty)
		rows_keep(from, has_values, (void *)from->type);
}

size_t rows_bytes(const struct rows *r)
{
	size_t bytes = r->cap * sizeof(*r->v) + r->slots * sizeof(*r->slot);

	for (size_t i = 0; i < r->n; i++) {
		bytes += r->type->row_size;
		for (size_t k = 0; k < r->type->n_texts; k++) {
			const char *text = texts_of(r->type, r->v[i])[k];

			bytes += text ? strlen(text) + 1 : 0;
		}
		for (size_t k = 0; k < r->type->n_hists; k++)
			bytes += hist_bytes(&hists_of(r->type, r->v[i])[k]);
	}
	return bytes;
}

void rows_free(struct rows *r)
{
	for (size_t i = 0; i < r->n; i++)
		rows_free_row(r->type, r->v[i]);
	free(r->v);
	free(r->slot);
	*r = (struct rows){ 0 };
}
