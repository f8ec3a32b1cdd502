// SPDX-License-Identifier: BSD-3-Clause
/*
 * Calls and CUPTI's records of memory, into the book of each process. Where a process has a
 * helper its records are waited for, since a call and its record are one allocation.
 */
#include "model/memory_events.h"

#include <errno.h>

#include "base/num.h"
#include "facts/memory_calls.h"
#include "model/device_events.h"
#include "model/shared.h"

#define RECORDS_SETTLE_NS 1000000000ull	/* records of the last second may be out of order */
/* the greatest delay: later ones count as late */
#define RECORDS_LATE_NS 3000000000ull
#define HELPER_NS 500000000ull		/* so long a helper may take to be heard of */
#define HANDLES (1ull << 63)		/* numbers that are no addresses */

struct memory {
	struct model *m;
	struct memory_room room;
};

static struct memory_book *book_of(struct memory *m, struct process *p)
{
	if (!p->memory)
		p->memory = memory_book_new(&m->room);
	return p->memory;
}

static int push(struct memory *m, struct process *p, const struct memory_act *act)
{
	struct memory_book *b = book_of(m, p);

	return b ? memory_book_push(b, act) : -ENOMEM;
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
	if (ev->call.address)
		return push(m, p, &act);
	p->allocs_blindly |= call.op == MEMORY_ALLOC;
	if (call.op == MEMORY_FREE || p->records_memory)
		return 0;	/* of NULL; or a record is more exact */
	return book_of(m, p) ? memory_book_untracked(p->memory, call.kind,
						     ev->call.stack) : -ENOMEM;
}

static int note_source(struct memory *m, struct process *p, uint16_t func, uint64_t end_ns)
{
	if (memory_call_of(model_role(m->m, func)).op != MEMORY_CALL_RESET)
		return 0;
	return book_of(m, p) ? memory_book_reset(p->memory, end_ns) : -ENOMEM;
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
	if (call.op == MEMORY_CALL_RESET)
		return worked ? note_source(m, p, ev->func, ev->end_ns) : 0;
	if (worked)
		return push_success(m, p, ev, call);
	if (call.op == MEMORY_FREE)
		return 0;
	return book_of(m, p) ? memory_book_fail(p->memory, call.kind, ev->call.stack) : -ENOMEM;
}

/* A call that CUPTI alone recorded. */
static int push_cupti_call(struct memory *m, const struct event *ev)
{
	struct process *p = ev->call.result ? NULL : processes_get(m->m, ev);

	if (ev->call.result)
		return 0;
	return p ? note_source(m, p, ev->func, ev->end_ns) : -ENOMEM;
}

static int push_record(struct memory *m, const struct event *ev)
{
	struct process *p;

	if (!ev->memory.op || ev->memory.op >= MEMORY_OP_END || ev->memory.kind >= MEMORY_KIND_END)
		return -EINVAL;
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

/* A helper reports of the process. */
static int expect_records(struct memory *m, const struct event *ev)
{
	struct process *p = processes_get(m->m, ev);

	if (p)
		p->records_memory = true;
	return p ? 0 : -ENOMEM;
}

static uint64_t horizon_of(const struct process *p, uint64_t watermark_ns)
{
	uint64_t latest = p->record_ns > RECORDS_SETTLE_NS ? p->record_ns - RECORDS_SETTLE_NS : 0;
	uint64_t oldest = watermark_ns > RECORDS_LATE_NS ? watermark_ns - RECORDS_LATE_NS : 0;

	if (p->records_memory)
		return num_min(watermark_ns, num_max(latest, oldest));
	return watermark_ns > HELPER_NS ? watermark_ns - HELPER_NS : 0;
}

static int settle_before(struct memory *m, uint64_t ns)
{
	int err = 0;

	for (size_t i = 0; i < m->m->processes.n && !err; i++) {
		struct process *p = m->m->processes.v[i];

		if (p->memory)
			err = memory_book_settle(p->memory, horizon_of(p, ns));
	}
	return err;
}

/* All that it had is gone when it executes its program. */
static int push_process(struct memory *m, const struct event *ev)
{
	struct process *p = ev->end_ns ? processes_get(m->m, ev) : NULL;
	int err;

	if (!ev->end_ns)
		return 0;
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

void memory_note_unseen(const struct model *m, struct process *p, const struct event *ev)
{
	p->missed_before |= (ev->unseen.of & UNSEEN_OF_BEFORE) != 0;
	if (ev->unseen.why >= UNSEEN_END || ev->end_ns <= m->session.start_ns)
		return;
	if (ev->unseen.why == UNSEEN_LOST) {
		p->missed_ns = p->misses[ev->unseen.why] ? num_min(p->missed_ns,
								   ev->start_ns) : ev->start_ns;
		p->missed_end_ns = num_max(p->missed_end_ns, ev->end_ns);
	}
	p->misses[ev->unseen.why] = true;
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
	switch (ev->kind) {
	case EVENT_CALL: return push_call(state, ev);
	case EVENT_CUPTI_CALL: return push_cupti_call(state, ev);
	case EVENT_MEMORY: return push_record(state, ev);
	case EVENT_DEVICE: return expect_records(state, ev);
	case EVENT_PROCESS: return push_process(state, ev);
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

		row.key.device = device_successor(m->m, p->info.process, row.key.device,
						  MODEL_PAST_PID);
		err = memory_book_add(into->memory, &row);
	}
	return err;
}

static void cut(void *state)
{
	const struct memory *m = state;

	for (size_t i = 0; i < m->m->processes.n; i++)
		if (m->m->processes.v[i]->memory)
			memory_book_cut(m->m->processes.v[i]->memory);
}

const struct consumer memory_consumer = {
	.kinds = 1ull << EVENT_CALL | 1ull << EVENT_CUPTI_CALL | 1ull << EVENT_MEMORY |
		 1ull << EVENT_DEVICE |
		 1ull << EVENT_PROCESS | 1ull << EVENT_WATERMARK,
	.size = sizeof(struct memory),
	.init = init,
	.on_event = on_event,
	.finish = finish,
	.settle = settle,
	.fold = fold,
	.cut = cut,
};
