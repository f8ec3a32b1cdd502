// SPDX-License-Identifier: BSD-3-Clause
/*
 * Calls that CUPTI's records alone tell of, where a function has no probe: into the statistics of their
 * process, and what their thread's book has as `other` just then is theirs. They come after what probes saw of
 * their thread: where the book has not come that far, or an interval of it is over, it does not get them, nor
 * do the causes of idle devices. Time off the CPU stays with its reason. One inside a call that a probe saw, or
 * around it, is that call.
 */
#include <errno.h>

#include "ledger/model_state.h"

static bool is_probed(const struct thread *t, const struct event *ev)
{
	uint64_t middle = ev->start_ns + (ev->end_ns - ev->start_ns) / 2;
	struct timeline_span seen;

	return (timeline_find(&t->timeline, middle, &seen) && seen.func != TIMELINE_NO_FUNC) ||
	       timeline_call(&t->timeline, ev->start_ns, ev->end_ns, &seen);
}

/* Inside what has not returned. */
static bool is_open(const struct thread *t, const struct event *ev)
{
	return t->book.has_open && !t->book.is_off && ev->start_ns >= t->book.open_start;
}

/* Its time that is nobody else's. */
static void book_told(struct model *m, struct thread *t, const struct event *ev)
{
	const unsigned int class = m->funcs->v[ev->func].class;
	uint64_t ns[BUCKET_END] = { 0 };

	if (t->over || t->past || !t->has_book || ev->start_ns < t->told_ns ||
	    !book_has(&t->book, ev->start_ns, ev->end_ns))
		return;
	timeline_sum(&t->timeline, ev->start_ns, ev->end_ns, &t->process->unarmed, ns);
	if (!ns[CLASS_OTHER])
		return;
	book_call(&t->book, class, ns[CLASS_OTHER]);
	t->told_ns = ev->end_ns;
	m->counts.told_booked++;
}

int told_push(struct model *m, const struct event *ev)
{
	struct thread *t = who_known_thread(m, ev->pid, ev->tid);
	struct process *p = who_process(m, ev->pid);
	struct call_stat *s;

	if (!p)
		return -ENOMEM;
	if (ev->func >= m->funcs->n || ev->end_ns < ev->start_ns) {
		m->counts.invalid[ev->kind]++;
		return 0;
	}
	if (ev->start_ns < m->session.start_ns ||
	    (m->session.stop_ns && ev->start_ns >= m->session.stop_ns)) {
		m->counts.late[ev->kind]++;	/* of a file: the one before is closed */
		return 0;
	}
	if (t && ev->start_ns < t->timeline.forgotten_ns) {
		m->counts.late[ev->kind]++;	/* what probes saw then is not known any more */
		return 0;
	}
	if (t && (is_open(t, ev) || is_probed(t, ev)))
		return 0;
	if (!ev->call.result && memory_note_told(m, p, ev->func, ev->end_ns))
		return -ENOMEM;
	s = call_stats_find(&p->info.calls, ev);
	m->counts.told++;
	if (t)
		book_told(m, t, ev);
	return s ? call_stat_add(s, ev) : -ENOMEM;
}
