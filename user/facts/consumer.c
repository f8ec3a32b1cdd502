// SPDX-License-Identifier: BSD-3-Clause
/* The states of consumers, in the order in which they were added. Knows no consumer. */
#include "facts/consumer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int add(struct consumer_states *s, const struct consumer *c, struct model *m)
{
	void *state = !c->size ? m : s->of.n < CONSUMERS_MAX ? calloc(1, c->size) : NULL;

	if (!state)
		return -ENOMEM;
	for (unsigned int kind = 1; kind < EVENT_KIND_END; kind++)
		s->takers[kind] |= (uint32_t)(c->kinds >> kind & 1) << s->of.n;
	s->workers |= (uint32_t)!!c->on_work << s->of.n;
	s->v[s->of.n] = state;
	s->on_event[s->of.n] = c->on_event;
	s->of.v[s->of.n++] = c;
	return c->init && m ? c->init(state, m) : 0;
}

int consumers_add(struct consumer_states *to, const struct consumers *list, struct model *m)
{
	int err = 0;

	for (size_t i = 0; i < list->n && !err; i++)
		err = add(to, list->v[i], m);
	return err;
}

int consumers_work(struct consumer_states *s, const struct event *work, const struct launch *launch)
{
	int err = 0;

	for (uint32_t left = s->workers; left && !err; left &= left - 1) {
		const int i = __builtin_ctz(left);

		err = s->of.v[i]->on_work(s->v[i], work, launch);
	}
	return err;
}

int consumers_called(struct consumer_states *s, uint32_t process, uint32_t correlation,
		     const struct launch *launch)
{
	int err = 0;

	for (size_t i = 0; i < s->of.n && !err; i++)
		if (s->of.v[i]->on_called)
			err = s->of.v[i]->on_called(s->v[i], process, correlation, launch);
	return err;
}

int consumers_horizon(struct consumer_states *s, uint32_t process, uint64_t horizon_ns)
{
	int err = 0;

	for (size_t i = 0; i < s->of.n && !err; i++)
		if (s->of.v[i]->on_horizon)
			err = s->of.v[i]->on_horizon(s->v[i], process, horizon_ns);
	return err;
}

int consumers_finish(struct consumer_states *s)
{
	int err = 0;

	for (size_t i = 0; i < s->of.n && !err; i++)
		if (s->of.v[i]->finish)
			err = s->of.v[i]->finish(s->v[i]);
	return err;
}

int consumers_settle(struct consumer_states *s, struct process *p, bool *done)
{
	int err = 0;

	for (size_t i = 0; i < s->of.n && !err; i++)
		if (s->of.v[i]->settle)
			err = s->of.v[i]->settle(s->v[i], p, done);
	return err;
}

int consumers_fold(struct consumer_states *s, struct process *p, struct process *into)
{
	int err = 0;

	for (size_t i = 0; i < s->of.n && !err; i++)
		if (s->of.v[i]->fold)
			err = s->of.v[i]->fold(s->v[i], p, into);
	return err;
}

int consumers_copy(struct consumer_states *to, const struct consumer_states *from)
{
	int err = 0;

	for (size_t i = 0; i < from->of.n && !err; i++) {
		const struct consumer *c = from->of.v[i];

		if (!c->copy)
			continue;
		err = add(to, c, NULL);
		if (!err)
			err = c->copy(to->v[to->of.n - 1], from->v[i]);
	}
	return err;
}

void consumers_free(struct consumer_states *s)
{
	for (size_t i = 0; i < s->of.n; i++) {
		if (s->of.v[i]->free)
			s->of.v[i]->free(s->v[i]);
		if (s->of.v[i]->size)
			free(s->v[i]);
	}
	memset(s, 0, sizeof(*s));
}
