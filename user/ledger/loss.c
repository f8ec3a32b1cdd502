// SPDX-License-Identifier: BSD-3-Clause
/* Causes to kinds by one table, and rows by a linear search, since there are few. */
#include "ledger/loss.h"

#include <errno.h>

#include "base/num.h"

#define EPOCH_FIRST_NS 1048576ull

/* A kind, or that the time is no loss; was spent OUTSIDE of calls; or belongs to what it is AROUND. */
#define IS(kind) ((kind) + 1)
enum { NOT_LOST = 0, OUTSIDE = LOSS_KINDS + 1, AROUND };

static const uint8_t kind_of[IDLE_CAUSES] = {
	[IDLE_QUEUED] = AROUND, [IDLE_LAUNCH] = AROUND, [IDLE_SYNC] = IS(LOSS_SYNC),
	[IDLE_COPY_HOST] = IS(LOSS_COPY), [IDLE_SET] = AROUND, [IDLE_ALLOC] = IS(LOSS_ALLOC),
	[IDLE_EVENT] = AROUND, [IDLE_STREAM] = AROUND, [IDLE_GRAPH] = AROUND,
	[IDLE_COMPILE] = IS(LOSS_COMPILE), [IDLE_COMM_HOST] = IS(LOSS_COLLECTIVE),
	[IDLE_INIT] = NOT_LOST, [IDLE_LIBRARY] = AROUND, [IDLE_QUERY] = AROUND,
	[IDLE_OTHER] = OUTSIDE, [IDLE_RUNQUEUE] = IS(LOSS_RUNQUEUE), [IDLE_DISK] = OUTSIDE,
	[IDLE_IO] = OUTSIDE, [IDLE_LOCK] = OUTSIDE, [IDLE_PAGE_FAULT] = OUTSIDE,
	[IDLE_SLEEP] = OUTSIDE, [IDLE_OFF_CPU] = OUTSIDE, [IDLE_NO_WORK] = NOT_LOST,
	[IDLE_STOPPED] = IS(LOSS_STOPPED), [IDLE_OPEN] = NOT_LOST, [IDLE_LOST] = NOT_LOST, [IDLE_UNKNOWN] = NOT_LOST,
	[IDLE_UNARMED] = NOT_LOST,
};

/* Calls that run a device dry, because the host goes on only when they return. */
static const struct {
	uint8_t bucket, kind;
} calls[] = {
	{ CLASS_SYNC, LOSS_SYNC },
	{ CLASS_COPY, LOSS_COPY },
	{ CLASS_ALLOC, LOSS_ALLOC },
	{ CLASS_FREE, LOSS_ALLOC },
	{ CLASS_COMPILE, LOSS_COMPILE },
	{ CLASS_COLLECTIVE, LOSS_COLLECTIVE },
};

#define CALLS (sizeof(calls) / sizeof(calls[0]))

/* ---- one gap --------------------------------------------------------------------------------- */

struct dry {			/* what the thread was in when the device ran dry */
	enum loss_kind kind;
	uint16_t func;
	bool large;
};

static struct dry find_dry(const struct device_gap *gap, const struct idle_thread *who,
			   const uint64_t *ns)
{
	struct timeline_span span;
	bool found = timeline_find(who->timeline, gap->start_ns, &span);
	unsigned int bucket = found ? span.bucket : gap->start_ns >= who->now_ns ? who->now : CLASS_OTHER;
	struct dry dry = { LOSS_LAUNCH, TIMELINE_NO_FUNC, false };

	if (ns[IDLE_QUEUED] == gap->end_ns - gap->start_ns)
		dry.kind = LOSS_QUEUED;
	for (size_t i = 0; dry.kind == LOSS_LAUNCH && i < CALLS; i++) {
		if (calls[i].bucket != bucket)
			continue;
		dry.kind = (enum loss_kind)calls[i].kind;
		dry.func = found ? span.func : TIMELINE_NO_FUNC;
		dry.large = found && span.large;
	}
	return dry;
}

/* What kind of loss the time of a cause is in this gap; LOSS_KINDS: none. Of copies it says COPY. */
static enum loss_kind kind_in(enum idle_cause cause, const struct dry *dry, const uint64_t *ns,
			      uint64_t outside_ns)
{
	unsigned int kind = kind_of[cause];

	if (kind == NOT_LOST)
		return LOSS_KINDS;
	if (kind == OUTSIDE && outside_ns >= LOSS_HOST_NS)
		return LOSS_HOST;
	if (cause == IDLE_QUEUED && ns[IDLE_QUEUED] >= LOSS_WAIT_NS)
		return LOSS_WAITED;
	return kind >= OUTSIDE ? dry->kind : (enum loss_kind)(kind - 1);
}

/* The call that was longest of a kind in the gap. */
static struct dry find_call(const struct device_gap *gap, const struct idle_thread *who,
			    enum loss_kind kind)
{
	struct dry call = { kind, TIMELINE_NO_FUNC, false };

	for (size_t i = 0; i < CALLS; i++) {
		struct timeline_span span;

		if (calls[i].kind != kind || !timeline_longest(who->timeline, gap->start_ns, gap->end_ns,
							       calls[i].bucket, &span))
			continue;
		call.func = span.func;
		call.large = span.large;
	}
	return call;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static struct loss *find_row(struct losses *l, uint32_t tid, enum loss_kind kind, uint16_t func)
{
	struct loss *row;

	for (size_t i = 0; i < l->all.n; i++) {
		row = &l->all.v[i];
		if (row->tid == tid && row->func == func && row->kind == kind)
			return row;
	}
	if (l->all.n >= LOSS_ROWS && tid)
		return find_row(l, 0, kind, TIMELINE_NO_FUNC);
	row = VEC_PUSH(&l->all);
	if (row) {
		row->tid = tid;
		row->func = func;
		row->kind = (uint8_t)kind;
	}
	return row;
}

static void widen_epochs(struct losses *l)
{
	for (size_t i = 0; i < l->all.n; i++) {
		uint64_t *ns = l->all.v[i].epoch_ns;

		for (unsigned int k = 0; k < LOSS_EPOCHS / 2; k++)
			ns[k] = ns[2 * k] + ns[2 * k + 1];
		memset(&ns[LOSS_EPOCHS / 2], 0, LOSS_EPOCHS / 2 * sizeof(*ns));
	}
	l->epoch_ns *= 2;
}

static unsigned int epoch_at(struct losses *l, uint64_t ns)
{
	if (!l->epoch_ns) {
		l->base_ns = ns;
		l->epoch_ns = EPOCH_FIRST_NS;
	}
	if (ns < l->base_ns)
		return 0;
	while ((ns - l->base_ns) / l->epoch_ns >= LOSS_EPOCHS)
		widen_epochs(l);
	return (unsigned int)((ns - l->base_ns) / l->epoch_ns);
}

/* The part of a gap that is of this kind. */
static int add_part(struct losses *l, const struct device_gap *gap, const struct dry *call,
		    const uint64_t *ns, uint64_t total_ns)
{
	bool copy = call->kind == LOSS_COPY;
	struct loss *row = find_row(l, gap->ended_by->launch_tid,
				    copy && !call->large ? LOSS_COPY_SMALL : call->kind, call->func);

	if (!row)
		return -ENOMEM;
	row->ns += total_ns;
	row->gaps++;
	row->longest_ns = num_max(row->longest_ns, total_ns);
	row->epoch_ns[epoch_at(l, gap->start_ns)] += total_ns;
	for (unsigned int i = 0; i < IDLE_CAUSES; i++)
		row->cause_ns[i] += ns[i];
	return 0;
}

int losses_add(struct losses *l, const struct device_gap *gap, const struct idle_thread *who,
	       const uint64_t ns[IDLE_CAUSES])
{
	const struct dry dry = find_dry(gap, who, ns);
	uint64_t outside_ns = 0, total[LOSS_KINDS] = { 0 };
	int err = 0;

	for (unsigned int i = 0; i < IDLE_CAUSES; i++)
		outside_ns += kind_of[i] == OUTSIDE ? ns[i] : 0;
	for (unsigned int i = 0; i < IDLE_CAUSES; i++) {
		unsigned int kind = kind_in(i, &dry, ns, outside_ns);

		if (kind < LOSS_KINDS)
			total[kind] += ns[i];
	}
	for (unsigned int kind = 0; !err && kind < LOSS_KINDS; kind++) {
		uint64_t part[IDLE_CAUSES];
		struct dry call;

		if (!total[kind])
			continue;
		call = kind == dry.kind ? dry : find_call(gap, who, kind);
		for (unsigned int i = 0; i < IDLE_CAUSES; i++)
			part[i] = kind_in(i, &dry, ns, outside_ns) == kind ? ns[i] : 0;
		err = add_part(l, gap, &call, part, total[kind]);
	}
	return err;
}

int losses_copy(struct losses *to, const struct losses *from)
{
	to->before_ns = from->before_ns;
	to->base_ns = from->base_ns;
	to->epoch_ns = from->epoch_ns;
	for (size_t i = 0; i < from->all.n; i++) {
		struct loss *row = VEC_PUSH(&to->all);

		if (!row)
			return -ENOMEM;
		*row = from->all.v[i];
	}
	return 0;
}

void losses_free(struct losses *l)
{
	VEC_FREE(&l->all);
	*l = (struct losses){ 0 };
}

uint64_t losses_late_ns(const struct losses *l, const struct loss *row, uint64_t now_ns)
{
	uint64_t half = now_ns > l->base_ns ? (now_ns - l->base_ns) / 2 : 0, late = 0;

	for (unsigned int i = 0; l->epoch_ns && i < LOSS_EPOCHS; i++)
		if (i * l->epoch_ns >= half)
			late += row->epoch_ns[i];
	return late;
}
