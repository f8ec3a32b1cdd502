// SPDX-License-Identifier: BSD-3-Clause
/*
 * Calls that CUPTI's records alone tell of, where a function has no probe: into the statistics of their
 * process. They come after what probes saw of their thread, so no book of time has them; one inside a
 * call that a probe saw, or around it, is that call.
 */
#include <errno.h>

#include "ledger/model_state.h"

static bool is_probed(const struct thread *t, const struct event *ev)
{
	uint64_t middle = ev->start_ns + (ev->end_ns - ev->start_ns) / 2;
	const struct timeline_span *around = timeline_find(&t->timeline, middle);

	return (around && around->func != TIMELINE_NO_FUNC) ||
	       timeline_call(&t->timeline, ev->start_ns, ev->end_ns);
}

/* Inside what has not returned. */
static bool is_open(const struct thread *t, const struct event *ev)
{
	return t->book.has_open && !t->book.is_off && ev->start_ns >= t->book.open_start;
}

int told_push(struct model *m, const struct event *ev)
{
	const struct thread *t = who_known_thread(m, ev->pid, ev->tid);
	struct process *p = who_process(m, ev->pid);
	struct tally *tally;

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
	graph_note_told(m, p, ev->func);
	tally = tallies_find(&p->info.tallies, ev);
	m->counts.told++;
	return tally ? tally_add(tally, ev) : -ENOMEM;
}
