// SPDX-License-Identifier: BSD-3-Clause
/* The states of consumers, in the order in which they were added. Knows no consumer. */
#include "facts/consumer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int add(struct consumer_states *s, const struct consumer *c)
{
	void *state = s->of.n < CONSUMERS_MAX ? calloc(1, c->size) : NULL;

	if (!state)
		return -ENOMEM;
	for (unsigned int kind = 1; kind < EVENT_KIND_END; kind++)
		s->takers[kind] |= (uint32_t)(c->kinds >> kind & 1) << s->of.n;
	s->v[s->of.n] = state;
	s->of.v[s->of.n++] = c;
	return 0;
}

int consumers_add(struct consumer_states *to, const struct consumers *list)
{
	int err = 0;

	for (size_t i = 0; i < list->n && !err; i++)
		err = add(to, list->v[i]);
	return err;
}

int consumers_push(struct consumer_states *s, const struct event *ev)
{
	int err = 0;

	for (uint32_t left = s->takers[ev->kind]; left && !err; left &= left - 1) {
		const int i = __builtin_ctz(left);

		err = s->of.v[i]->on_event(s->v[i], ev);
	}
	return err;
}

void consumers_cut(struct consumer_states *s)
{
	for (size_t i = 0; i < s->of.n; i++)
		if (s->of.v[i]->cut)
			s->of.v[i]->cut(s->v[i]);
}

int consumers_copy(struct consumer_states *to, const struct consumer_states *from)
{
	int err = consumers_add(to, &from->of);

	for (size_t i = 0; i < from->of.n && !err; i++)
		err = from->of.v[i]->copy(to->v[i], from->v[i]);
	return err;
}

void consumers_free(struct consumer_states *s)
{
	for (size_t i = 0; i < s->of.n; i++) {
		if (s->of.v[i]->free)
			s->of.v[i]->free(s->v[i]);
		free(s->v[i]);
	}
	memset(s, 0, sizeof(*s));
}

const void *consumer_state(const struct consumer_states *s, const struct consumer *c)
{
	for (size_t i = 0; i < s->of.n; i++)
		if (s->of.v[i] == c)
			return s->v[i];
	return NULL;
}
