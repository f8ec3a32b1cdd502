// SPDX-License-Identifier: BSD-3-Clause
/* See the header. */
#include "source/helper/helper_end.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/num.h"

static uint64_t state_ns(struct helper_end e)
{
	return e.head->state_ns - (uint64_t)e.offset_ns;
}

/* 0: that is not known. */
static uint64_t recorded_ns(struct helper_end e)
{
	return e.head->state == GP_HELPER_ENDED && state_ns(e) <= e.found_ns ? state_ns(e) : 0;
}

uint64_t helper_end_ns(struct helper_end e)
{
	uint64_t end_ns = recorded_ns(e);

	return num_max(end_ns ? end_ns : e.alive_ns, num_min(e.last_ns, e.found_ns));
}

/* It ended when our lease had run out: its last words were not for us. */
static bool was_late(struct helper_end e)
{
	return e.lapse_ns && e.lapse_ns <= e.head->state_ns && e.told_ns < state_ns(e);
}

uint64_t helper_end_untold_since(struct helper_end e)
{
	switch (e.head->state) {
	case GP_HELPER_VIRGIN:	/* CUDA has not started */
		return e.broken ? e.told_ns : 0;
	case GP_HELPER_ENDED:	/* in order: its last words were read */
		if (was_late(e))
			return e.told_ns ? e.told_ns : e.lapse_ns - (uint64_t)e.offset_ns;
		return e.broken ? e.told_ns : 0;
	default:
		return e.told_ns ? e.told_ns : state_ns(e);
	}
}

int helper_end_tell(struct helper_end e, pid_t pid, const struct event_sink *sink)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, helper_end_ns(e));
	return sink->push(sink->ctx, &(struct event){ .kind = EVENT_IDENTITY, .pid = (uint32_t)pid,
		.tid = (uint32_t)pid, .fact.key = EVENT_ENDED_NS, .fact.value = text });
}
