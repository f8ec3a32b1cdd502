// SPDX-License-Identifier: BSD-3-Clause
/* A list of calls by time, and one of functions, of which a process uses few. */
#include "join/copies.h"

#include <errno.h>

#include "base/num.h"
#include "base/sorted.h"
#include "join/join.h"

#define CALLS_MAX 8192
#define CALLS_FIRST 2048	/* before any record came: there may be no helper */
#define WAYS_MAX 128
#define NEAR 64			/* calls of other threads, between two of one */
#define NEVER UINT8_MAX		/* a size that no call has */

void copies_free(struct copies *c, struct join_room *room)
{
	join_room_give(room, c->calls.cap * sizeof(c->calls.v[0]));
	VEC_FREE(&c->calls);
	VEC_FREE(&c->ways);
}

static uint64_t middle_of(uint64_t start_ns, uint64_t end_ns)
{
	return start_ns + (end_ns - start_ns) / 2;
}

static uint8_t size_down(uint64_t bytes)
{
	return bytes ? (uint8_t)(64 - __builtin_clzll(bytes)) : 0;
}

static uint8_t size_up(uint64_t bytes)
{
	return bytes <= 1 ? 1 : (uint8_t)(1 + size_down(bytes - 1));
}

/* ---- calls ---------------------------------------------------------------------------------- */

/* A set has no direction. */
static bool may_be_certain(const struct event *call)
{
	const bool goes = !(call->has & HAS_DIR) || (call->dir >= COPY_H2D && call->dir <= COPY_D2D);

	return call->has & HAS_BYTES && call->bytes && !(call->has & HAS_RESULT && call->result) && goes;
}

/* Those that no record is held against any more. */
static void drop_aged(struct copies *c, uint64_t now_ns)
{
	const size_t gone = SORTED_BELOW(c->calls.v, c->calls.n, end_ns, now_ns - num_min(now_ns, JOIN_WINDOW_NS));

	VEC_DROP_FIRST(&c->calls, gone);
}

int copies_note_call(struct copies *c, struct join_room *room, const struct event *call)
{
	const size_t cap = c->calls.cap;
	struct copy_call *at;

	if (c->managed || !may_be_certain(call))
		return 0;
	if (c->calls.n && c->calls.n == cap)
		drop_aged(c, call->end_ns);
	if (join_room_refuses(room, c->calls.n, cap, c->ways.n ? CALLS_MAX : CALLS_FIRST, sizeof(*at)))
		VEC_DROP_FIRST(&c->calls, c->calls.n / 2);
	at = VEC_PUSH(&c->calls);
	if (!at)
		return -ENOMEM;
	join_room_take(room, (c->calls.cap - cap) * sizeof(*at));
	*at = (struct copy_call){ .start_ns = call->start_ns, .end_ns = call->end_ns, .tid = call->tid,
				  .size = size_down(call->bytes),
				  .dir = call->has & HAS_DIR ? call->dir : 0 };
	return 0;
}

/* The one in which the thread was then; NULL: none is known. */
static const struct copy_call *find_call(const struct copies *c, uint32_t tid, uint64_t at_ns)
{
	const size_t first = SORTED_BELOW(c->calls.v, c->calls.n, end_ns, at_ns);

	for (size_t i = first; i < c->calls.n && i < first + NEAR; i++)
		if (c->calls.v[i].tid == tid && c->calls.v[i].start_ns <= at_ns &&
		    at_ns <= c->calls.v[i].end_ns)
			return &c->calls.v[i];
	return NULL;
}

/* ---- functions ------------------------------------------------------------------------------- */

/* 1 + index; 0: there are too many; or -ENOMEM. */
static int find_way(struct copies *c, const struct event *api)
{
	struct copy_way *way;

	for (size_t i = 0; i < c->ways.n; i++)
		if (c->ways.v[i].func == api->func && c->ways.v[i].domain == api->dir)
			return (int)i + 1;
	if (c->ways.n == WAYS_MAX)
		return 0;
	way = VEC_PUSH(&c->ways);
	if (!way)
		return -ENOMEM;
	*way = (struct copy_way){ .since_ns = UINT64_MAX, .func = api->func, .domain = api->dir };
	return (int)c->ways.n;
}

int copies_note_api(struct copies *c, const struct event *api, struct copy_launch *out)
{
	const struct copy_call *call;
	int way = find_way(c, api);

	if (way <= 0)
		return way;
	call = find_call(c, api->tid, middle_of(api->start_ns, api->end_ns));
	*out = (struct copy_launch){ .way = (uint8_t)way, .size = call ? call->size : 0,
				     .dir = call ? call->dir : 0 };
	return 0;
}

/* The kind of host memory is not known where it is managed; and of copies within devices there is none. */
static bool is_on_host(unsigned int dir)
{
	return dir == COPY_H2D || dir == COPY_D2H;
}

void copies_note_work(struct copies *c, const struct copy_launch *launch, uint64_t start_ns,
		      const struct work *work)
{
	const bool peer = work->kind == WORK_KIND_PEER;
	unsigned int dir = peer ? COPY_D2D : work->has & WORK_HAS_DIR ? work->dir : 0;
	unsigned int memory = work->memory;
	struct copy_way *way;
	uint8_t *least;

	if (!launch->way || dir > COPY_D2D || memory > MEMORY_PINNED || !work->bytes)
		return;
	if (work->kind != WORK_KIND_SET && dir == COPY_H2H)	/* or not known */
		return;
	way = &c->ways.v[launch->way - 1];
	way->since_ns = num_min(way->since_ns, start_ns);
	least = &way->least[dir][memory];
	if (is_on_host(dir) && memory == MEMORY_UNKNOWN)
		*least = NEVER;
	else if (!*least || size_up(work->bytes) < *least)
		*least = size_up(work->bytes);
}

/* Works of each kind of memory that was used. */
static bool is_enough(const uint8_t least[3], unsigned int size)
{
	bool any = false;

	for (unsigned int memory = 0; memory < 3; memory++) {
		if (least[memory] > size)
			return false;
		any |= least[memory] != 0;
	}
	return any;
}

bool copies_are_certain(const struct copies *c, const struct copy_launch *launch, uint32_t tid,
			uint64_t start_ns, uint64_t end_ns)
{
	const struct copy_way *way = launch->way ? &c->ways.v[launch->way - 1] : NULL;
	unsigned int size = launch->size, dir = launch->dir;

	if (!way || c->managed || way->since_ns >= start_ns)
		return false;
	if (!size) {		/* the probe's may have come later */
		const struct copy_call *call = find_call(c, tid, middle_of(start_ns, end_ns));

		size = call ? call->size : 0;
		dir = call ? call->dir : 0;
	}
	return size && is_enough(way->least[dir], size);
}
