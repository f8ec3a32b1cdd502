// SPDX-License-Identifier: BSD-3-Clause
/* Growth and deletion of the open-addressing map; lookups are inline in the header. */
#include "base/map.h"

#include <stdlib.h>
#include <string.h>

static struct map_slot *slot_of(struct map_slot *slot, size_t cap, uint64_t key)
{
	size_t i = map_hash(key) & (cap - 1);

	while (slot[i].used && slot[i].key != key)
		i = (i + 1) & (cap - 1);
	return &slot[i];
}

static bool grow(struct map *m)
{
	size_t cap = m->cap ? m->cap * 2 : 16;
	struct map_slot *slot = calloc(cap, sizeof(*slot));

	if (!slot)
		return false;
	for (size_t i = 0; i < m->cap; i++)
		if (m->slot[i].used)
			*slot_of(slot, cap, m->slot[i].key) = m->slot[i];
	free(m->slot);
	m->slot = slot;
	m->cap = cap;
	return true;
}

struct map_slot *map_put(struct map *m, uint64_t key, bool *is_new)
{
	struct map_slot *s;

	if (m->n >= m->cap / 2 && !grow(m))
		return NULL;
	s = slot_of(m->slot, m->cap, key);
	if (is_new)
		*is_new = !s->used;
	if (!s->used) {
		*s = (struct map_slot){ .key = key, .used = 1 };
		m->n++;
	}
	return s;
}

bool map_del(struct map *m, uint64_t key)
{
	struct map_slot *s = map_find(m, key);
	size_t hole, i;

	if (!s)
		return false;
	hole = (size_t)(s - m->slot);
	m->n--;
	/* Move back every later entry of the run that may not stand behind an empty slot. */
	for (i = (hole + 1) & (m->cap - 1); m->slot[i].used; i = (i + 1) & (m->cap - 1)) {
		size_t home = map_hash(m->slot[i].key) & (m->cap - 1);

		if (((i - home) & (m->cap - 1)) >= ((i - hole) & (m->cap - 1))) {
			m->slot[hole] = m->slot[i];
			hole = i;
		}
	}
	m->slot[hole].used = 0;
	return true;
}

void map_free_each(struct map *m, void (*free_value)(void *))
{
	for (size_t i = 0; i < m->cap; i++)
		if (m->slot[i].used && m->slot[i].value)
			free_value((void *)(uintptr_t)m->slot[i].value);
	map_free(m);
}
