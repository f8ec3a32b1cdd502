// SPDX-License-Identifier: BSD-3-Clause
/* A process after the other: what comes looks for its other half, and waits if there is none. */
#include "join/join.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "join/join_state.h"

#define TELL_EVERY 1024		/* records of a process between two horizons */
#define TELL_EVERY_NS 100000000ull

/* ---- processes ------------------------------------------------------------------------------ */

struct join *join_new(const struct join_sink *sink)
{
	struct join *j = calloc(1, sizeof(*j));

	if (!j)
		return NULL;
	j->sink = *sink;
	j->room = (struct join_room){ JOIN_ROOM_BYTES, JOIN_TEXT_BYTES };
	api_roles_init(&j->roles);
	return j;
}

static void process_free(struct join *j, struct process *p)
{
	launches_free(&p->launches, &j->room);
	works_free(&p->works, &j->room);
	fates_free(&p->fates, &j->room);
	free(p);
}

void join_free(struct join *j)
{
	if (!j)
		return;
	for (size_t i = 0; i < j->all.n; i++)
		process_free(j, j->all.v[i]);
	VEC_FREE(&j->all);
	map_free(&j->by_pid);
	free(j);
}

static struct process *find_or_make_process(struct join *j, uint32_t pid)
{
	struct map_slot *slot = map_put(&j->by_pid, pid, NULL);
	struct process *p = slot ? (void *)(uintptr_t)slot->value : NULL, **at;

	if (!slot || p)
		return p;
	p = calloc(1, sizeof(*p));
	at = p ? VEC_PUSH(&j->all) : NULL;
	if (!at) {
		free(p);
		map_del(&j->by_pid, pid);
		return NULL;
	}
	p->pid = pid;
	*at = p;
	slot->value = (uintptr_t)p;
	return p;
}

static struct process *find_process(struct join *j, uint32_t pid)
{
	if (!j->last || j->last->pid != pid)
		j->last = find_or_make_process(j, pid);
	return j->last;
}

/* ---- works ---------------------------------------------------------------------------------- */

static bool is_outside(const struct join *j, const struct event *work)
{
	return work->end_ns < j->start_ns || (j->stop_ns && work->start_ns >= j->stop_ns);
}

/* A launch that ended before the session began: its works may have, too, and nobody would tell them. */
static bool is_before(const struct join *j, const struct event *api)
{
	return api->end_ns < j->start_ns;
}

static struct fates_teller teller(struct join *j, struct process *p)
{
	return (struct fates_teller){ &j->sink, &j->counts, &p->launches, p->pid, false };
}

static int pass_on(struct join *j, struct process *p, const struct event *work,
		   struct side_launch *by)
{
	bool outside = is_outside(j, work);
	int err;

	if (outside || (by && work->start_ns < by->launch.start_ns &&
			by->launch.start_ns - work->start_ns > JOIN_SKEW_NS)) {
		j->counts.invalid++;
		j->counts.outside += outside;
		return 0;
	}
	if (by) {
		if (fates_met(&p->fates, by, work, &j->counts))
			return -ENOMEM;
		j->counts.matched++;
		j->counts.skew += work->start_ns < by->launch.start_ns;
	}
	j->counts.orphan += !by;
	j->counts.late += work->start_ns < p->told_ns;
	err = j->sink.work(j->sink.ctx, work, by ? &by->launch : NULL);
	if (by)
		by->launch.works++;
	return err;
}

int join_give_up_first(struct join *j, struct process *p)
{
	struct side_work *w = works_at(&p->works, p->works.first);
	const struct event ev = works_event(w, p->pid);
	int err = pass_on(j, p, &ev, NULL);

	works_gone(&p->works, &j->room, w);
	return err;
}

static bool is_done(const struct side_launch *l, uint64_t aged_ns)
{
	return !l->awaited && !l->lost && l->used_ns < aged_ns;
}

static int drop_aged(struct join *j, struct process *p, uint64_t latest_ns)
{
	const uint64_t aged_ns = latest_ns > JOIN_WINDOW_NS ? latest_ns - JOIN_WINDOW_NS : 0;
	int err = 0;

	while (!err && p->works.waiting &&
	       works_at(&p->works, p->works.first)->end_ns < aged_ns)
		err = join_give_up_first(j, p);
	while (p->launches.first < p->launches.next &&
	       is_done(launches_at(&p->launches, p->launches.first), aged_ns))
		launches_drop_first(&p->launches);
	return err;
}

/* It waits, or the oldest of its process do no longer. */
static int keep_work(struct join *j, struct process *p, const struct event *ev)
{
	const size_t want = works_want(&p->works);
	int err = share_make_text_room(j, ev->work.name);

	if (!err && want)
		err = share_make_room(j, want);
	while (!err && p->works.waiting && works_full(&p->works, &j->room, ev))
		err = join_give_up_first(j, p);
	if (!err && works_full(&p->works, &j->room, ev))
		return pass_on(j, p, ev, NULL);
	if (!err)
		err = works_add(&p->works, &j->room, ev);
	if (want)
		share_note_size(j, p);
	return err;
}

/* The program that the process executed then counts its launches from 1, as the one before had. */
static bool is_one_program(const struct process *p, uint64_t launched_ns, uint64_t worked_ns)
{
	return (launched_ns < p->exec_ns) == (worked_ns < p->exec_ns);
}

static int push_work(struct join *j, struct process *p, const struct event *ev)
{
	struct side_launch *by = launches_find(&p->launches, ev->work.correlation);

	if (by && !is_one_program(p, by->launch.start_ns, ev->start_ns))
		by = NULL;
	return by || is_outside(j, ev) ? pass_on(j, p, ev, by) : keep_work(j, p, ev);
}

/* ---- launches ------------------------------------------------------------------------------- */

/* Two records of one launch: the outer one's times are its. */
static bool widen(struct side_launch *known, const struct event *api)
{
	struct launch *l = &known->launch;

	if (l->tid != api->tid || api->start_ns > l->end_ns || l->start_ns > api->end_ns)
		return false;
	l->start_ns = num_min(l->start_ns, api->start_ns);
	l->end_ns = num_max(l->end_ns, api->end_ns);
	return true;
}

static int add_launch(struct join *j, struct process *p, uint32_t correlation, struct side_launch **by)
{
	const size_t want = launches_want(&p->launches);
	int err = want ? share_make_room(j, want) : 0;

	if (err)
		return err;
	*by = launches_add(&p->launches, &j->room, correlation);
	if (!*by)
		return -ENOMEM;
	if (want)
		share_note_size(j, p);
	return 0;
}

static int push_api(struct join *j, struct process *p, const struct event *ev)
{
	const unsigned int roles = api_roles_get(&j->roles, ev);
	const bool launches = roles & API_LAUNCH && !ev->api.again;
	struct side_launch *by = launches_find(&p->launches, ev->api.correlation);
	struct side_work *w;
	bool captured;
	int err = 0;

	if (by && widen(by, ev))
		return 0;
	err = add_launch(j, p, ev->api.correlation, &by);
	if (err)
		return err;
	if (fates_note_api(&p->fates, ev, roles))
		return -ENOMEM;
	captured = launches && fates_was_captured(&p->fates, ev);
	j->counts.captured += captured;
	*by = (struct side_launch){ .launch = { .tid = ev->tid, .start_ns = ev->start_ns, .end_ns = ev->end_ns },
				    .used_ns = ev->end_ns, .awaited = launches && !captured && !is_before(j, ev),
				    .is_kernel = roles & API_KERNEL };
	j->counts.launches += by->awaited;
	if (by->awaited)
		err = fates_await(&p->fates, &p->launches);
	while (!err && p->works.waiting && (w = works_find(&p->works, ev->api.correlation)) &&
	       is_one_program(p, ev->start_ns, w->start_ns)) {
		const struct event work = works_event(w, p->pid);

		err = pass_on(j, p, &work, by);
		works_gone(&p->works, &j->room, w);
	}
	return err;
}

/* ---- the horizon ---------------------------------------------------------------------------- */

static int decide(struct join *j, struct process *p, uint64_t floor_ns, uint64_t *first_ns)
{
	struct fates_teller to = teller(j, p);

	to.goes_on = floor_ns == UINT64_MAX && j->goes_on;
	return fates_decide(&p->fates, floor_ns, &to, first_ns);
}

/* The horizon moves on to end_ns. */
static int pass_open(struct join *j, struct process *p, uint64_t end_ns)
{
	const struct fates_teller to = teller(j, p);

	return fates_pass_open(&p->fates, &to, p->told_ns, end_ns);
}

static uint64_t first_work_ns(const struct process *p)
{
	uint64_t first_ns = UINT64_MAX;

	for (uint64_t i = p->works.first; i < p->works.next; i++)
		if (!works_at(&p->works, i)->gone)
			first_ns = num_min(first_ns, works_at(&p->works, i)->start_ns);
	return first_ns;
}

static int tell_horizon(struct join *j, struct process *p)
{
	uint64_t latest = num_max(p->latest_ns, j->watermark_ns);
	uint64_t floor_ns = latest > JOIN_WINDOW_NS ? latest - JOIN_WINDOW_NS : 0;
	uint64_t ns;
	int err = decide(j, p, floor_ns, &ns);

	if (err)
		return err;
	ns = num_min(ns, first_work_ns(p));
	ns = num_min(ns, latest > JOIN_SETTLE_NS ? latest - JOIN_SETTLE_NS : 0);
	ns = num_max(ns, floor_ns);
	if (j->watermark_ns)
		ns = num_min(ns, j->watermark_ns);
	p->untold = 0;
	p->told_at_ns = j->watermark_ns;
	if (ns <= p->told_ns)
		return 0;
	err = pass_open(j, p, ns);
	p->told_ns = ns;
	return err ? err : j->sink.horizon(j->sink.ctx, p->pid, ns);
}

/* Of a process that is silent, what has waited enough goes before the horizon passes it; who tells has
 * more to say of what it told late. */
static int watch_time(struct join *j, struct process *p)
{
	int err = p->untold ? 0 : drop_aged(j, p, num_max(p->latest_ns, j->watermark_ns));

	return err ? err : tell_horizon(j, p);
}

/* ---- the end -------------------------------------------------------------------------------- */

static int give_up_all(struct join *j, struct process *p)
{
	uint64_t first_ns;
	int err = 0;

	while (!err && p->works.waiting)
		err = join_give_up_first(j, p);
	if (!err)
		err = decide(j, p, UINT64_MAX, &first_ns);
	return err || j->goes_on ? err : pass_open(j, p, UINT64_MAX);
}

int join_end(struct join *j)
{
	int err = 0;

	for (size_t i = 0; i < j->all.n && !err; i++)
		err = give_up_all(j, j->all.v[i]);
	return err;
}

/* Nothing of it will come any more. */
static bool is_over(const struct join *j, const struct process *p)
{
	return p->exit_ns && j->watermark_ns > num_add(p->exit_ns, JOIN_WINDOW_NS);
}

static int push_watermark(struct join *j, uint64_t ns)
{
	size_t kept = 0;
	bool gone = false;
	int err = 0;

	j->watermark_ns = num_max(j->watermark_ns, ns);
	for (size_t i = 0; i < j->all.n; i++) {
		struct process *p = j->all.v[i];

		if (!err && j->watermark_ns - p->told_at_ns > TELL_EVERY_NS)
			err = watch_time(j, p);
		if (err || !is_over(j, p)) {
			j->all.v[kept++] = p;
			continue;
		}
		err = give_up_all(j, p);
		if (!err)
			err = j->sink.horizon(j->sink.ctx, p->pid, j->watermark_ns);
		map_del(&j->by_pid, p->pid);
		j->last = NULL;
		process_free(j, p);
		gone = true;
	}
	j->all.n = kept;
	if (gone)
		share_find_largest(j);
	return err;
}

/* ---- what comes ------------------------------------------------------------------------------ */

static int push_record(struct join *j, const struct event *ev)
{
	struct process *p = find_process(j, ev->pid);
	int err;

	if (!p)
		return -ENOMEM;
	p->latest_ns = num_max(p->latest_ns, ev->end_ns);
	if (ev->start_ns > p->exit_ns)
		p->exit_ns = 0;		/* the number is another process's */
	err = ev->kind == EVENT_API ? push_api(j, p, ev) : push_work(j, p, ev);
	if (!err)
		err = drop_aged(j, p, p->latest_ns);
	return err || ++p->untold < TELL_EVERY ? err : tell_horizon(j, p);
}

int join_captured(struct join *j, const struct event *call)
{
	struct process *p = find_process(j, call->pid);
	int err;

	if (!p)
		return -ENOMEM;
	err = share_make_room(j, captures_want(&p->fates.captures));
	return err ? err : fates_note_captured(&p->fates, &j->room, &p->launches, call, &j->counts);
}

static struct process *known_process(const struct join *j, uint32_t pid)
{
	const struct map_slot *slot = map_find(&j->by_pid, pid);

	return slot ? (void *)(uintptr_t)slot->value : NULL;
}

bool join_knows(const struct join *j, uint32_t pid)
{
	const struct process *p = known_process(j, pid);

	return p && p->latest_ns;
}

static void push_exit(struct join *j, const struct event *ev)
{
	struct process *p = ev->tid == ev->pid ? known_process(j, ev->pid) : NULL;

	if (p)
		p->exit_ns = ev->end_ns;
}

static void push_exec(struct join *j, const struct event *ev)
{
	struct process *p = known_process(j, ev->pid);

	if (!p || ev->end_ns <= p->exec_ns)
		return;
	p->exec_ns = ev->end_ns;
}

int join_push(struct join *j, const struct event *ev)
{
	switch (ev->kind) {
	case EVENT_API:
	case EVENT_WORK:
		return push_record(j, ev);
	case EVENT_START:
		j->start_ns = ev->start_ns;
		return 0;
	case EVENT_STOP:
		j->stop_ns = ev->end_ns;
		return 0;
	case EVENT_WATERMARK:
		return push_watermark(j, ev->end_ns);
	case EVENT_EXIT:
		push_exit(j, ev);
		return 0;
	case EVENT_PROCESS:
		push_exec(j, ev);
		return 0;
	default:
		return 0;
	}
}

void join_goes_on(struct join *j)
{
	j->goes_on = true;
}

void join_counts(const struct join *j, struct join_counts *out)
{
	*out = j->counts;
	out->waiting = out->awaited = 0;
	for (size_t i = 0; i < j->all.n; i++) {
		const struct process *p = j->all.v[i];

		out->waiting += p->works.waiting;
		out->awaited += fates_awaited(&p->fates, &p->launches);
	}
}
