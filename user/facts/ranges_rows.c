// SPDX-License-Identifier: BSD-3-Clause
/* Rows of ranges, found by a hash of domain, name and kind. */
#include "facts/ranges_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "facts/ranges.h"

static uint64_t hash_text(uint64_t hash, const char *text)
{
	for (; text && *text; text++)
		hash = (hash ^ (uint8_t)*text) * 1099511628211ull;
	return (hash ^ (text ? 1 : 2)) * 1099511628211ull;
}

bool range_same_text(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static bool is_row(const struct range_row *row, const struct range_row *key)
{
	return row->kind == key->kind && row->before == key->before &&
	       range_same_text(row->name, key->name) && range_same_text(row->domain, key->domain);
}

static int copy_text(char **to, const char *text)
{
	*to = text ? strdup(text) : NULL;
	return text && !*to ? -ENOMEM : 0;
}

static struct range_row *add_row(struct range_rows *r, struct map_slot *slot,
				 const struct range_row *key, uint64_t floor_ns)
{
	struct range_row *row = VEC_PUSH(&r->all);

	if (!row)
		return NULL;
	row->kind = key->kind;
	row->before = key->before;
	row->covered_ns = floor_ns;
	if (copy_text(&row->domain, key->domain) || copy_text(&row->name, key->name)) {
		free(row->domain);
		r->all.n--;
		return NULL;
	}
	slot->value = r->all.n - 1;
	return row;
}

struct range_row *range_rows_find(struct range_rows *r, const struct range_row *key, uint64_t floor_ns)
{
	uint64_t hash = hash_text(hash_text(key->kind * 2u + key->before, key->domain), key->name);
	struct map_slot *slot;
	struct range_row *row;
	bool is_new;

	for (;; hash++) {
		slot = map_put(&r->by_name, hash, &is_new);
		if (!slot)
			return NULL;
		if (is_new)
			break;
		if (is_row(&r->all.v[slot->value], key))
			return &r->all.v[slot->value];
	}
	if (r->all.n >= RANGES_ROWS_MAX && !range_same_text(key->name, RANGES_OTHERS)) {
		map_del(&r->by_name, hash);
		return range_rows_find(r, &(struct range_row){ .name = (char *)(uintptr_t)RANGES_OTHERS,
							       .kind = key->kind }, floor_ns);
	}
	row = add_row(r, slot, key, floor_ns);
	if (!row)
		map_del(&r->by_name, hash);
	return row;
}

void range_row_begin(struct range_row *row, uint64_t ns)
{
	row->since_ns = row->open++ ? num_min(row->since_ns, ns) : ns;
	row->since_ns = num_max(row->since_ns, row->covered_ns);
}

void range_row_end(struct range_row *row, uint64_t ns)
{
	row->until_ns = num_max(row->until_ns, ns);
	if (--row->open)
		return;
	if (row->until_ns > row->since_ns)
		row->wall_ns += row->until_ns - row->since_ns;
	row->covered_ns = num_max(row->covered_ns, row->until_ns);
}

void range_rows_free(struct range_rows *r)
{
	for (size_t i = 0; i < r->all.n; i++) {
		free(r->all.v[i].domain);
		free(r->all.v[i].name);
	}
	VEC_FREE(&r->all);
	map_free(&r->by_name);
}

static size_t length(const char *text)
{
	return text ? strlen(text) + 1 : 0;
}

size_t range_rows_bytes(const struct range_rows *r)
{
	size_t bytes = r->all.cap * sizeof(r->all.v[0]) + r->by_name.cap * sizeof(struct map_slot);

	for (size_t i = 0; i < r->all.n; i++)
		bytes += length(r->all.v[i].domain) + length(r->all.v[i].name);
	return bytes;
}
