// SPDX-License-Identifier: BSD-3-Clause
/* See the header. */
#include "source/helper/helper_dark.h"

#include "base/num.h"

int helper_dark_lost(struct helper_lost *told, const struct helper_lost *now, pid_t pid, uint64_t start_ns,
		     uint64_t end_ns, const struct event_sink *sink)
{
	const struct event ev = { .kind = EVENT_UNSEEN, .pid = (uint32_t)pid, .unseen.why = UNSEEN_LOST,
				  .unseen.of = (now->works > told->works ? UNSEEN_OF_WORKS : 0) |
					  (now->memory > told->memory ? UNSEEN_OF_MEMORY : 0),
				  .start_ns = start_ns, .end_ns = end_ns };

	*told = *now;
	return ev.unseen.of && start_ns < end_ns ? sink->push(sink->ctx, &ev) : 0;
}

void helper_dark_begin(struct helper_dark *d, uint64_t since_ns, bool away)
{
	if (d->since_ns)
		return;
	d->since_ns = since_ns;
	d->away = away;
}

void helper_dark_late(struct helper_dark *d, uint64_t told_ns, uint64_t claim_ns)
{
	d->over_ns = num_max(d->over_ns, told_ns);
	helper_dark_begin(d, num_max(told_ns, claim_ns), true);
}

static int tell(struct helper_dark *d, pid_t pid, uint64_t until_ns, const struct event_sink *sink)
{
	const struct event ev = { .kind = EVENT_UNSEEN, .pid = (uint32_t)pid, .unseen.why = UNSEEN_UNKNOWN,
				  .start_ns = d->since_ns, .end_ns = until_ns };

	if (!d->since_ns || until_ns <= d->since_ns)
		return 0;
	if (d->away)
		d->away_ns += until_ns - d->since_ns;
	d->since_ns = until_ns;
	return sink->push(sink->ctx, &ev);
}

int helper_dark_end(struct helper_dark *d, pid_t pid, uint64_t until_ns, const struct event_sink *sink)
{
	int err = tell(d, pid, until_ns, sink);

	d->since_ns = 0;
	return err;
}

int helper_dark_told(struct helper_dark *d, pid_t pid, uint64_t told_ns, uint64_t now_ns,
		     const struct event_sink *sink)
{
	if (d->since_ns && told_ns > d->over_ns)
		return helper_dark_end(d, pid, told_ns, sink);
	return now_ns > d->since_ns && now_ns - d->since_ns >= HELPER_DARK_EVERY_NS ?
	       tell(d, pid, now_ns, sink) : 0;
}
