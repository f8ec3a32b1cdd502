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
	copies_free(&f->copies, room);
	streams_free(&f->streams);
	graph_works_free(&f->graphs, room);
	VEC_FREE(&f->awaiting);
}

static uint64_t middle_of(uint64_t start_ns, uint64_t end_ns)
{
	return start_ns + (end_ns - start_ns) / 2;
}

int fates_note_api(struct fates *f, const struct event *api, unsigned int roles)
{
	int err = 0;

	if (roles & (API_CAPTURE | API_CAPTURED))
		err = captures_mark(&f->captures, roles & API_CAPTURE ? api->start_ns : api->end_ns,
				    roles & API_CAPTURED);
	if (!err && roles & API_SYNC)
		err = streams_note_sync(&f->streams, api->tid, api->start_ns);
	return err;
}

bool fates_was_captured(const struct fates *f, const struct event *api)
{
	return captures_have_call(&f->captures, api->tid, middle_of(api->start_ns, api->end_ns));
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
	counts->met += by->awaited || by->untold;
	counts->untold -= by->untold;
	by->awaited = by->untold = false;
	by->began_ns = by->began_ns ? num_min(by->began_ns, work->start_ns) : work->start_ns;
	by->used_ns = num_max(by->used_ns, work->end_ns);
	copies_note_work(&f->copies, &by->copy, by->launch.start_ns, work->work);
	counts->nodes += work->work->graph_node != 0;
	return streams_note_work(&f->streams, &by->launch, work->work);
}

/* ---- nodes of graphs ------------------------------------------------------------------------- */

struct judging {
	struct fates *f;
	const struct fates_teller *to;
};

static bool has_waited(void *ctx, const struct graph_works_launch *launch, uint32_t context)
{
	const struct judging *j = ctx;

	return streams_have_waited(&j->f->streams, launch->tid, context, launch->start_ns, launch->end_ns);
}

static int note_lack(void *ctx, const struct graph_works_lack *lack)
{
	const struct judging *j = ctx;
	const struct fates_teller *to = j->to;
	struct join_counts *counts = to->counts;
	enum join_graphs run = lack->varies ? JOIN_GRAPHS_SOME : JOIN_GRAPHS_UNKNOWN;

	if (!lack->is_over || lack->start_ns <= num_max(j->f->unsure_ns, to->launches->cut_ns))
		run = JOIN_GRAPHS_SOME;
	else if (!lack->varies && to->sink->graphs_run)
		run = to->sink->graphs_run(to->sink->ctx, to->pid);
	if (run == JOIN_GRAPHS_SOME)
		counts->nodes_open += lack->works;
	else if (run == JOIN_GRAPHS_UNKNOWN)
		counts->nodes_unsure += lack->works;
	else
		counts->nodes_lost += lack->works;
	if (!lack->is_over || lack->varies)
		return 0;
	if (run != JOIN_GRAPHS_ALL)
		return 1;
	return to->sink->untold ? to->sink->untold(to->sink->ctx, to->pid, lack->start_ns, lack->end_ns) : 0;
}

static struct graph_works_judge judge_of(struct judging *j)
{
	return (struct graph_works_judge){ has_waited, note_lack, j };
}

int fates_note_node(struct fates *f, struct side_launch *by, const struct event *work,
		    const struct fates_teller *to)
{
	const struct graph_works_judge judge = judge_of(&(struct judging){ f, to });

	return by->is_whole && work->work->graph_node ?
	       graph_works_note(&f->graphs, to->room, &by->launch, &by->graph_launch, work, &judge) : 0;
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

/* When the first work began that its thread launched later, as far as it has come; else its end. */
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
	return i < end ? num_max(launches_at(l, i)->began_ns, launch->end_ns) : launch->end_ns;
}

static bool gives_work(const struct fates *f, const struct side_launch *at)
{
	return at->is_kernel || copies_are_certain(&f->copies, &at->copy, at->launch.tid,
						   at->launch.start_ns, at->launch.end_ns);
}

/* No work came of it, and it is not waited for any longer. */
static int decide(struct fates *f, const struct launches *l, uint64_t number,
		  const struct fates_teller *to)
{
	struct side_launch *at = launches_at(l, number);
	const bool gives = gives_work(f, at);

	if (captures_are_at(&f->captures, middle_of(at->launch.start_ns, at->launch.end_ns))) {
		was_captured(at, to->counts);
		return 0;
	}
	if (at->is_copy && !gives)
		return 0;
	if (!streams_are_past(&f->streams, &at->launch))
		return streams_note_given_up(&f->streams, &at->launch);
	if (!gives)
		return 0;
	at->awaited = false;
	at->untold = true;
	to->counts->untold++;
	return !to->sink->untold ? 0 : to->sink->untold(to->sink->ctx, to->pid, at->launch.start_ns,
							next_began(f, l, number));
}

static int decide_graphs(struct fates *f, uint64_t floor_ns, const struct fates_teller *to, uint64_t *first_ns)
{
	const struct graph_works_judge judge = judge_of(&(struct judging){ f, to });
	uint64_t lacks_ns;
	int err = graph_works_decide(&f->graphs, to->room, to->goes_on ? 0 : floor_ns, &judge, &lacks_ns);

	*first_ns = num_min(*first_ns, lacks_ns);
	return err;
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
			err = decide(f, l, number, to);
		if (!at->awaited || (!to->goes_on && at->launch.start_ns < floor_ns))
			continue;
		f->awaiting.v[kept++] = f->awaiting.v[i];
		*first_ns = num_min(*first_ns, at->launch.start_ns);
	}
	f->awaiting.n = kept;
	return err ? err : decide_graphs(f, floor_ns, to, first_ns);
}
