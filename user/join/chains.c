// SPDX-License-Identifier: BSD-3-Clause
/* Doubly linked, so that taking one out of a long chain (a graph's works) walks nothing. */
#include "join/chains.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"

#define NEIGHBOURS 64u		/* keys beside each other */

static uint32_t *head_of(const struct chains *c, uint32_t key)
{
	uint64_t far = map_hash(key / NEIGHBOURS) * NEIGHBOURS;

	return &c->head[(far | key % NEIGHBOURS) & (c->cap - 1)];
}

int chains_reserve(struct chains *c, uint32_t cap)
{
	uint32_t *head = realloc(c->head, cap * sizeof(*head));
	struct chain_link *link;

	if (!head)
		return -ENOMEM;
	c->head = head;
	link = realloc(c->link, cap * sizeof(*link));
	if (!link)
		return -ENOMEM;
	c->link = link;
	return 0;
}

void chains_clear(struct chains *c, uint32_t cap)
{
	c->cap = cap;
	memset(c->head, 0xff, cap * sizeof(*c->head));
}

void chains_free(struct chains *c)
{
	free(c->head);
	free(c->link);
	*c = (struct chains){ 0 };
}

void chains_add(struct chains *c, uint32_t place, uint32_t key)
{
	uint32_t *head = head_of(c, key);

	c->link[place] = (struct chain_link){ key, *head, CHAINS_NONE };
	if (*head != CHAINS_NONE)
		c->link[*head].before = place;
	*head = place;
}

void chains_del(struct chains *c, uint32_t place)
{
	struct chain_link *l = &c->link[place];

	if (l->before != CHAINS_NONE)
		c->link[l->before].next = l->next;
	else
		*head_of(c, l->key) = l->next;
	if (l->next != CHAINS_NONE)
		c->link[l->next].before = l->before;
}

uint32_t chains_find(const struct chains *c, uint32_t key)
{
	uint32_t place = c->cap ? *head_of(c, key) : CHAINS_NONE;

	while (place != CHAINS_NONE && c->link[place].key != key)
		place = c->link[place].next;
	return place;
}
