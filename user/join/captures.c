// SPDX-License-Identifier: BSD-3-Clause
/* Two lists by time, each nearly in order as it comes. */
#include "join/captures.h"

#include <errno.h>
#include <string.h>

#include "base/sorted.h"

#define CALLS_MAX 65536
#define MARKS_MAX 4096		/* few: one that comes late moves those after it */
#define NEAR 64			/* calls of other threads, between two of one */

void captures_free(struct captures *c, struct join_room *room)
{
	join_room_give(room, c->calls.cap * sizeof(c->calls.v[0]));
	VEC_FREE(&c->calls);
	VEC_FREE(&c->marks);
}

size_t captures_want(const struct captures *c)
{
	return c->calls.n < c->calls.cap || c->calls.n >= CALLS_MAX ? 0 :
	       c->calls.cap * sizeof(c->calls.v[0]);
}

int captures_add_call(struct captures *c, struct join_room *room, const struct capture_call *call)
{
	const size_t cap = c->calls.cap;
	struct capture_call *at;

	if (join_room_refuses(room, c->calls.n, cap, CALLS_MAX, sizeof(*at)))
		VEC_DROP_FIRST(&c->calls, c->calls.n / 2);
	at = VEC_PUSH(&c->calls);
	if (!at)
		return -ENOMEM;
	join_room_take(room, (c->calls.cap - cap) * sizeof(*at));
	*at = *call;
	return 0;
}

bool captures_have_call(const struct captures *c, uint32_t tid, uint64_t at_ns)
{
	const size_t first = SORTED_BELOW(c->calls.v, c->calls.n, end_ns, at_ns);

	for (size_t i = first; i < c->calls.n && i < first + NEAR; i++)
		if (c->calls.v[i].tid == tid && c->calls.v[i].start_ns <= at_ns &&
		    at_ns <= c->calls.v[i].end_ns)
			return true;
	return false;
}

int captures_mark(struct captures *c, uint64_t ns, bool ends)
{
	size_t at;

	if (c->marks.n >= MARKS_MAX)
		VEC_DROP_FIRST(&c->marks, c->marks.n / 2);
	at = SORTED_UP_TO(c->marks.v, c->marks.n, ns, ns);
	if (!VEC_PUSH(&c->marks))
		return -ENOMEM;
	memmove(c->marks.v + at + 1, c->marks.v + at, (c->marks.n - 1 - at) * sizeof(c->marks.v[0]));
	c->marks.v[at] = (struct capture_mark){ ns, ends };
	return 0;
}

bool captures_are_at(const struct captures *c, uint64_t ns)
{
	const size_t next = SORTED_UP_TO(c->marks.v, c->marks.n, ns, ns);

	return (next && !c->marks.v[next - 1].ends) || (next < c->marks.n && c->marks.v[next].ends);
}
