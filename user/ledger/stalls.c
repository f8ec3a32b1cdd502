// SPDX-License-Identifier: BSD-3-Clause
/* Causes to kinds by one table. */
#include "ledger/stalls.h"

#include <errno.h>

#include "base/num.h"

#define EPOCH_FIRST_NS 1048576ull

/* A kind, or that the time is no loss; was spent OUTSIDE of calls; or belongs to the time AROUND
 * it. */
#define IS(kind) ((kind) + 1)
enum { NO_STALL = 0, OUTSIDE = STALL_KINDS + 1, AROUND };

static const uint8_t kind_of[IDLE_CAUSES] = {
	[IDLE_QUEUED] = AROUND, [IDLE_LAUNCH] = AROUND, [IDLE_SYNC] = IS(STALL_SYNC),
	[IDLE_COPY_HOST] = IS(STALL_COPY), [IDLE_SET] = AROUND, [IDLE_ALLOC] = IS(STALL_ALLOC),
	[IDLE_EVENT] = AROUND, [IDLE_STREAM] = AROUND, [IDLE_GRAPH] = AROUND,
	[IDLE_COMPILE] = IS(STALL_COMPILE), [IDLE_COMM_HOST] = IS(STALL_COLLECTIVE),
	[IDLE_INIT] = NO_STALL, [IDLE_LIBRARY] = AROUND, [IDLE_QUERY] = AROUND,
	[IDLE_OTHER] = OUTSIDE, [IDLE_RUNQUEUE] = IS(STALL_RUNQUEUE), [IDLE_DISK] = OUTSIDE,
	[IDLE_IO] = OUTSIDE, [IDLE_LOCK] = OUTSIDE, [IDLE_PAGE_FAULT] = OUTSIDE,
	[IDLE_SLEEP] = OUTSIDE, [IDLE_OFF_CPU] = OUTSIDE, [IDLE_NO_WORK] = NO_STALL,
	[IDLE_STOPPED] = IS(STALL_STOPPED), [IDLE_OPEN] = NO_STALL, [IDLE_LOST] = NO_STALL,
	[IDLE_UNKNOWN] = NO_STALL, [IDLE_UNARMED] = NO_STALL,
};

/* Calls that run a device dry, because the host goes on only when they return. */
static const struct {
	uint8_t bucket, kind;
} calls[] = {
	{ CLASS_SYNC, STALL_SYNC },
	{ CLASS_COPY, STALL_COPY },
	{ CLASS_ALLOC, STALL_ALLOC },
	{ CLASS_FREE, STALL_ALLOC },
	{ CLASS_COMPILE, STALL_COMPILE },
	{ CLASS_COLLECTIVE, STALL_COLLECTIVE },
};

#define CALLS (sizeof(calls) / sizeof(calls[0]))

/* ---- one gap --------------------------------------------------------------------------------- */

struct dry {			/* the thread's state when the device ran dry */
	enum stall_kind kind;
	uint16_t func, stack;
	bool large;
};

static struct dry find_dry(const struct device_gap *gap, const struct idle_thread *who,
			   const uint64_t *ns)
{
	struct timeline_span span;
	bool found = timeline_find(who->timeline, gap->start_ns, &span);
	unsigned int bucket = found			   ? span.bucket :
			      gap->start_ns >= who->now_ns ? who->now :
							     CLASS_OTHER;
	struct dry dry = { STALL_LAUNCH, TIMELINE_NO_FUNC, 0, false };

	if (ns[IDLE_QUEUED] == gap->end_ns - gap->start_ns)
		dry.kind = STALL_QUEUED;
	for (size_t i = 0; dry.kind == STALL_LAUNCH && i < CALLS; i++) {
		if (calls[i].bucket != bucket)
			continue;
		dry.kind = (enum stall_kind)calls[i].kind;
		dry.func = found ? span.func : TIMELINE_NO_FUNC;
		dry.stack = found ? span.stack : 0;
		dry.large = found && span.large;
	}
	return dry;
}

/* The kind of loss of a cause's time in this gap; STALL_KINDS: none. Copies are COPY. */
static enum stall_kind kind_in(enum idle_cause cause, const struct dry *dry, const uint64_t *ns,
			      uint64_t outside_ns)
{
	unsigned int kind = kind_of[cause];

	if (kind == NO_STALL)
		return STALL_KINDS;
	if (kind == OUTSIDE && outside_ns >= STALL_HOST_NS)
		return STALL_HOST;
	if (cause == IDLE_QUEUED && ns[IDLE_QUEUED] >= STALL_WAIT_NS)
		return STALL_WAITED;
	return kind >= OUTSIDE ? dry->kind : (enum stall_kind)(kind - 1);
}

/* The call that was longest of a kind in the gap. */
static struct dry find_call(const struct device_gap *gap, const struct idle_thread *who,
			    enum stall_kind kind)
{
	struct dry call = { kind, TIMELINE_NO_FUNC, 0, false };

	for (size_t i = 0; i < CALLS; i++) {
		struct timeline_span span;

		if (calls[i].kind != kind || !timeline_longest(who->timeline, gap->start_ns,
							       gap->end_ns, calls[i].bucket, &span))
			continue;
		call.func = span.func;
		call.stack = span.stack;
		call.large = span.large;
	}
	return call;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void other_key(void *key)
{
	struct stall_key *k = key;

	*k = (struct stall_key){ .func = TIMELINE_NO_FUNC, .kind = k->kind };
}

/* Both tables have the same epochs. */
static int add_stall(void *to, const void *from)
{
	struct stall *s = to;
	const struct stall *more = from;

	s->longest_ns = num_max(s->longest_ns, more->longest_ns);
	for (unsigned int i = 0; i < STALL_EPOCHS; i++)
		s->epoch_ns[i] += more->epoch_ns[i];
	return 0;
}

static void bound_longest(void *from, const void *earlier)
{
	struct stall *s = from;

	if (s->longest_ns <= ((const struct stall *)earlier)->longest_ns)
		s->longest_ns = num_min(s->longest_ns, s->ns);
}

static const struct rows_type type = {
	ROWS_OF(struct stall), ROWS_SUMS(struct stall, ns, cause_ns), .drops_empty = true,
	.max = STALL_ROWS, .other = other_key, .add = add_stall, .subtract = bound_longest,
};

static void other_place(void *key)
{
	((struct stall_place_key *)key)->stack = 0;
}

static const struct rows_type places_type = {
	ROWS_OF(struct stall_place), ROWS_SUMS(struct stall_place, ns, ns), .drops_empty = true,
	.max = STALL_PLACES, .other = other_place,
};

static int add_place(struct stalls *s, enum stall_kind kind, uint64_t stack, uint64_t ns)
{
	const struct stall_place_key key = { stack, kind };
	struct stall_place *row = rows_get(&s->places, &places_type, &key, NULL);

	if (!row)
		return -ENOMEM;
	row->ns += ns;
	return 0;
}

static void widen_epochs(struct stalls *s)
{
	for (size_t i = 0; i < s->rows.n; i++) {
		uint64_t *ns = ((struct stall *)s->rows.v[i])->epoch_ns;

		for (unsigned int k = 0; k < STALL_EPOCHS / 2; k++)
			ns[k] = ns[2 * k] + ns[2 * k + 1];
		memset(&ns[STALL_EPOCHS / 2], 0, STALL_EPOCHS / 2 * sizeof(*ns));
	}
	s->epoch_ns *= 2;
}

static unsigned int epoch_at(struct stalls *s, uint64_t ns)
{
	if (!s->epoch_ns) {
		s->base_ns = ns;
		s->epoch_ns = EPOCH_FIRST_NS;
	}
	if (ns < s->base_ns)
		return 0;
	while ((ns - s->base_ns) / s->epoch_ns >= STALL_EPOCHS)
		widen_epochs(s);
	return (unsigned int)((ns - s->base_ns) / s->epoch_ns);
}

static enum stall_kind kind_of_part(const struct dry *call)
{
	return call->kind == STALL_COPY && !call->large ? STALL_COPY_SMALL : call->kind;
}

/* The part of a gap that is of this kind. */
static int add_part(struct stalls *s, const struct device_gap *gap, const struct dry *call,
		    const uint64_t *ns, uint64_t total_ns)
{
	const struct stall_key key = {
		.tid = gap->ended_by->launch_tid, .func = call->func,
		.kind = (uint16_t)kind_of_part(call),
	};
	struct stall *row = rows_get(&s->rows, &type, &key, NULL);

	if (!row)
		return -ENOMEM;
	row->ns += total_ns;
	row->gaps++;
	row->longest_ns = num_max(row->longest_ns, total_ns);
	row->epoch_ns[epoch_at(s, gap->start_ns)] += total_ns;
	for (unsigned int i = 0; i < IDLE_CAUSES; i++)
		row->cause_ns[i] += ns[i];
	return 0;
}

int stalls_add(struct stalls *s, const struct device_gap *gap, const struct idle_thread *who,
	       const uint64_t ns[IDLE_CAUSES])
{
	const struct dry dry = find_dry(gap, who, ns);
	uint64_t outside_ns = 0, total[STALL_KINDS] = { 0 };
	int err = 0;

	for (unsigned int i = 0; i < IDLE_CAUSES; i++)
		outside_ns += kind_of[i] == OUTSIDE ? ns[i] : 0;
	for (unsigned int i = 0; i < IDLE_CAUSES; i++) {
		unsigned int kind = kind_in(i, &dry, ns, outside_ns);

		if (kind < STALL_KINDS)
			total[kind] += ns[i];
	}
	for (unsigned int kind = 0; !err && kind < STALL_KINDS; kind++) {
		uint64_t part[IDLE_CAUSES];
		struct dry call;

		if (!total[kind])
			continue;
		call = kind == dry.kind ? dry : find_call(gap, who, kind);
		for (unsigned int i = 0; i < IDLE_CAUSES; i++)
			part[i] = kind_in(i, &dry, ns, outside_ns) == kind ? ns[i] : 0;
		err = add_part(s, gap, &call, part, total[kind]);
		if (!err && call.stack && who->stacks)
			err = add_place(s, kind_of_part(&call), who->stacks[call.stack],
					total[kind]);
	}
	return err;
}

int stalls_copy(struct stalls *to, const struct stalls *from)
{
	int err;

	to->before_ns = from->before_ns;
	to->base_ns = from->base_ns;
	to->epoch_ns = from->epoch_ns;
	err = rows_merge(&to->rows, &from->rows);
	return err ? err : rows_merge(&to->places, &from->places);
}

void stalls_free(struct stalls *s)
{
	rows_free(&s->rows);
	rows_free(&s->places);
	*s = (struct stalls){ 0 };
}

void stalls_subtract(struct stalls *from, const struct stalls *earlier)
{
	rows_subtract(&from->rows, &earlier->rows);
	rows_subtract(&from->places, &earlier->places);
	from->before_ns = num_sub(from->before_ns, earlier->before_ns);
	from->base_ns = from->epoch_ns = 0;
}

uint64_t stalls_late_ns(const struct stalls *s, const struct stall *row, uint64_t now_ns)
{
	uint64_t half = now_ns > s->base_ns ? (now_ns - s->base_ns) / 2 : 0, late = 0;

	if (!s->epoch_ns)
		return row->ns;
	for (unsigned int i = 0; i < STALL_EPOCHS; i++)
		if (i * s->epoch_ns >= half)
			late += row->epoch_ns[i];
	return late;
}
