// SPDX-License-Identifier: BSD-3-Clause
/* A list of launches that are awaited, which those leave that are no more. */
#include "join/fates.h"

#include <errno.h>

#include "base/num.h"
#include "join/api_roles.h"

#define CAPTURED_BACK 4096	/* launches that are looked at when a call was captured */
#define AHEAD_MAX 4096		/* ... for the next one that met a work */

void fates_free(struct fates *f, struct join_room *room)
{
	captures_free(&f->captures, room);
	VEC_FREE(&f->lanes);
	map_free(&f->by_tid);
	VEC_FREE(&f->awaiting);
}

static uint64_t middle_of(uint64_t start_ns, uint64_t end_ns)
{
	return start_ns + (end_ns - start_ns) / 2;
}

bool fates_was_captured(const struct fates *f, const struct event *api)
{
	return captures_have_call(&f->captures, api->tid, middle_of(api->start_ns, api->end_ns));
}

/* ---- lanes ----------------------------------------------------------------------------------- */

/* NULL: it is not known. */
static struct lane *find_lane(struct fates *f, uint32_t tid)
{
	const struct map_slot *slot;

	if (f->last < f->lanes.n && f->lanes.v[f->last].tid == tid)
		return &f->lanes.v[f->last];
	slot = map_find(&f->by_tid, tid);
	if (!slot)
		return NULL;
	f->last = slot->value;
	return &f->lanes.v[f->last];
}

/* NULL: out of memory. */
static struct lane *find_or_make_lane(struct fates *f, uint32_t tid)
{
	struct lane *lane = find_lane(f, tid);
	struct map_slot *slot;

	if (lane)
		return lane;
	if (f->lanes.n >= FATES_LANES_MAX) {
		f->lanes.n = 0;
		map_clear(&f->by_tid);
	}
	slot = map_put(&f->by_tid, tid, NULL);
	lane = slot ? VEC_PUSH(&f->lanes) : NULL;
	if (!lane) {
		map_del(&f->by_tid, tid);
		return NULL;
	}
	slot->value = f->lanes.n - 1;
	*lane = (struct lane){ .tid = tid };
	return lane;
}

static int note_lane(struct fates *f, const struct launch *launch, const struct work *work)
{
	struct lane *lane = find_or_make_lane(f, launch->tid);
	uint64_t since_ns;

	if (!lane)
		return -ENOMEM;
	lane->met_ns = num_max(lane->met_ns, launch->start_ns);
	if (launch->end_ns >= lane->open_ns)
		lane->open_ns = 0;
	if (work->has & WORK_HAS_GRAPH && work->graph)	/* its nodes are in streams of their own */
		return 0;
	since_ns = num_max(lane->came_ns, launch->start_ns);
	if (lane->came_ns && (work->context != lane->context || work->stream != lane->stream))
		lane->stream_since_ns = since_ns;
	lane->context = work->context;
	lane->stream = work->stream;
	lane->came_ns = since_ns;
	return 0;
}

static int note_sync(struct fates *f, const struct event *api)
{
	struct lane *lane = find_or_make_lane(f, api->tid);

	if (!lane)
		return -ENOMEM;
	lane->synced_ns = num_max(lane->synced_ns, api->start_ns);
	return 0;
}

/* Is a work of its lane known that was launched after it? */
static bool is_past(struct fates *f, const struct launch *launch)
{
	const struct lane *lane = find_lane(f, launch->tid);

	if (!lane || lane->came_ns <= launch->end_ns)
		return false;
	return launch->start_ns >= lane->stream_since_ns || lane->synced_ns >= launch->end_ns;
}

static int open_lane(struct fates *f, const struct launch *launch)
{
	struct lane *lane = find_or_make_lane(f, launch->tid);

	if (!lane)
		return -ENOMEM;
	if (launch->start_ns > lane->met_ns && (!lane->open_ns || launch->end_ns < lane->open_ns))
		lane->open_ns = num_max(launch->end_ns, 1);
	return 0;
}

int fates_pass_open(const struct fates *f, const struct fates_teller *to, uint64_t start_ns, uint64_t end_ns)
{
	uint64_t first_ns = UINT64_MAX;

	for (size_t i = 0; i < f->lanes.n; i++)
		if (f->lanes.v[i].open_ns)
			first_ns = num_min(first_ns, f->lanes.v[i].open_ns);
	start_ns = num_max(start_ns, first_ns);
	return start_ns < end_ns && to->sink->unseen ?
	       to->sink->unseen(to->sink->ctx, to->pid, UNSEEN_UNKNOWN, start_ns, end_ns) : 0;
}

int fates_note_api(struct fates *f, const struct event *api, unsigned int roles)
{
	if (roles & API_SYNC)
		return note_sync(f, api);
	if (!(roles & (API_CAPTURE | API_CAPTURED)))
		return 0;
	return captures_mark(&f->captures, roles & API_CAPTURE ? api->start_ns : api->end_ns,
			     roles & API_CAPTURED);
}

/* ---- launches that are awaited --------------------------------------------------------------- */

int fates_await(struct fates *f, const struct launches *l)
{
	uint32_t *slot = VEC_PUSH(&f->awaiting);

	if (!slot)
		return -ENOMEM;
	*slot = (uint32_t)(l->next - 1);
	return 0;
}

/* The i-th of the list, and its number; NULL: it is awaited no more. */
static struct side_launch *awaited_at(const struct fates *f, const struct launches *l, size_t i,
				      uint64_t *number)
{
	struct side_launch *launch;

	*number = l->first + (uint32_t)(f->awaiting.v[i] - (uint32_t)l->first);
	launch = launches_at(l, *number);
	return *number < l->next && launch->awaited ? launch : NULL;
}

size_t fates_awaited(const struct fates *f, const struct launches *l)
{
	uint64_t number;
	size_t n = 0;

	for (size_t i = 0; i < f->awaiting.n; i++)
		n += awaited_at(f, l, i, &number) != NULL;
	return n;
}

int fates_met(struct fates *f, struct side_launch *by, const struct event *work,
	      struct join_counts *counts)
{
	counts->met += by->awaited || by->lost;
	counts->lost -= by->lost;
	by->awaited = by->lost = false;
	by->began_ns = by->began_ns ? num_min(by->began_ns, work->start_ns) : work->start_ns;
	by->used_ns = num_max(by->used_ns, work->end_ns);
	return note_lane(f, &by->launch, &work->work);
}

/* ---- those that were captured ---------------------------------------------------------------- */

static void was_captured(struct side_launch *l, struct join_counts *counts)
{
	l->awaited = false;
	counts->launches--;
	counts->captured++;
}

int fates_note_captured(struct fates *f, struct join_room *room, const struct launches *l,
			const struct event *call, struct join_counts *counts)
{
	size_t from = f->awaiting.n > CAPTURED_BACK ? f->awaiting.n - CAPTURED_BACK : 0;
	uint64_t number;

	for (size_t i = f->awaiting.n; i-- > from;) {
		struct side_launch *at = awaited_at(f, l, i, &number);
		uint64_t middle = at ? middle_of(at->launch.start_ns, at->launch.end_ns) : 0;

		if (at && at->launch.tid == call->tid && middle >= call->start_ns && middle <= call->end_ns)
			was_captured(at, counts);
	}
	return captures_add_call(&f->captures, room,
				 &(struct capture_call){ call->start_ns, call->end_ns, call->tid });
}

/* ---- the end of waiting ---------------------------------------------------------------------- */

/* When the first work began that its thread launched later, as far as it has come; 0: none has. */
static uint64_t next_began(struct fates *f, const struct launches *l, uint64_t number)
{
	const struct launch *launch = &launches_at(l, number)->launch;
	const uint64_t end = num_min(l->next, number + AHEAD_MAX);
	uint64_t i = number + 1;

	if (f->ahead.tid == launch->tid && f->ahead.from <= number && number < f->ahead.next) {
		i = f->ahead.next;
	} else {
		f->ahead.tid = launch->tid;
		f->ahead.from = number;
	}
	for (; i < end; i++) {
		const struct side_launch *at = launches_at(l, i);

		if (at->launch.tid == launch->tid && at->began_ns && at->launch.start_ns >= launch->end_ns)
			break;
	}
	f->ahead.next = i;
	return i < end ? num_max(launches_at(l, i)->began_ns, launch->end_ns) : 0;
}

/* No work came of it, and it is not waited for any longer. */
static int decide(struct fates *f, uint64_t number, bool is_end, const struct fates_teller *to)
{
	struct side_launch *at = launches_at(to->launches, number);
	const struct launch *launch = &at->launch;
	uint64_t next_ns;

	if (captures_are_at(&f->captures, middle_of(launch->start_ns, launch->end_ns))) {
		was_captured(at, to->counts);
		return 0;
	}
	if (!at->is_kernel)
		return 0;
	next_ns = next_began(f, to->launches, number);
	if (!next_ns)
		return open_lane(f, launch);
	if (is_end && !is_past(f, launch))
		return 0;
	at->awaited = false;
	at->lost = true;
	to->counts->lost++;
	return !to->sink->unseen ? 0 : to->sink->unseen(to->sink->ctx, to->pid, UNSEEN_LOST, launch->end_ns, next_ns);
}

int fates_decide(struct fates *f, uint64_t floor_ns, const struct fates_teller *to, uint64_t *first_ns)
{
	const struct launches *l = to->launches;
	size_t kept = 0;
	int err = 0;

	*first_ns = UINT64_MAX;
	for (size_t i = 0; i < f->awaiting.n; i++) {
		uint64_t number;
		const struct side_launch *at = awaited_at(f, l, i, &number);

		if (!at)
			continue;
		if (!err && at->launch.start_ns < floor_ns)
			err = decide(f, number, floor_ns == UINT64_MAX, to);
		if (!at->awaited || (!to->goes_on && at->launch.start_ns < floor_ns))
			continue;
		f->awaiting.v[kept++] = f->awaiting.v[i];
		*first_ns = num_min(*first_ns, at->launch.start_ns);
	}
	f->awaiting.n = kept;
	return err;
}
