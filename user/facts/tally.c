// SPDX-License-Identifier: BSD-3-Clause
/*
 * The fact table of calls: finding a call's tally (by a small cache, else by hashing) and adding
 * to it. Knows nothing of threads, books and tables.
 */
#include "facts/tally.h"

#include <string.h>

#include "base/num.h"

_Static_assert(offsetof(struct launch_shape, block) == sizeof(uint32_t[3]) &&
	       sizeof(struct tally_shape) == sizeof(uint32_t[6]),
	       "a launch shape begins with grid and block");
_Static_assert(TALLY_SHAPES_MAX < TALLY_MORE && FUNCS_MAX <= 1 << 15, "the key has room");

static uint64_t hash_shape(const struct tally_shape *s)
{
	uint64_t h = 0;

	for (int i = 0; i < 3; i++)
		h = map_hash(h ^ s->grid[i] ^ (uint64_t)s->block[i] << 32) + (uint64_t)i;
	return h;
}

/* The id of a shape; TALLY_MORE when there are too many. 0: out of memory. */
static unsigned int shape_id(struct tallies *ts, const struct tally_shape *s)
{
	struct tally_shape *shape = NULL;
	struct map_slot *slot;

	/* Two shapes of one hash stand at neighbouring keys. */
	for (uint64_t key = hash_shape(s);; key++) {
		slot = map_find(&ts->shape_index, key);
		if (!slot && ts->shapes.n >= TALLY_SHAPES_MAX)
			return TALLY_MORE;
		if (!slot) {
			slot = map_put(&ts->shape_index, key, NULL);
			if (slot)
				shape = VEC_PUSH(&ts->shapes);
			if (!shape)
				return 0;
			memcpy(shape, s, sizeof(*shape));
			slot->value = ts->shapes.n;
		}
		if (slot->value && !memcmp(&ts->shapes.v[slot->value - 1], s, sizeof(*shape)))
			return (unsigned int)slot->value;
	}
}

static uint64_t tally_key(const struct tally *t)
{
	uint64_t key = (uint64_t)t->func << 49 | (uint64_t)t->has_result << 48 |
		       (uint64_t)t->shape << 32 | (uint32_t)t->result;

	return t->stack ? map_hash(key) ^ t->stack : key;
}

static bool is_key_of(const struct tally *t, const struct tally *key)
{
	return t->func == key->func && t->shape == key->shape && t->stack == key->stack &&
	       t->has_result == key->has_result && t->result == key->result;
}

/* Two tallies of one hash stand at neighbouring keys. *free: the first key that is nobody's. */
static struct tally *look_up(const struct tallies *ts, const struct tally *key, uint64_t *free)
{
	for (*free = tally_key(key);; ++*free) {
		const struct map_slot *slot = map_find(&ts->index, *free);
		struct tally *t = slot ? (struct tally *)(uintptr_t)slot->value : NULL;

		if (!t || is_key_of(t, key))
			return t;
	}
}

static struct tally *find_key(const struct tallies *ts, const struct tally *key)
{
	uint64_t unused;

	return look_up(ts, key, &unused);
}

static uint64_t free_key(const struct tallies *ts, const struct tally *key)
{
	uint64_t at;

	look_up(ts, key, &at);
	return at;
}

static struct tally *add_tally(struct tallies *ts, const struct tally *key)
{
	struct tally *t = calloc(1, sizeof(*t)), **place = NULL;
	struct map_slot *slot;

	if (t)
		place = VEC_PUSH(&ts->all);
	if (!place) {
		free(t);
		return NULL;
	}
	slot = map_put(&ts->index, free_key(ts, key), NULL);
	if (!slot) {
		ts->all.n--;
		free(t);
		return NULL;
	}
	*t = *key;
	*place = t;
	slot->value = (uintptr_t)t;
	return t;
}

static struct tally *find_or_add(struct tallies *ts, struct tally *key)
{
	struct tally *t = find_key(ts, key);

	if (!t && ts->all.n < TALLIES_MAX)
		return add_tally(ts, key);
	if (t)
		return t;
	*key = (struct tally){ .func = key->func, .shape = TALLY_MORE };
	t = find_key(ts, key);
	return t ? t : add_tally(ts, key);
}

struct tally *tallies_find(struct tallies *ts, const struct event *call)
{
	struct tally key = { .func = call->func, .stack = call->stack };
	struct tally_shape shape;

	if (call->has & HAS_SHAPE) {
		memcpy(&shape, &call->shape, sizeof(shape));
		key.shape = (uint16_t)shape_id(ts, &shape);
		if (!key.shape)
			return NULL;
	}
	if (call->has & HAS_RESULT) {
		key.has_result = true;
		key.result = call->result;
	}
	return find_or_add(ts, &key);
}

int tally_add(struct tally *t, const struct event *call)
{
	if ((call->has & HAS_END) && hist_add(&t->time, call->end_ns - call->start_ns))
		return -ENOMEM;
	t->count++;
	if (call->has & HAS_RESULT) {
		t->results_known++;
		t->errors += call->result != 0;
	}
	if (call->has & HAS_BYTES) {
		t->bytes = num_add(t->bytes, call->bytes);
		t->bytes_known++;
	}
	return 0;
}

void tally_add_before(struct tally *t, const struct event *ev)
{
	t->before++;
	if (ev->has & HAS_RESULT) {
		t->results_known++;
		t->errors += ev->result != 0;
	}
}

int tallies_leave(struct tallies *ts, uint16_t func, bool began_before)
{
	struct tally *t = find_or_add(ts, &(struct tally){ .func = func });

	if (!t)
		return -ENOMEM;
	t->open++;
	t->before += began_before;
	return 0;
}

static int merge_into(struct tally *to, const struct tally *from)
{
	to->count += from->count;
	to->results_known += from->results_known;
	to->errors += from->errors;
	to->bytes = num_add(to->bytes, from->bytes);
	to->bytes_known += from->bytes_known;
	to->before += from->before;
	to->open += from->open;
	return hist_merge(&to->time, &from->time);
}

int tallies_merge(struct tallies *to, const struct tallies *from)
{
	int err = 0;

	for (size_t i = 0; i < from->all.n && !err; i++) {
		const struct tally *t = from->all.v[i];
		const struct tally_shape *shape = tallies_shape(from, t->shape);
		struct tally key = { .func = t->func, .stack = t->stack, .shape = t->shape,
				     .has_result = t->has_result, .result = t->result }, *at;
		bool was_apart = t->shape != TALLY_MORE;

		if (shape)
			key.shape = (uint16_t)shape_id(to, shape);
		at = shape && !key.shape ? NULL : find_or_add(to, &key);
		err = at ? merge_into(at, t) : -ENOMEM;
		if (at && at->shape == TALLY_MORE && was_apart)
			to->more += t->count;
	}
	return err;
}

void tallies_trim(struct tallies *ts)
{
	VEC_TRIM(&ts->all);
	VEC_TRIM(&ts->shapes);
}

size_t tallies_bytes(const struct tallies *ts)
{
	size_t bytes = ts->shapes.cap * sizeof(ts->shapes.v[0]) +
		       (ts->index.cap + ts->shape_index.cap) * sizeof(struct map_slot);

	for (size_t i = 0; i < ts->all.n; i++)
		bytes += sizeof(*ts->all.v[i]) + sizeof(ts->all.v[i]) +
			 hist_bytes(&ts->all.v[i]->time);
	return bytes;
}

const struct tally_shape *tallies_shape(const struct tallies *ts, unsigned int id)
{
	return id && id <= ts->shapes.n ? &ts->shapes.v[id - 1] : NULL;
}

void tallies_reset(struct tallies *ts)
{
	for (size_t i = 0; i < ts->all.n; i++) {
		struct tally *t = ts->all.v[i];

		t->count = t->results_known = t->errors = t->bytes = t->bytes_known = 0;
		t->before = t->open = 0;
		hist_reset(&t->time);
	}
}

void tallies_free(struct tallies *ts)
{
	for (size_t i = 0; i < ts->all.n; i++) {
		hist_free(&ts->all.v[i]->time);
		free(ts->all.v[i]);
	}
	VEC_FREE(&ts->all);
	VEC_FREE(&ts->shapes);
	map_free(&ts->index);
	map_free(&ts->shape_index);
}

static bool is_tally_of(const struct tally *t, const struct tally_shape *shape,
			const struct event *call)
{
	bool has_result = call->has & HAS_RESULT;

	if (t->func != call->func || t->has_result != has_result || t->stack != call->stack ||
	    (has_result && t->result != call->result))
		return false;
	if (!(call->has & HAS_SHAPE))
		return t->shape == TALLY_NO_SHAPE;
	return t->shape != TALLY_NO_SHAPE && !memcmp(shape, &call->shape, sizeof(*shape));
}

struct tally *tally_cache_find(struct tally_cache *c, struct tallies *ts, const struct event *call)
{
	unsigned int at = call->func % TALLY_CACHE;
	struct tally *t = c->v[at].tally;

	if (__builtin_expect(t && is_tally_of(t, &c->v[at].shape, call), 1))
		return t;
	t = tallies_find(ts, call);
	if (!t)
		return NULL;
	/* It has no shape of its own that the next call could be compared with. */
	if (t->shape == TALLY_MORE) {
		ts->more++;
		return t;
	}
	c->v[at].tally = t;
	memcpy(&c->v[at].shape, &call->shape, sizeof(c->v[at].shape));
	return t;
}
