// SPDX-License-Identifier: BSD-3-Clause
/* Finding a call's row (by a small cache, else by hashing) and adding to it. */
#include "facts/call_stats.h"

#include <errno.h>
#include <string.h>

#include "base/num.h"
#include "join/launch.h"

_Static_assert(sizeof(struct call_key) == 40, "no padding");
_Static_assert(offsetof(struct launch_shape, block) == sizeof(uint32_t[3]) &&
		       offsetof(struct launch_shape, grid) == 0,
	       "a launch shape begins with grid and block");

static void more_key(void *key)
{
	struct call_key *k = key;

	*k = (struct call_key){ .func = k->func, .shape = CALL_SHAPE_MORE };
}

static const struct rows_type type = {
	ROWS_OF(struct call_stat), ROWS_SUMS(struct call_stat, count, works_ns),
	ROWS_HISTS(struct call_stat, time, time), .max = CALL_STATS_MAX, .other = more_key,
};

/* ---- finding -------------------------------------------------------------------------------- */

struct call_stat *call_stats_find(struct call_stats *cs, const struct event *call)
{
	struct call_key key = { .func = call->func, .stack = call->call.stack };

	if (call->has & HAS_SHAPE) {
		key.shape = CALL_SHAPE_ONE;
		memcpy(key.dims, &call->call.shape, sizeof(key.dims));
	}
	if (call->has & HAS_RESULT) {
		key.has_result = 1;
		key.result = call->call.result;
	}
	return rows_get(&cs->rows, &type, &key, NULL);
}

/* Compared member by member: to make a key of the event first would cost more than the rest. */
static bool is_row_of(const struct call_stat *s, const struct event *call)
{
	const struct call_key *key = &s->key;
	bool has_result = call->has & HAS_RESULT;

	if (key->func != call->func || key->has_result != has_result ||
	    key->stack != call->call.stack || (has_result && key->result != call->call.result))
		return false;
	if (!(call->has & HAS_SHAPE))
		return key->shape == CALL_SHAPE_NONE;
	return key->shape == CALL_SHAPE_ONE &&
	       !memcmp(key->dims, &call->call.shape, sizeof(key->dims));
}

/* ---- adding --------------------------------------------------------------------------------- */

#define CACHED (sizeof(((struct call_cache *)0)->v) / sizeof(struct call_stat *))

/* cudaErrorNotReady, CUDA_ERROR_NOT_READY: no error, by CUDA's documentation. No other library of
 * the catalogue has a result of that number. */
#define NOT_READY 600

static void add_result(struct call_stat *s, const struct event *ev)
{
	if (!(ev->has & HAS_RESULT))
		return;
	s->results_known++;
	s->errors += ev->call.result != 0 && ev->call.result != NOT_READY;
}

int call_stat_add(struct call_stat *s, const struct event *call)
{
	if ((call->has & HAS_END) && hist_add(&s->time, call->end_ns - call->start_ns))
		return -ENOMEM;
	s->count++;
	add_result(s, call);
	if (call->has & HAS_BYTES) {
		s->bytes = num_add(s->bytes, call->call.bytes);
		s->bytes_known++;
	}
	return 0;
}

/* The call's row, at its place of the cache from now on. */
static struct call_stat *find_row(struct call_stat **at, struct call_stats *cs,
				  const struct event *call)
{
	struct call_stat *s = call_stats_find(cs, call);

	if (s && s->key.shape != CALL_SHAPE_MORE)
		*at = s;
	return s;
}

int call_cache_add(struct call_cache *c, struct call_stats *cs, const struct event *call)
{
	struct call_stat **at = &c->v[call->func % CACHED], *s = *at;

	if (__builtin_expect(!s || !is_row_of(s, call), 0)) {
		s = find_row(at, cs, call);
		if (!s)
			return -ENOMEM;
		cs->more += s->key.shape == CALL_SHAPE_MORE;
	}
	return call_stat_add(s, call);
}

int call_cache_add_works(struct call_cache *c, struct call_stats *cs,
			 const struct launch_call *of, uint64_t n, uint64_t ns)
{
	const struct event call = { .func = of->func, .call.stack = of->stack };
	struct call_stat **at = &c->v[of->func % CACHED], *s = *at;

	if (__builtin_expect(!s || !is_row_of(s, &call), 0)) {
		s = find_row(at, cs, &call);
		if (!s)
			return -ENOMEM;
	}
	s->works += n;
	s->works_ns += ns;
	return 0;
}

void call_stat_add_before(struct call_stat *s, const struct event *ev)
{
	s->before++;
	add_result(s, ev);
}

int call_stats_leave(struct call_stats *cs, uint16_t func, bool began_before)
{
	struct call_stat *s = rows_get(&cs->rows, &type, &(struct call_key){ .func = func }, NULL);

	if (!s)
		return -ENOMEM;
	s->open++;
	s->before += began_before;
	return 0;
}

int call_stats_merge(struct call_stats *to, const struct call_stats *from)
{
	int err = 0;

	for (size_t i = 0; i < from->rows.n && !err; i++) {
		const struct call_stat *s = from->rows.v[i];
		struct call_stat *at = rows_get(&to->rows, &type, &s->key, NULL);

		err = at ? rows_add(&type, at, s) : -ENOMEM;
		if (at && at->key.shape == CALL_SHAPE_MORE && s->key.shape != CALL_SHAPE_MORE)
			to->more += s->count;
	}
	return err;
}
