// SPDX-License-Identifier: BSD-3-Clause
/*
 * What the kernel counted, as events: once at the end of a session, and so far where a capture file
 * ends before it.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/log.h"
#include "session/session_internal.h"
#include "event/names.h"
#include "probe/loader_read.h"

static const char *const kinds[GP_KINDS] = {
	[GP_CALL] = "call", [GP_ENTER] = "enter", [GP_OPEN] = "open",
	[GP_TASK_NEW] = "thread", [GP_TASK_EXIT] = "exit", [GP_TASK_FORK] = "fork",
	[GP_TASK_EXEC] = "exec", [GP_STACK] = "stack",
	[GP_OFF] = "off",
};

static void put_count(const struct event_sink *to, const char *kind, uint64_t hits,
		      uint64_t received, uint64_t lost)
{
	to->push(to->ctx, &(struct event){ .kind = EVENT_COUNT, .count.source = "uprobe",
					   .count.kind = kind,
					   .count.hits = hits, .count.received = received,
					   .count.lost = lost });
}

static void put_fact(const struct event_sink *to, const char *key, uint64_t n)
{
	char value[24];

	snprintf(value, sizeof(value), "%" PRIu64, n);
	to->push(to->ctx, &(struct event){ .kind = EVENT_FACT, .fact.key = key,
					   .fact.value = value });
}

static void put_counts(const struct session *s, const struct gp_counts *c,
		       const struct event_sink *to)
{
	const uint64_t counters[COUNTER_END] = {
		[COUNTER_NESTED] = c->nested, [COUNTER_REACHED] = c->reached,
		[COUNTER_ABANDONED] = c->abandoned, [COUNTER_FOREIGN] = c->foreign,
		[COUNTER_UNFOLLOWED] = c->unfollowed,
	};

	for (int k = 1; k < GP_KINDS; k++)
		put_count(to, kinds[k], c->hits[k], s->live.received[k], c->lost[k]);
	if (c->no_state)
		put_count(to, "unplaced", c->no_state, 0, c->no_state);
	if (s->live.invalid)
		put_count(to, "malformed", s->live.invalid, 0, s->live.invalid);
	if (s->live.skipped)
		put_count(to, "unknown", s->live.skipped, 0, s->live.skipped);
	for (size_t i = 0; i < COUNTER_END; i++)
		put_fact(to, counter_name(i), counters[i]);
}

static void check_counts(const struct session *s, const struct gp_counts *c)
{
	for (int k = 1; k < GP_KINDS; k++)
		if (c->hits[k] != s->live.received[k] + c->lost[k])
			log_warn("%s records do not add up: %" PRIu64 " hits, %" PRIu64
				 " received, %" PRIu64 " lost; please report this", kinds[k],
				 c->hits[k], s->live.received[k], c->lost[k]);
	if (c->unfollowed)
		log_warn("%" PRIu64 " child processes were not followed: more than 65,536 at a time "
			 "are not; give -a", c->unfollowed);
	if (s->live.invalid || s->live.skipped)
		log_warn("%" PRIu64 " malformed records and %" PRIu64 " of unknown kinds came from the "
			 "kernel side; please report this", s->live.invalid, s->live.skipped);
}

/* The kernel's counters, and of what they count what the worker has received. */
static int read_counters(struct session *s, struct gp_counts *c)
{
	s->live.received[GP_STACK] = worker_stacks_received(s->worker);
	return loader_counts(s->loader, c);
}

void counts_push(struct session *s)
{
	struct gp_counts c;

	if (read_counters(s, &c))
		return;
	check_counts(s, &c);
	put_counts(s, &c, &s->sink);
}

static int put_kept(void *ctx, const struct event *ev)
{
	return capture_sink_push(ctx, ev);
}

void counts_cut(void *ctx)
{
	struct session *s = ctx;
	const struct event_sink to = { put_kept, s->tap.keep };
	struct gp_counts c;

	helpers_push_count(s, &to);
	if (!s->loader || read_counters(s, &c))
		return;
	/* A hit that is neither received nor lost is on its way, and the next file's. */
	for (int k = 1; k < GP_KINDS; k++)
		c.hits[k] = s->live.received[k] + c.lost[k];
	put_counts(s, &c, &to);
}
