// SPDX-License-Identifier: BSD-3-Clause
/*
 * Threads' activity: calls, as probes saw them and as CUPTI alone recorded them, time off the
 * CPU and the end of threads, into their books, timelines and the statistics of their processes.
 * A numbered event belongs to a thread with a book, which is made if need be.
 *
 * Probes see calls a little before the session begins and after it has ended. Such calls are in no
 * table; one that returns after the end is open.
 *
 * Calls known by CUPTI's records alone, where a function has no probe, come after the probes'
 * events of their thread: they take the time that its book has as `other` just then. Where the
 * book has not come that far, or an interval of it is over, it does not get them, nor do the
 * causes of idle devices. Time off the CPU stays with its reason. One inside a call that a probe
 * saw, or around it, is that call.
 */
#include "model/consumers.h"

#include <errno.h>

#include "base/num.h"
#include "facts/offcpu.h"
#include "model/shared.h"

static void open_book(struct model *m, struct thread *t, uint64_t first_ns)
{
	/* A capture whose beginning is damaged: the session is its readable part. */
	if (!m->session.start_ns)
		m->session.start_ns = first_ns;
	book_init(&t->book, m->session.start_ns, &t->process->unarmed);
	book_birth(&t->book, t->birth_ns);
	if (m->session.stop_ns)
		book_stop(&t->book, m->session.stop_ns);
	/* Without memory for them the thread is one more that has none. */
	if (m->bins_left) {
		t->book.bins = bins_new(m->session.start_ns);
		m->bins_left -= t->book.bins != NULL;
	}
	t->has_book = t->records_wait = true;
}

static struct thread *find_thread(struct model *m, const struct event *ev, uint64_t first_ns)
{
	struct thread *t = threads_get(m, ev);

	if (__builtin_expect(t && t->has_book && !t->ended, 1))
		return t;
	if (t && t->ended && (ev->seq == 1 || (t->has_book && first_ns >= t->book.exit)) &&
	    ev->kind != EVENT_TAIL)
		t = threads_renew(m, t, 0);
	if (t && !t->has_book)
		open_book(m, t, first_ns);
	return t;
}

static const struct func *find_func(const struct model *m, const struct event *ev)
{
	return ev->func < m->funcs->n ? &m->funcs->v[ev->func] : NULL;
}

/* A call that began before has ended: LEFT, or when was not seen. */
static int tally_before(struct thread *t, const struct event *ev)
{
	const struct event key = { .func = ev->func, .call.result = ev->call.result,
				   .has = ev->has & HAS_RESULT };
	struct call_stat *s = call_stats_find(&t->process->info.calls, &key);

	if (!s)
		return -ENOMEM;
	call_stat_add_before(s, ev);
	return 0;
}

/* It is not to be counted with those that returned in the session. */
static bool is_outside(struct model *m, struct thread *t, const struct event *ev, bool before)
{
	const uint64_t stop_ns = t->book.stop;
	bool returned = ev->kind == EVENT_CALL || ev->kind == EVENT_LEFT;

	if (returned && ev->start_ns < stop_ns && ev->end_ns > stop_ns) {
		t->last_open = (struct thread_call){ ev->start_ns, ev->func, true, before };
		return true;
	}
	if (ev->start_ns < stop_ns &&
	    !(returned && ev->start_ns < m->session.start_ns &&
	      ev->end_ns <= m->session.start_ns))
		return false;
	m->counts.late[ev->kind]++;
	return true;
}

static int push_call(struct model *m, const struct event *ev)
{
	struct thread *t = find_thread(m, ev, ev->start_ns);
	bool before = t && t->book.before;
	const struct func *fn = find_func(m, ev);
	uint16_t func = before ? t->book.open_func : 0;
	uint64_t cursor = t ? t->book.cursor : 0;
	unsigned int found;
	bool outside;
	int captured;

	if (!t)
		return -ENOMEM;
	found = book_push(&t->book, ev, fn);
	if (__builtin_expect(before && !t->book.before && ev->kind != EVENT_LEFT, 0) &&
	    tally_before(t, &(struct event){ .func = func }))
		return -ENOMEM;
	t->drives |= !(found & BOOK_INVALID) || t->book.seq;
	if (__builtin_expect(found, 0))
		model_note_found(m, ev->kind, found);
	if (found & BOOK_INVALID)
		return CONSUMER_ENDS;
	outside = is_outside(m, t, ev, before);
	captured = ev->kind == EVENT_CALL ? graphs_note_call(m, t, ev) : 0;
	if (captured < 0)
		return captured;
	device_note_call(m, t, ev, &(struct noted_call){ cursor, fn->class, captured });
	if (ev->kind != EVENT_CALL && ev->kind != EVENT_LEFT) {
		model_see_time(m, ev->start_ns);
		return 0;
	}
	model_see_time(m, ev->end_ns);
	if (outside && ev->end_ns <= m->session.start_ns)
		unseen_note_before(t->process, ev, fn->class);
	if (outside)
		return ev->start_ns >= t->book.stop ? CONSUMER_ENDS : 0;
	if (ev->kind == EVENT_LEFT)
		return tally_before(t, ev);
	if (!t->cache)
		t->cache = calloc(1, sizeof(*t->cache));
	return t->cache ? call_cache_add(t->cache, &t->process->info.calls, ev) : -ENOMEM;
}

static int push_inside(struct model *m, const struct event *ev)
{
	struct thread *t = find_thread(m, ev, ev->start_ns);
	uint64_t cursor = t ? t->book.cursor : 0;

	if (!t)
		return -ENOMEM;
	model_note_found(m, ev->kind, book_push(&t->book, ev, find_func(m, ev)));
	t->stopped_ns = ev->call.late_why == OFF_STOPPED ? ev->end_ns : 0;
	device_note_call(m, t, ev, &(struct noted_call){ cursor, t->book.open_class, false });
	if (!t->book.before)
		return 0;
	t->drives = true;
	model_see_time(m, ev->end_ns);
	/* So that a process that does nothing else is known to make calls. */
	return call_stats_find(&t->process->info.calls, &(struct event){ .func = ev->func }) ?
	       0 : -ENOMEM;
}

static int push_gone(struct model *m, const struct event *ev)
{
	struct thread *t = find_thread(m, ev, ev->start_ns);
	bool before = t && t->book.before;
	uint64_t cursor = t ? t->book.cursor : 0;

	if (!t)
		return -ENOMEM;
	model_note_found(m, ev->kind, book_push(&t->book, ev, NULL));
	device_note_call(m, t, ev, &(struct noted_call){ cursor, BUCKET_UNKNOWN, false });
	return before && !t->book.before ? tally_before(t, &(struct event){ .func = ev->func }) : 0;
}

static int push_open(struct model *m, const struct event *ev)
{
	model_see_time(m, ev->end_ns);
	return push_call(m, ev);
}

static int push_tail(struct model *m, const struct event *ev)
{
	struct thread *t;

	if (!ev->seq)
		return 0;
	t = find_thread(m, ev, m->now_ns);
	if (!t)
		return -ENOMEM;
	model_note_found(m, ev->kind, book_push(&t->book, ev, NULL));
	t->drives = true;
	return 0;
}

static int push_exit(struct model *m, const struct event *ev)
{
	struct thread *t = find_thread(m, ev, ev->end_ns);
	unsigned int found;

	if (!t)
		return -ENOMEM;
	if (!t->birth_ns && !t->ended && ev->start_ns && ev->start_ns <= ev->end_ns) {
		t->birth_ns = ev->start_ns;
		book_birth(&t->book, ev->start_ns);
	}
	found = book_push(&t->book, ev, NULL);
	model_note_found(m, ev->kind, found);
	if (found & BOOK_INVALID)
		return CONSUMER_ENDS;
	model_see_time(m, ev->end_ns);
	t->drives |= ev->seq > 1;
	thread_ends(t);
	return 0;
}

/* ---- time off the CPU ------------------------------------------------------------------------ */

static void note_span(struct model *m, struct thread *t, uint64_t from, uint64_t to,
		      unsigned int bucket)
{
	timeline_add(&t->timeline, &m->timelines, &(struct timeline_span){
		.start_ns = from, .end_ns = to, .bucket = (uint8_t)bucket,
		.func = TIMELINE_NO_FUNC });
}

/* The book's result is between its cursor before and its cursor now. */
static void note_timeline(struct model *m, struct thread *t, uint64_t cursor_ns,
			  const struct event *ev)
{
	const struct book *b = &t->book;
	uint64_t start = num_min(num_max(ev->start_ns, cursor_ns), b->cursor);
	uint64_t woken = num_min(num_max(ev->end_ns - ev->off.woken_ns, start), b->cursor);

	if (b->last_gap != CLASS_OTHER)
		note_span(m, t, num_max(cursor_ns, b->base), start, b->last_gap);
	note_span(m, t, start, woken, bucket_of_off(ev->off.reason));
	note_span(m, t, woken, b->cursor, BUCKET_OFF_0 + OFF_RUNQUEUE);
}

static bool is_stopped(const struct event *ev)
{
	return ev->off.reason == OFF_STOPPED || ev->off.reason == OFF_CALL_STOPPED;
}

static int push_off(struct model *m, const struct event *ev)
{
	bool reading = !(ev->has & HAS_END);
	struct thread *t = reading ? threads_find(m, ev->process, ev->tid) :
				     find_thread(m, ev, ev->start_ns);
	uint64_t cursor;
	unsigned int found;

	if (!t && !reading)
		return -ENOMEM;
	if (!t || !t->has_book || t->ended)
		return CONSUMER_ENDS;
	if (reading)
		t->stopped_ns = is_stopped(ev) ? ev->end_ns : 0;
	cursor = t->book.cursor;
	found = book_push(&t->book, ev, NULL);
	model_note_found(m, ev->kind, found);
	if (found & BOOK_INVALID)
		return CONSUMER_ENDS;
	if (t->book.cursor > cursor)
		note_timeline(m, t, cursor, ev);
	model_see_time(m, ev->end_ns);
	/* The book has not taken a reading whose thread's records are still on their way. */
	return reading && !(t->book.has_open && t->book.is_off &&
			    t->book.open_start == ev->start_ns) ? CONSUMER_ENDS : 0;
}

/* ---- calls that no probe saw ----------------------------------------------------------------- */

/* Of a launch that no probe saw, what the driver does inside it may have been. */
static bool is_inside(const struct model *m, const struct event *ev,
		      const struct timeline_span *seen)
{
	return m->funcs->v[ev->func].class == CLASS_LAUNCH && seen->bucket != CLASS_LAUNCH &&
	       seen->start_ns >= ev->start_ns && seen->end_ns <= ev->end_ns;
}

static bool is_probed(const struct model *m, const struct thread *t, const struct event *ev)
{
	const uint64_t moment_ns = launch_moment(ev->start_ns, ev->end_ns);
	struct timeline_span seen;

	if (timeline_find(&t->timeline, moment_ns, &seen) && seen.func != TIMELINE_NO_FUNC)
		return !is_inside(m, ev, &seen);
	return timeline_call(&t->timeline, ev->start_ns, ev->end_ns, &seen) &&
	       !is_inside(m, ev, &seen);
}

/* The part of its time that no other call has. */
static void book_cupti_call(struct model *m, struct thread *t, const struct event *ev)
{
	const unsigned int class = m->funcs->v[ev->func].class;
	uint64_t ns[BUCKET_END] = { 0 };

	if (t->past || !t->has_book || ev->start_ns < t->cupti_call_ns ||
	    !book_has(&t->book, ev->start_ns, ev->end_ns))
		return;
	timeline_sum(&t->timeline, ev->start_ns, ev->end_ns, &t->process->unarmed, ns);
	if (!ns[CLASS_OTHER])
		return;
	book_call(&t->book, class, ns[CLASS_OTHER], ev->start_ns, ev->end_ns);
	t->cupti_call_ns = ev->end_ns;
	m->counts.cupti_calls_booked++;
}

static int push_cupti_call(struct model *m, const struct event *ev)
{
	struct thread *t = threads_find(m, ev->process, ev->tid);
	struct process *p = processes_get(m, ev);
	struct call_stat *s;
	bool at_stop;

	if (!p)
		return -ENOMEM;
	if (ev->func >= m->funcs->n || ev->end_ns < ev->start_ns)
		return -EINVAL;
	/* Of a file: the one before is closed. Or probes' knowledge of that time is gone. */
	if (ev->start_ns < m->session.start_ns ||
	    (m->session.stop_ns && ev->start_ns >= m->session.stop_ns) ||
	    (t && ev->start_ns < t->timeline.forgotten_ns)) {
		m->counts.late[ev->kind]++;
		return CONSUMER_ENDS;
	}
	if (t && ((t->book.has_open && !t->book.is_off && ev->start_ns >= t->book.open_start) ||
		  is_probed(m, t, ev)))
		return CONSUMER_ENDS;	/* inside an open call, or it is one that a probe saw */
	at_stop = m->session.stop_ns && ev->end_ns > m->session.stop_ns;
	if (at_stop && t && thread_open_call(t).is_open)
		return CONSUMER_ENDS;
	m->counts.cupti_calls++;
	/* A file that goes on counts what began in it. */
	if (at_stop && !pairs_get(&m->facts, "goes_on"))
		return call_stats_leave(&p->info.calls, ev->func, false);
	s = call_stats_find(&p->info.calls, ev);
	if (t)
		book_cupti_call(m, t, ev);
	return s ? call_stat_add(s, ev) : -ENOMEM;
}

/* ---- the consumers --------------------------------------------------------------------------- */

static int push_stop(struct model *m, const struct event *ev)
{
	for (size_t i = 0; i < m->threads.n; i++)
		if (m->threads.v[i]->has_book)
			book_stop(&m->threads.v[i]->book, ev->end_ns);
	return 0;
}

static int on_event(void *state, const struct event *ev)
{
	static int (*const push[EVENT_KIND_END])(struct model *m, const struct event *ev) = {
		[EVENT_CALL] = push_call, [EVENT_ENTER] = push_call, [EVENT_LEFT] = push_call,
		[EVENT_OPEN] = push_open, [EVENT_INSIDE] = push_inside, [EVENT_GONE] = push_gone,
		[EVENT_TAIL] = push_tail, [EVENT_EXIT] = push_exit, [EVENT_OFF] = push_off,
		[EVENT_CUPTI_CALL] = push_cupti_call, [EVENT_STOP] = push_stop,
	};

	return push[ev->kind](state, ev);
}

const struct consumer threads_consumer = {
	.kinds = 1ull << EVENT_CALL | 1ull << EVENT_ENTER | 1ull << EVENT_LEFT |
		 1ull << EVENT_OPEN | 1ull << EVENT_INSIDE | 1ull << EVENT_GONE |
		 1ull << EVENT_TAIL | 1ull << EVENT_EXIT | 1ull << EVENT_OFF |
		 1ull << EVENT_CUPTI_CALL | 1ull << EVENT_STOP,
	.on_event = on_event,
};

struct off_events {
	struct offcpu rows;		/* first: see the header */
	struct model *m;
};

static int init_off(void *state, struct model *m)
{
	((struct off_events *)state)->m = m;
	return 0;
}

/* As far as the session goes, and from where a reading of the same wait has counted it. */
static int add_row(void *state, const struct event *ev)
{
	struct off_events *o = state;
	struct thread *t = threads_get(o->m, ev);
	uint64_t stop = o->m->session.stop_ns ? o->m->session.stop_ns : UINT64_MAX;
	uint64_t over = num_sub(ev->end_ns, num_max(stop, ev->start_ns));
	uint64_t from_ns = num_max(o->m->session.start_ns, t ? t->off_read_ns : 0);
	struct event clipped = *ev;

	clipped.end_ns -= over;
	clipped.off.woken_ns -= num_min(over, ev->off.woken_ns);
	if (t && !(ev->has & HAS_END))
		t->off_read_ns = clipped.end_ns;
	if (ev->start_ns >= stop || ev->end_ns < o->m->session.start_ns)
		return 0;
	return offcpu_add(&o->rows, &clipped, from_ns);
}

static int fold_off(void *state, struct process *p, struct process *into)
{
	return offcpu_fold(&((struct off_events *)state)->rows, p->info.process,
			   into->info.process);
}

static int copy_off(void *to, const void *from)
{
	return offcpu_copy(&((struct off_events *)to)->rows,
			   &((const struct off_events *)from)->rows);
}

static void subtract_off(void *from, const void *earlier)
{
	offcpu_subtract(&((struct off_events *)from)->rows,
			&((const struct off_events *)earlier)->rows);
}

static void free_off(void *state)
{
	offcpu_free(&((struct off_events *)state)->rows);
}

const struct consumer offcpu_consumer = {
	.kinds = 1ull << EVENT_OFF,
	.size = sizeof(struct off_events),
	.init = init_off,
	.on_event = add_row,
	.fold = fold_off,
	.copy = copy_off,
	.subtract = subtract_off,
	.free = free_off,
};
