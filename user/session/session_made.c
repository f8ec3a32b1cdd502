// SPDX-License-Identifier: BSD-3-Clause
/*
 * What the session's model knows that a capture file begins with which begins in its middle: which launches
 * wait for works, and the nodes of graphs; of those that are new then once more when all is known.
 */
#include "base/num.h"
#include "session/session_internal.h"

#define MADE_LATE_NS 3000000000ull	/* of a node all that is ever told has been told by then */

static int put(void *keep, const struct event *ev)
{
	return keep_push(keep, ev);
}

int made_begin(void *ctx, uint64_t before_ns, const struct event_sink *to)
{
	struct session *s = ctx;
	int err = model_put_open(s->tap.model, JOIN_OPEN_AWAITED, before_ns, to);

	s->begun_ns = s->tap.watermark_ns;
	if (!err)
		err = model_put_made(s->tap.model, 0, to);
	return err ? err : model_put_open(s->tap.model, JOIN_OPEN_GRAPHS, before_ns, to);
}

/* When a node was told, its call, or what was open in it, may not have been yet. */
int made_tell(struct session *s)
{
	const uint64_t since_ns = s->begun_ns - num_min(s->begun_ns, MADE_LATE_NS);

	if (!s->begun_ns || s->tap.watermark_ns < s->begun_ns + MADE_LATE_NS)
		return 0;
	s->begun_ns = 0;
	return model_put_made(s->tap.model, since_ns, &(struct event_sink){ put, s->tap.keep });
}
