// SPDX-License-Identifier: BSD-3-Clause
/* Rows found by a hash of all that tells them apart; texts are kept once, so that they compare by
 * address. */
#include "facts/offs.h"

#include <errno.h>
#include <stdio.h>

#include "base/num.h"

#define TEXT_MAX 64	/* no true one is longer */

static int keep_text(struct offs *o, const char *text, const char **out)
{
	char cut[TEXT_MAX];

	*out = NULL;
	if (!text)
		return 0;
	snprintf(cut, sizeof(cut), "%s", text);
	if (!o->texts)
		o->texts = strpool_new();
	*out = o->texts ? strpool_add(o->texts, cut) : NULL;
	return *out ? 0 : -ENOMEM;
}

static uint64_t hash_row(const struct off_row *r)
{
	uint64_t h = map_hash((uint64_t)r->pid << 32 | r->tid);

	h = map_hash(h ^ r->reason ^ (uint64_t)r->more << 8 ^ (uintptr_t)r->what);
	return map_hash(map_hash(h ^ (uintptr_t)r->waker) ^ r->waker_id ^ map_hash(r->stack));
}

static bool is_same(const struct off_row *a, const struct off_row *b)
{
	return a->pid == b->pid && a->tid == b->tid && a->reason == b->reason &&
	       a->more == b->more && a->what == b->what && a->waker == b->waker &&
	       a->waker_id == b->waker_id && a->stack == b->stack;
}

/* NULL: out of memory. */
static struct off_row *find_row(struct offs *o, const struct off_row *key)
{
	uint64_t hash = hash_row(key);
	struct map_slot *slot;
	struct off_row *row;

	for (; (slot = map_find(&o->index, hash)) && slot->value; hash++)
		if (is_same(&o->all.v[slot->value - 1], key))
			return &o->all.v[slot->value - 1];
	slot = map_put(&o->index, hash, NULL);
	row = slot ? VEC_PUSH(&o->all) : NULL;
	if (!row)
		return NULL;
	*row = *key;
	slot->value = o->all.n;
	return row;
}

/* When it could have run all the time, what it was in and who woke it tell nothing. */
static int make_key(struct offs *o, const struct event *ev, struct off_row *key)
{
	*key = (struct off_row){ .pid = ev->pid, .tid = ev->tid, .reason = ev->dir,
				 .more = o->all.n >= OFFS_MAX };
	o->more += key->more;
	if (key->more || ev->dir == OFF_RUNQUEUE)
		return 0;
	key->waker_id = OFF_WAKER(ev);
	key->stack = ev->stack;
	return keep_text(o, ev->text, &key->waker) || keep_text(o, ev->text2, &key->what) ?
	       -ENOMEM : 0;
}

int offs_add(struct offs *o, const struct event *ev, uint64_t from_ns)
{
	struct off_row key;
	uint64_t start = num_min(num_max(ev->start_ns, from_ns), ev->end_ns);
	uint64_t woken = num_max(ev->end_ns - OFF_WOKEN_NS(ev), start);
	struct off_row *row;

	if (ev->dir == OFF_UNTOLD) {
		o->untold++;
		o->untold_ns += ev->end_ns - start;
		return 0;
	}
	row = make_key(o, ev, &key) ? NULL : find_row(o, &key);
	if (!row)
		return -ENOMEM;
	if (ev->dir == OFF_RUNQUEUE)
		woken = start;
	*(ev->has & HAS_END ? &row->count : &row->open) += 1;
	row->blocked_ns += woken - start;
	row->runqueue_ns += ev->end_ns - woken;
	row->max_ns = num_max(row->max_ns, ev->end_ns - start);
	return 0;
}

void offs_reset(struct offs *o)
{
	map_free(&o->index);
	strpool_free(o->texts);
	o->texts = NULL;
	o->all.n = o->untold = o->untold_ns = 0;
}

void offs_free(struct offs *o)
{
	VEC_FREE(&o->all);
	map_free(&o->index);
	strpool_free(o->texts);
	*o = (struct offs){ 0 };
}
