// SPDX-License-Identifier: BSD-3-Clause
/* Which cause a class of calls is: a table. */
#include "ledger/idle.h"

#include "base/num.h"

static const uint8_t cause_of[BUCKET_END] = {
	[CLASS_OTHER] = IDLE_OTHER, [CLASS_LAUNCH] = IDLE_LAUNCH, [CLASS_SYNC] = IDLE_SYNC,
	[CLASS_COPY] = IDLE_COPY_HOST, [CLASS_SET] = IDLE_SET, [CLASS_ALLOC] = IDLE_ALLOC,
	[CLASS_FREE] = IDLE_ALLOC, [CLASS_EVENT] = IDLE_EVENT, [CLASS_STREAM] = IDLE_STREAM,
	[CLASS_GRAPH] = IDLE_GRAPH, [CLASS_COMPILE] = IDLE_COMPILE,
	[CLASS_COLLECTIVE] = IDLE_COMM_HOST, [CLASS_INIT] = IDLE_INIT,
	[CLASS_LIBRARY] = IDLE_LIBRARY, [CLASS_QUERY] = IDLE_QUERY, [BUCKET_LOST] = IDLE_LOST,
	[BUCKET_UNARMED] = IDLE_UNARMED, [BUCKET_UNKNOWN] = IDLE_UNKNOWN,
	[BUCKET_OFF_0 + OFF_RUNQUEUE] = IDLE_RUNQUEUE, [BUCKET_OFF_0 + OFF_DISK] = IDLE_DISK,
	[BUCKET_OFF_0 + OFF_IO] = IDLE_IO, [BUCKET_OFF_0 + OFF_LOCK] = IDLE_LOCK,
	[BUCKET_OFF_0 + OFF_PAGE_FAULT] = IDLE_PAGE_FAULT,
	[BUCKET_OFF_0 + OFF_SLEEP] = IDLE_SLEEP, [BUCKET_OFF_0 + OFF_OTHER] = IDLE_OFF_CPU,
	[BUCKET_OFF_0 + OFF_STOPPED] = IDLE_STOPPED,
};

struct launching {
	uint64_t start_ns, end_ns;
	unsigned int class;
};

/* The call that launched: as probes saw it, or the one that the thread is in now, or CUPTI's
 * record. */
static struct launching find_call(const struct device_work *work, const struct idle_thread *who)
{
	uint64_t start = work->launch_start_ns, end = num_max(work->launch_end_ns, start);

	if (work->call_class != CLASS_OTHER)
		return (struct launching){ device_work_call_start(work), device_work_call_end(work),
					   work->call_class };
	if (who && num_middle(start, end) >= who->now_ns && who->now < CLASS_END &&
	    who->now != CLASS_OTHER)
		return (struct launching){ who->now_ns, UINT64_MAX, who->now };
	return (struct launching){ start, end, CLASS_LAUNCH };
}

/* The time in the launching call is its class's, except when it was late. */
static void divide_inside(unsigned int class, uint64_t from, uint64_t to, const struct timeline *t,
			  uint64_t *ns)
{
	uint64_t by_bucket[BUCKET_END] = { 0 };
	bool has_own_cause = class == CLASS_COPY || class == CLASS_COLLECTIVE;

	if (t)
		timeline_sum(t, from, to, NULL, by_bucket);
	for (unsigned int i = BUCKET_OFF_0; i < BUCKET_END; i++) {
		ns[cause_of[i]] += by_bucket[i];
		to -= by_bucket[i];
	}
	ns[has_own_cause ? cause_of[class] : IDLE_LAUNCH] += to - from;
}

static void divide_before(uint64_t from, uint64_t to, const struct idle_thread *who, uint64_t *ns)
{
	uint64_t known = num_max(from, num_min(who->now_ns, to)), by_bucket[BUCKET_END] = { 0 };

	if (who->now == CLASS_OTHER)
		known = to;
	timeline_sum(who->timeline, from, known, who->unarmed, by_bucket);
	by_bucket[who->now] += to - known;
	for (unsigned int i = 0; i < BUCKET_END; i++)
		ns[cause_of[i]] += by_bucket[i];
}

/* A gap up to the launching call's end: what samples say of it, and the calls of the rest. */
struct dividing {
	const struct device_work *ended_by;
	const struct idle_thread *who;	/* NULL: unknown */
	struct launching call;		/* cut to the gap */
	uint64_t at_ns, end_ns;
	uint64_t *ns;
};

static void divide_to(struct dividing *d, uint64_t to)
{
	const uint64_t from = d->at_ns, enter = num_min(num_max(d->call.start_ns, from), to);

	if (enter < to)
		divide_inside(d->call.class, enter, to,
			      d->who && d->ended_by->call_class != CLASS_OTHER ?
				      d->who->timeline : NULL,
			      d->ns);
	if (d->who && from < enter)
		divide_before(from, enter, d->who, d->ns);
	else
		d->ns[IDLE_UNKNOWN] += enter - from;
	d->at_ns = to;
}

static void on_sampled(void *ctx, const struct timeline_span *span)
{
	struct dividing *d = ctx;
	const uint64_t end = num_min(span->end_ns, d->end_ns);

	divide_to(d, num_max(span->start_ns, d->at_ns));
	d->ns[cause_of[span->bucket]] += end - d->at_ns;
	d->at_ns = end;
}

void idle_divide(const struct device_gap *gap, const struct idle_thread *who,
		 uint64_t ns[IDLE_CAUSES])
{
	struct dividing d = { gap->ended_by, who, .at_ns = gap->start_ns, .ns = ns };
	uint64_t from = gap->start_ns, to = gap->end_ns, enter;

	if (from >= to)
		return;
	if (!gap->ended_by || !gap->ended_by->has_launch) {
		ns[gap->ended_by ? IDLE_UNKNOWN : IDLE_NO_WORK] += to - from;
		return;
	}
	d.call = find_call(gap->ended_by, who);
	enter = num_min(num_max(d.call.start_ns, from), to);
	d.end_ns = num_min(num_max(d.call.end_ns, enter), to);
	ns[IDLE_QUEUED] += to - d.end_ns;
	if (who && who->sampled)
		timeline_each(who->sampled, from, d.end_ns, on_sampled, &d);
	divide_to(&d, d.end_ns);
}
