/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A hash map from u64 to u64 (an index or a pointer): open addressing, linear probing, at most
 * half full. Start zeroed. Not thread-safe. No deletion but map_del, which closes the gap.
 */
#ifndef BASE_MAP_H
#define BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct map_slot {
	uint64_t key;
	uint64_t value;
	uint64_t used;
};

struct map {
	struct map_slot *slot;
	size_t cap;		/* a power of two, or 0 */
	size_t n;
};

/* A good mixer for keys that are pids, addresses or packed pairs (Stafford's variant 13). */
static inline uint64_t map_hash(uint64_t x)
{
	x ^= x >> 30;
	x *= 0xbf58476d1ce4e5b9ull;
	x ^= x >> 27;
	x *= 0x94d049bb133111ebull;
	return x ^ (x >> 31);
}

static inline struct map_slot *map_find(const struct map *m, uint64_t key)
{
	if (!m->cap)
		return NULL;
	for (size_t i = map_hash(key) & (m->cap - 1);; i = (i + 1) & (m->cap - 1)) {
		if (!m->slot[i].used)
			return NULL;
		if (m->slot[i].key == key)
			return &m->slot[i];
	}
}

/* The pointer that a map of pointers has under key; NULL: none. */
static inline void *map_pointer(const struct map *m, uint64_t key)
{
	const struct map_slot *slot = map_find(m, key);

	return slot ? (void *)(uintptr_t)slot->value : NULL;
}

/* The slot of key, made with value 0 if it is new; NULL when out of memory. */
struct map_slot *map_put(struct map *m, uint64_t key, bool *is_new);
bool map_del(struct map *m, uint64_t key);	/* true: it was there */
/* keeps the memory */
static inline void map_clear(struct map *m)
{
	if (m->cap)
		memset(m->slot, 0, m->cap * sizeof(*m->slot));
	m->n = 0;
}

static inline void map_free(struct map *m)
{
	free(m->slot);
	*m = (struct map){ 0 };
}

/* Of a map to pointers: each that is not NULL is freed, too. */
void map_free_each(struct map *m, void (*free_value)(void *));

#endif
