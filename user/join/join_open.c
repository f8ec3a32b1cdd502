// SPDX-License-Identifier: BSD-3-Clause
/*
 * What is open. Where others read on: the launches whose works they may meet, as events; here: since when
 * works may run that nobody told.
 */
#include "base/num.h"
#include "join/join_state.h"

#define GRAPH_LATE_NS 3000000000ull	/* works of one graph are not told further apart */

void join_goes_on(struct join *j)
{
	j->goes_on = true;
}

static bool is_open(const struct side_launch *l, enum join_open which, uint64_t latest_ns)
{
	if (which == JOIN_OPEN_AWAITED)
		return l->awaited;
	return !l->awaited && l->is_graph && num_add(l->used_ns, GRAPH_LATE_NS) > latest_ns;
}

static int put_open(const struct process *p, enum join_open which, uint64_t latest_ns,
		    uint64_t before_ns, const struct event_sink *to)
{
	int err = 0;

	for (uint64_t i = p->launches.next; i-- > p->launches.first && !err;) {
		const struct side_launch *l = launches_at(&p->launches, i);
		struct event ev = { .kind = EVENT_API, .has = HAS_END, .pid = p->pid, .tid = l->launch.tid,
				    .start_ns = l->launch.start_ns, .end_ns = l->launch.end_ns };

		if (num_add(l->launch.start_ns, JOIN_WINDOW_NS) <= latest_ns)
			break;		/* all before are as old */
		if (l->launch.start_ns >= before_ns || !is_open(l, which, latest_ns))
			continue;
		ev.seq = launches_correlation(&p->launches, i);
		EVENT_AGAIN(&ev) = 1;
		err = to->push(to->ctx, &ev);
	}
	return err;
}

int join_put_open(const struct join *j, enum join_open which, uint64_t before_ns,
		  const struct event_sink *to)
{
	int err = 0;

	for (size_t i = 0; i < j->all.n && !err; i++) {
		const struct process *p = j->all.v[i];

		err = put_open(p, which, num_max(p->latest_ns, j->watermark_ns), before_ns, to);
	}
	return err;
}

static int tell_unended(const struct join *j, const struct process *p, uint64_t start_ns, uint64_t end_ns)
{
	struct join_unended what = { .pid = p->pid };

	if (!j->sink.unended || !streams_unended(&p->fates.streams, &what.tid, &what.since_ns))
		return 0;
	start_ns = num_max(what.since_ns, start_ns);
	return start_ns < end_ns ? j->sink.unended(j->sink.ctx, &what, start_ns, end_ns) : 0;
}

int join_tell_unended(const struct join *j, const struct process *p, uint64_t end_ns)
{
	return tell_unended(j, p, p->told_ns, end_ns);
}

int join_tell_unended_again(const struct join *j, const struct process *p)
{
	return tell_unended(j, p, 0, p->told_ns);
}
