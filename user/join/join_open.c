// SPDX-License-Identifier: BSD-3-Clause
/*
 * What is open: since when works may run that nobody told.
 */
#include "base/num.h"
#include "join/join_state.h"

void join_goes_on(struct join *j)
{
	j->goes_on = true;
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
