// SPDX-License-Identifier: BSD-3-Clause
/* Pure but for the filters of a process, which procfs counts; the helper has written down how many
 * there were when it came. */
#include "source/helper/life.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/num.h"
#include "host/proc.h"

int helper_gap_lost(struct helper_lost *counted, const struct helper_lost *now, pid_t pid,
		    uint64_t start_ns, uint64_t end_ns, const struct event_sink *sink)
{
	const struct event ev = { .kind = EVENT_UNSEEN,
				  .pid = (uint32_t)pid,
				  .unseen.why = UNSEEN_LOST,
				  .unseen.of =
					  (now->works > counted->works ? UNSEEN_OF_WORKS : 0) |
					  (now->memory > counted->memory ? UNSEEN_OF_MEMORY : 0),
				  .start_ns = start_ns,
				  .end_ns = end_ns };

	*counted = *now;
	return ev.unseen.of && start_ns < end_ns ? sink->push(sink->ctx, &ev) : 0;
}

void helper_gap_begin(struct helper_gap *d, uint64_t since_ns, bool away)
{
	if (d->since_ns)
		return;
	d->since_ns = since_ns;
	d->away = away;
}

static int push_gap(struct helper_gap *d, pid_t pid, uint64_t until_ns,
		    const struct event_sink *sink)
{
	const struct event ev = { .kind = EVENT_UNSEEN,
				  .pid = (uint32_t)pid,
				  .unseen.why = UNSEEN_UNKNOWN,
				  .start_ns = d->since_ns,
				  .end_ns = until_ns };

	if (!d->since_ns || until_ns <= d->since_ns)
		return 0;
	if (d->away)
		d->away_ns += until_ns - d->since_ns;
	d->since_ns = until_ns;
	return sink->push(sink->ctx, &ev);
}

int helper_gap_end(struct helper_gap *d, pid_t pid, uint64_t until_ns,
		   const struct event_sink *sink)
{
	int err = push_gap(d, pid, until_ns, sink);

	d->since_ns = 0;
	return err;
}

int helper_gap_update(struct helper_gap *d, pid_t pid, uint64_t known_ns, uint64_t now_ns,
		     const struct event_sink *sink)
{
	if (d->since_ns && known_ns > d->over_ns)
		return helper_gap_end(d, pid, known_ns, sink);
	return now_ns > d->since_ns && now_ns - d->since_ns >= HELPER_GAP_EVERY_NS ?
	       push_gap(d, pid, now_ns, sink) : 0;
}

/* ---- the end --------------------------------------------------------------------------------- */

static uint64_t state_ns(struct helper_exit e)
{
	return e.head->state_ns - (uint64_t)e.offset_ns;
}

/* When its helper ended in order; 0: it did not, or lies. */
static uint64_t ended_ns(struct helper_exit e)
{
	return e.head->state == GP_HELPER_ENDED && state_ns(e) <= e.found_ns ? state_ns(e) : 0;
}

static uint64_t exit_ns(struct helper_exit e)
{
	uint64_t end_ns = ended_ns(e);

	return num_max(end_ns ? end_ns : e.alive_ns, num_min(e.last_ns, e.found_ns));
}

/* It ended when our lease had run out: its last records were not sent to us. */
static bool was_late(struct helper_exit e)
{
	return e.lapse_ns && e.lapse_ns <= e.head->state_ns && e.known_ns < state_ns(e);
}

uint64_t helper_exit_unknown_since(struct helper_exit e)
{
	switch (e.head->state) {
	case GP_HELPER_VIRGIN:	/* CUDA has not started */
		return e.broken ? e.known_ns : 0;
	case GP_HELPER_ENDED:	/* in order: its last records were read */
		if (was_late(e))
			return e.known_ns ? e.known_ns : e.lapse_ns - (uint64_t)e.offset_ns;
		return e.broken ? e.known_ns : 0;
	default:
		return e.known_ns ? e.known_ns : state_ns(e);
	}
}

static int push_time(const char *key, uint64_t ns, pid_t pid, const struct event_sink *sink)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, ns);
	return sink->push(sink->ctx, &(struct event){ .kind = EVENT_IDENTITY, .pid = (uint32_t)pid,
		.tid = (uint32_t)pid, .fact.key = key, .fact.value = text });
}

int helper_exit_push(struct helper_exit e, pid_t pid, const struct event_sink *sink)
{
	uint64_t ns = helper_exit_unknown_since(e) ? 0 : ended_ns(e);
	int err = 0;

	/* Until CUPTI was disabled, calls of other threads were recorded. */
	if (ns)
		err = push_time(EVENT_RECORDED_NS, num_max(ns, num_min(e.last_call_ns, e.found_ns)),
				pid, sink);
	return err ? err : push_time(EVENT_ENDED_NS, exit_ns(e), pid, sink);
}

/* ---- seccomp --------------------------------------------------------------------------------- */

static uint64_t filters_now(pid_t pid)
{
	struct proc p;
	const char *text = proc_open(&p, pid) ? NULL : proc_read(&p, PROC_STATUS, NULL);
	uint64_t n = proc_status_number(text, "Seccomp_filters");

	proc_close(&p);
	return n;
}

bool helper_is_confined(const struct gp_ring_head *head, pid_t pid)
{
	return head->state == GP_HELPER_VIRGIN && head->filters &&
	       filters_now(pid) > head->filters - 1;
}
