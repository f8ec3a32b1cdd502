// SPDX-License-Identifier: BSD-3-Clause
/*
 * Calls and CUPTI's records of memory, into the book of each process. Where a process has a
 * helper its records are waited for, since a call and its record are one allocation.
 */
#include "model/consumers.h"

#include <errno.h>

#include "base/num.h"
#include "facts/memory_calls.h"
#include "model/shared.h"

#define RECORDS_SETTLE_NS 1000000000ull	/* records of the last second may be out of order */
/* the greatest delay: later ones count as late */
#define RECORDS_LATE_NS 3000000000ull
#define HELPER_NS 2000000000ull	/* so long a helper may take to be heard of */
#define HANDLES (1ull << 63)		/* numbers that are no addresses */
#define INSIDE (1ull << 62)		/* of parts of what the driver gave at that address */

struct memory {
	struct model *m;
	struct memory_room room;
};

static struct memory_book *book_of(struct memory *m, struct process *p)
{
	if (p->memory)
		return p->memory;
	m->room.keeps_lines = m->m->has_bins;
	p->memory = memory_book_new(&m->room, m->m->session.start_ns);
	return p->memory;
}

static int push(struct memory *m, struct process *p, const struct memory_act *act)
{
	struct memory_book *b = book_of(m, p);

	return b ? memory_book_push(b, act) : -ENOMEM;
}

/* What it does not count by itself. */
static bool is_before(const struct memory *m, const struct event *ev)
{
	return ev->end_ns < m->m->session.start_ns;
}

static int push_success(struct memory *m, struct process *p, const struct event *ev,
			struct memory_call call)
{
	struct memory_act act = {
		.start_ns = ev->start_ns, .end_ns = ev->end_ns, .address = ev->call.address,
		.bytes = ev->call.bytes, .stack = ev->call.stack, .device = MEMORY_NO_DEVICE,
		.op = call.op, .kind = call.kind, .has_bytes = ev->has & HAS_BYTES,
	};

	if (call.kind == MEMORY_KIND_PHYSICAL)
		act.address |= HANDLES;
	if (call.kind == MEMORY_KIND_TORCH) {
		act.address |= INSIDE;
		act.device = ev->has & HAS_ENTITY ? (uint8_t)ev->call.entity : MEMORY_NO_DEVICE;
	}
	if (ev->call.address)
		return push(m, p, &act);
	p->allocs_blindly |= call.op == MEMORY_ALLOC;
	if (call.op == MEMORY_FREE || p->records_memory || is_before(m, ev))
		return 0;	/* of NULL; or a record is more exact */
	return book_of(m, p) ? memory_book_untracked(p->memory, call.kind,
						     ev->call.stack) : -ENOMEM;
}

static int push_call(struct memory *m, const struct event *ev)
{
	bool worked = !(ev->has & HAS_RESULT) || !ev->call.result;
	struct memory_call call = memory_call_of(model_role(m->m, ev->func));
	struct process *p;

	if (!call.op)
		return 0;
	p = processes_get(m->m, ev);
	if (!p)
		return -ENOMEM;
	if (call.op == MEMORY_CALL_RESET && worked)
		return book_of(m, p) ? memory_book_reset(p->memory, ev->end_ns) : -ENOMEM;
	if (call.op == MEMORY_ALLOC && m->m->session.stop_ns && ev->end_ns > m->m->session.stop_ns)
		return 0;	/* it has not returned */
	/* A call that CUPTI alone recorded has a record of what it allocated or freed. */
	if (call.op == MEMORY_CALL_RESET || ev->kind == EVENT_CUPTI_CALL)
		return 0;
	if (worked)
		return push_success(m, p, ev, call);
	if (call.op == MEMORY_FREE || is_before(m, ev))
		return 0;
	return book_of(m, p) ? memory_book_fail(p->memory, call.kind, ev->call.stack) : -ENOMEM;
}

static int push_record(struct memory *m, const struct event *ev)
{
	struct process *p;

	if (!ev->memory.op || ev->memory.op >= MEMORY_OP_END || ev->memory.kind >= MEMORY_KIND_END)
		return -EINVAL;
	if (m->m->session.stop_ns && ev->start_ns >= m->m->session.stop_ns) {
		m->m->counts.late[ev->kind]++;
		return 0;
	}
	model_see_time(m->m, ev->start_ns);
	p = processes_get(m->m, ev);
	if (!p)
		return -ENOMEM;
	p->records_memory = true;
	p->record_ns = num_max(p->record_ns, ev->start_ns);
	if (ev->memory.op == MEMORY_FREE && !ev->memory.address)
		return 0;
	return push(m, p, &(struct memory_act){
		.start_ns = ev->start_ns, .end_ns = ev->start_ns, .address = ev->memory.address,
		.bytes = ev->memory.bytes, .device = ev->memory.device, .op = ev->memory.op,
		.kind = (uint8_t)ev->memory.kind,
		.is_record = true, .has_bytes = ev->has & HAS_BYTES,
		.again = ev->memory.again != 0 });
}

static int settle_before(struct memory *m, uint64_t ns)
{
	int err = 0;

	for (size_t i = 0; i < m->m->processes.n && !err; i++) {
		const struct process *p = m->m->processes.v[i];
		uint64_t until = num_max(num_sub(p->record_ns, RECORDS_SETTLE_NS),
					 num_sub(ns, RECORDS_LATE_NS));

		until = p->records_memory ? num_min(ns, until) : num_sub(ns, HELPER_NS);
		if (p->memory)
			err = memory_book_settle(p->memory, until);
	}
	return err;
}

/* All that it had is gone when it executes its program. */
static int push_process(struct memory *m, const struct event *ev)
{
	struct process *p;
	int err;

	if (!ev->end_ns)
		return 0;
	p = processes_get(m->m, ev);
	if (!p)
		return -ENOMEM;
	if (ev->end_ns < p->info.exec_ns)
		return 0;	/* the same one, by who knows it less exactly */
	err = p->memory ? memory_book_settle(p->memory, ev->end_ns) : 0;
	p->info.exec_ns = ev->end_ns;
	if (p->memory && !err)
		memory_book_end(p->memory);
	return err;
}

/* Have probes seen every call that may be that of a lost record? Records that came without a
 * call show that not. */
static bool calls_saw_all(const struct model *m, const struct process *p)
{
	struct memory_counts counts;

	memory_book_counts(p->memory, &counts);
	if (counts.alone || p->allocs_blindly || p->lost_calls ||
	    intervals_overlap(&p->unarmed, num_max(p->missed_ns, m->session.start_ns),
			      p->missed_end_ns))
		return false;
	for (size_t i = 0; i < m->threads.n; i++)
		if (m->threads.v[i]->process == p && m->threads.v[i]->book.counts.lost)
			return false;
	return true;
}

/* No source reports the memory that a reset freed. Without a recording helper probes saw all; if
 * every call was seen, also that of lost records. */
bool memory_is_incomplete(const struct model *m, const struct process *p)
{
	struct memory_counts counts;

	if (p->past_misses || !p->memory)
		return p->past_misses;
	memory_book_counts(p->memory, &counts);
	if (p->missed_before || counts.resets)
		return true;
	if (m->without_probes)
		return p->misses[UNSEEN_LOST] || p->misses[UNSEEN_UNKNOWN];
	return p->misses[UNSEEN_LOST] && !calls_saw_all(m, p);
}

/* ---- the consumer ---------------------------------------------------------------------------- */

static int init(void *state, struct model *m)
{
	*(struct memory *)state = (struct memory){ .m = m, .room.left = MEMORY_ROOM };
	return 0;
}

static __attribute__((noinline)) int on_rare_event(void *state, const struct event *ev)
{
	const struct memory *m = state;
	struct process *p;

	switch (ev->kind) {
	case EVENT_CALL:
	case EVENT_CUPTI_CALL: return push_call(state, ev);
	case EVENT_MEMORY: return push_record(state, ev);
	case EVENT_PROCESS: return push_process(state, ev);
	case EVENT_DEVICE:		/* a helper reports of it: records will come */
		p = processes_get(m->m, ev);
		if (p)
			p->records_memory = true;
		return p ? 0 : -ENOMEM;
	default: return settle_before(state, ev->end_ns);
	}
}

/* Most are calls that have nothing to do with memory. */
static int on_event(void *state, const struct event *ev)
{
	const struct memory *m = state;

	return ev->kind == EVENT_CALL &&
	       !(1u << m->m->funcs->v[ev->func].class & MEMORY_CALL_CLASSES) ?
	       0 : on_rare_event(state, ev);
}

static int finish(void *state)
{
	return settle_before(state, UINT64_MAX);
}

static int settle(void *state, struct process *p, bool *done)
{
	int err;

	(void)state, (void)done;
	if (!p->memory || p->is_settled)
		return 0;
	err = memory_book_settle(p->memory, UINT64_MAX);
	memory_book_trim(p->memory);
	return err;
}

static int fold(void *state, struct process *p, struct process *into)
{
	struct memory *m = state;
	int err = p->memory && !book_of(m, into) ? -ENOMEM : 0;

	into->past_misses |= memory_is_incomplete(m->m, p);
	for (size_t i = 0; !err && p->memory && i < memory_book_rows(p->memory); i++) {
		struct memory_sums row = *memory_book_row(p->memory, i);
		const struct device_state *successor = row.key.device == MEMORY_NO_DEVICE ? NULL :
			devices_successor(m->m->devices, p->info.process, row.key.device,
					  MODEL_PAST_PID);

		row.key.device = successor ? successor->device : MEMORY_NO_DEVICE;
		err = memory_book_add(into->memory, &row);
	}
	return err;
}

const struct consumer memory_consumer = {
	.kinds = 1ull << EVENT_CALL | 1ull << EVENT_CUPTI_CALL | 1ull << EVENT_MEMORY |
		 1ull << EVENT_DEVICE | 1ull << EVENT_PROCESS | 1ull << EVENT_WATERMARK,
	.size = sizeof(struct memory),
	.init = init,
	.on_event = on_event,
	.finish = finish,
	.settle = settle,
	.fold = fold,
};
