// SPDX-License-Identifier: BSD-3-Clause
/*
 * Bounded by the living threads and processes. Devices, open ranges and live memory are three
 * short lists of each process; of open ranges the newest is looked at first, because it ends first.
 */
#include "capture/capture_state.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/num.h"
#include "base/pairs.h"
#include "base/vec.h"
#include "event/registry.h"
#include "event/stacks.h"

#define TEXTS_MAX 1024		/* facts, readings; the ledger keeps no more either */
#define IDENTITY_MAX 64
#define TEXT_MAX 4096
#define DEVICES_MAX 256		/* of a process */
#define RANGES_MAX 4096		/* open ones; the rest is left out */
#define ALLOCS_MAX 4096

struct thread {
	struct event is;	/* its THREAD; start_ns 0: unknown */
	char comm[16];
	uint32_t seq;		/* the last number seen */
	uint32_t base;		/* the present capture's number 0 */
	struct event open;	/* ENTER, or latest INSIDE, of the call it is in; kind 0: none */
};

/* The facts of a process that its source reports once. */
struct holdings {
	VEC(struct event *) devices;	/* clones */
	VEC(struct event *) ranges;	/* PUSH, START, in their order; clones */
	VEC(struct event) allocs;	/* MEMORY */
	struct map by_address;		/* -> index in allocs */
};

struct process {
	struct event is;	/* its PROCESS; owns the cmdline */
	char comm[16];
	uint32_t threads;	/* known and alive */
	struct pairs identity;
	struct holdings has;
	bool unsure;		/* some of its memory may be wrong: records were lost */
};

struct reading {
	struct event *now;	/* COUNT; a clone */
	uint64_t hits, received, lost;	/* when the capture began */
};

struct start_state {
	struct map threads;	/* process << 32 | tid -> struct thread */
	struct map processes;	/* handle -> struct process */
	struct thread *last;
	struct pairs facts;
	uint64_t counted[COUNTER_END];	/* values of counters when the capture began */
	VEC(struct reading) readings;
	char number[32];
	struct stacks stacks;
};

struct start_state *start_state_new(void)
{
	return calloc(1, sizeof(struct start_state));
}

static void free_holdings(struct holdings *h)
{
	for (size_t i = 0; i < h->devices.n; i++)
		free(h->devices.v[i]);
	for (size_t i = 0; i < h->ranges.n; i++)
		free(h->ranges.v[i]);
	VEC_FREE(&h->devices);
	VEC_FREE(&h->ranges);
	VEC_FREE(&h->allocs);
	map_free(&h->by_address);
	*h = (struct holdings){ 0 };
}

static void free_process(void *process)
{
	struct process *p = process;

	free((char *)p->is.task.cmdline);
	pairs_free(&p->identity);
	free_holdings(&p->has);
	free(p);
}

void start_state_free(struct start_state *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->readings.n; i++)
		free(s->readings.v[i].now);
	map_free_each(&s->threads, free);
	map_free_each(&s->processes, free_process);
	stacks_free(&s->stacks);
	pairs_free(&s->facts);
	VEC_FREE(&s->readings);
	free(s);
}

/* ---- threads and processes ------------------------------------------------------------------ */

/* The object under key, made of size if need be. NULL: out of memory. */
static void *find(struct map *m, uint64_t key, size_t size, bool *is_new)
{
	struct map_slot *slot = map_put(m, key, NULL);

	*is_new = slot && !slot->value;
	if (*is_new)
		slot->value = (uintptr_t)calloc(1, size);
	return slot ? (void *)(uintptr_t)slot->value : NULL;
}

static struct process *find_process(struct start_state *s, const struct event *ev)
{
	bool is_new;
	struct process *p = find(&s->processes, ev->process, sizeof(*p), &is_new);

	if (p) {
		p->is.kind = EVENT_PROCESS;
		p->is.process = ev->process;
		p->is.pid = p->is.tid = ev->pid;
	}
	return p;
}

static struct thread *find_thread(struct start_state *s, const struct event *ev)
{
	struct thread *t = s->last;
	struct process *p;
	bool is_new;

	if (t && t->is.tid == ev->tid && t->is.process == ev->process)
		return t;
	p = find_process(s, ev);
	if (!p)
		return NULL;
	t = find(&s->threads, (uint64_t)ev->process << 32 | ev->tid, sizeof(*t), &is_new);
	if (!t)
		return NULL;
	t->is.kind = EVENT_THREAD;
	t->is.process = ev->process;
	t->is.pid = ev->pid;
	t->is.tid = ev->tid;
	p->threads += is_new;
	s->last = t;
	return t;
}

/* NULL: unknown, or forgotten. */
static struct process *known_process(const struct start_state *s, uint32_t process)
{
	return map_pointer(&s->processes, process);
}

static void take_comm(struct event *is, char comm[16], const char *text)
{
	if (!text || !*text)
		return;
	snprintf(comm, 16, "%s", text);
	is->task.comm = comm;
}

static int take_thread(struct start_state *s, const struct event *ev)
{
	struct thread *t = find_thread(s, ev);
	const uint64_t process_ns = ev->task.process_ns;
	bool is_exact;

	if (!t)
		return -ENOMEM;
	is_exact = t->is.task.process_ns && process_ns;
	if (births_compare(t->is.start_ns, ev->start_ns, is_exact) == BIRTH_NEWER)	/* reused */
		*t = (struct thread){ .is = { .kind = EVENT_THREAD, .process = ev->process,
					      .pid = ev->pid, .tid = ev->tid } };
	t->is.start_ns = num_max(t->is.start_ns, ev->start_ns);
	t->is.task.process_ns = process_ns ? process_ns : t->is.task.process_ns;
	take_comm(&t->is, t->comm, ev->task.comm);
	return 0;
}

static int take_process(struct start_state *s, const struct event *ev)
{
	struct process *p = find_process(s, ev);
	char *cmdline;

	if (!p)
		return -ENOMEM;
	if (ev->start_ns)
		p->is.start_ns = ev->start_ns;
	if (ev->task.comm)
		pairs_free(&p->identity);
	if (ev->task.process_ns)
		p->is.task.process_ns = ev->task.process_ns;
	take_comm(&p->is, p->comm, ev->task.comm);
	if (ev->end_ns)		/* another program: its devices, ranges and memory are gone */
		free_holdings(&p->has);
	if (!ev->task.cmdline)
		return 0;
	cmdline = strndup(ev->task.cmdline, TEXT_MAX);
	if (!cmdline)
		return -ENOMEM;
	free((char *)p->is.task.cmdline);
	p->is.task.cmdline = cmdline;
	return 0;
}

static int take_identity(struct start_state *s, const struct event *ev)
{
	bool is_last = ev->fact.key && (!strcmp(ev->fact.key, EVENT_ENDED_NS) ||
					!strcmp(ev->fact.key, EVENT_RECORDED_NS));
	struct process *p;
	int err = 0;

	if (is_last && !known_process(s, ev->process))
		return 0;	/* all of it was forgotten */
	p = find_process(s, ev);
	if (!p)
		return -ENOMEM;
	if (ev->fact.key && ev->fact.value)
		err = pairs_set(&p->identity, ev->fact.key, ev->fact.value, IDENTITY_MAX);
	return err == -ENOMEM ? err : 0;
}

/* ---- devices, ranges, memory ---------------------------------------------------------------- */

static int take_device(struct holdings *h, const struct event *ev)
{
	struct event *own, **at;
	size_t i = 0;

	while (i < h->devices.n && h->devices.v[i]->device.facts.device != ev->device.facts.device)
		i++;
	if (i == DEVICES_MAX)
		return 0;
	own = event_clone(ev);
	at = !own ? NULL : i < h->devices.n ? &h->devices.v[i] : VEC_PUSH(&h->devices);
	if (!at) {
		free(own);
		return -ENOMEM;
	}
	free(*at);
	*at = own;
	return 0;
}

static int begin_range(struct holdings *h, const struct event *ev)
{
	struct event *own, **at;

	if (h->ranges.n >= RANGES_MAX)
		return 0;
	own = event_clone(ev);
	at = own ? VEC_PUSH(&h->ranges) : NULL;
	if (!at) {
		free(own);
		return -ENOMEM;
	}
	own->range.again = 1;
	*at = own;
	return 0;
}

static void end_range(struct holdings *h, size_t at)
{
	free(h->ranges.v[at]);
	memmove(&h->ranges.v[at], &h->ranges.v[at + 1],
		(--h->ranges.n - at) * sizeof(h->ranges.v[0]));
}

static bool is_its_end(const struct event *begin, const struct event *end)
{
	const char *a = begin->range.domain, *b = end->range.domain;

	if (end->range.what == RANGE_END)
		return begin->range.what == RANGE_START && begin->range.id == end->range.id;
	return begin->range.what == RANGE_PUSH && begin->tid == end->tid &&
	       (end->range.what == RANGE_LEAVE || (a && b ? !strcmp(a, b) : a == b));
}

static int take_range(struct holdings *h, const struct event *ev)
{
	if (ev->range.what == RANGE_PUSH || ev->range.what == RANGE_START)
		return begin_range(h, ev);
	if (ev->range.what == RANGE_MARK)
		return 0;
	for (size_t i = h->ranges.n; i-- > 0;)
		if (is_its_end(h->ranges.v[i], ev)) {
			end_range(h, i);
			if (ev->range.what != RANGE_LEAVE)
				break;
		}
	return 0;
}

static void take_free(struct holdings *h, uint64_t address)
{
	const struct map_slot *slot = map_find(&h->by_address, address);
	size_t at = slot ? slot->value : 0, last = h->allocs.n - 1;

	if (!slot)
		return;
	h->allocs.v[at] = h->allocs.v[last];
	map_find(&h->by_address, h->allocs.v[at].memory.address)->value = at;
	map_del(&h->by_address, address);
	h->allocs.n--;
}

static int take_memory(struct holdings *h, const struct event *ev)
{
	struct map_slot *slot;
	struct event *at;

	if (!ev->memory.address)
		return 0;
	take_free(h, ev->memory.address);	/* also where its free was not seen */
	if (ev->memory.op != MEMORY_ALLOC || h->allocs.n >= ALLOCS_MAX)
		return 0;
	slot = map_put(&h->by_address, ev->memory.address, NULL);
	at = slot ? VEC_PUSH(&h->allocs) : NULL;
	if (!at) {
		map_del(&h->by_address, ev->memory.address);
		return -ENOMEM;
	}
	*at = *ev;
	at->memory.again = 1;
	slot->value = h->allocs.n - 1;
	return 0;
}

/* DEVICE, RANGE, MEMORY, UNSEEN of a process that is alive. */
static int take_holding(struct start_state *s, const struct event *ev)
{
	struct process *p = known_process(s, ev->process);

	if (!p)
		return 0;
	switch (ev->kind) {
	case EVENT_DEVICE:
		return take_device(&p->has, ev);
	case EVENT_RANGE:
		return take_range(&p->has, ev);
	case EVENT_MEMORY:
		return take_memory(&p->has, ev);
	default:
		p->unsure |= ev->unseen.why == UNSEEN_LOST &&
			     (!ev->unseen.of || ev->unseen.of & UNSEEN_OF_MEMORY);
		return 0;
	}
}

/* ---- numbered events and calls that are open ------------------------------------------------- */

/* With its thread end the ranges that it began, and with the last one its process. */
static void end_thread(struct start_state *s, struct thread *t)
{
	uint32_t process = t->is.process, tid = t->is.tid;
	struct process *p = known_process(s, process);

	s->last = NULL;
	map_del(&s->threads, (uint64_t)process << 32 | tid);
	free(t);
	for (size_t i = p->has.ranges.n; i-- > 0;)
		if (p->has.ranges.v[i]->tid == tid)
			end_range(&p->has, i);
	if (!p->threads || !--p->threads) {
		free_process(p);
		map_del(&s->processes, process);
	}
}

/* CALL, ENTER, OPEN, LEFT, OFF, TAIL, EXIT: events with a number. */
static int take_numbered(struct start_state *s, const struct event *ev, struct event *out)
{
	struct thread *t = find_thread(s, ev);

	if (!t)
		return -ENOMEM;
	out->seq = ev->seq - t->base;
	if ((int32_t)(ev->seq - t->seq) > 0)
		t->seq = ev->seq;
	if (ev->kind == EVENT_ENTER)
		t->open = *ev;
	else if (ev->kind == EVENT_CALL || ev->kind == EVENT_LEFT)
		t->open.kind = 0;
	else if (ev->kind == EVENT_EXIT)
		end_thread(s, t);
	return 0;
}

/* INSIDE, GONE: without a number, and outdated once the thread has made calls. */
static int take_before(struct start_state *s, const struct event *ev)
{
	struct thread *t = find_thread(s, ev);
	bool is_inside;

	if (!t)
		return -ENOMEM;
	is_inside = t->open.kind == EVENT_INSIDE && t->open.func == ev->func &&
		    t->open.start_ns == ev->start_ns;
	if (ev->kind == EVENT_INSIDE && (is_inside || (!t->open.kind && !t->seq)))
		t->open = *ev;
	else if (ev->kind == EVENT_GONE && is_inside)
		t->open.kind = 0;
	return 0;
}

/* ---- facts and counters --------------------------------------------------------------------- */

static int take_fact(struct start_state *s, const struct event *ev, struct event *out)
{
	unsigned int counter;
	int err;

	if (!ev->fact.key || !ev->fact.value)
		return 0;
	counter = start_state_counter(ev->fact.key);
	if (counter < COUNTER_END) {
		snprintf(s->number, sizeof(s->number), "%llu",
			 (unsigned long long)num_sub(strtoull(ev->fact.value, NULL, 10),
						     s->counted[counter]));
		out->fact.value = s->number;
	}
	err = pairs_set(&s->facts, ev->fact.key, ev->fact.value, TEXTS_MAX);
	return err == -ENOMEM ? err : 0;
}

static struct reading *find_reading(struct start_state *s, const struct event *ev)
{
	struct reading *r;

	for (size_t i = 0; i < s->readings.n; i++) {
		const struct event_count *known = &s->readings.v[i].now->count;

		if (!strcmp(known->source, ev->count.source) &&
		    !strcmp(known->kind, ev->count.kind))
			return &s->readings.v[i];
	}
	r = s->readings.n < TEXTS_MAX ? VEC_PUSH(&s->readings) : NULL;
	if (!r)
		return NULL;
	r->now = event_clone(ev);
	if (r->now)
		return r;
	s->readings.n--;
	return NULL;
}

static int take_count(struct start_state *s, const struct event *ev, struct event *out)
{
	struct event_count *now;
	struct reading *r;

	if (!ev->count.source || !ev->count.kind)
		return 0;
	r = find_reading(s, ev);
	if (!r)
		return -ENOMEM;
	now = &r->now->count;
	now->hits = ev->count.hits;
	now->received = ev->count.received;
	now->lost = ev->count.lost;
	out->count.hits = now->hits - r->hits;
	out->count.received = now->received - r->received;
	out->count.lost = now->lost - r->lost;
	return 0;
}

void start_state_count_before(struct start_state *s, const char *source, const char *kind)
{
	const struct event key = { .kind = EVENT_COUNT, .count = { source, kind, 0, 0, 0 } };
	struct reading *r = find_reading(s, &key);

	if (!r)
		return;
	r->hits++;
	r->received++;
}

int start_state_take(struct start_state *s, const struct event *ev, struct event *out)
{
	*out = *ev;
	switch (ev->kind) {
	case EVENT_CALL:
	case EVENT_ENTER:
	case EVENT_OPEN:
	case EVENT_TAIL:
	case EVENT_EXIT:
	case EVENT_LEFT:
	case EVENT_OFF:
		return take_numbered(s, ev, out);
	case EVENT_INSIDE:
	case EVENT_GONE:
		return take_before(s, ev);
	case EVENT_THREAD:
		return take_thread(s, ev);
	case EVENT_PROCESS:
		return take_process(s, ev);
	case EVENT_IDENTITY:
		return take_identity(s, ev);
	case EVENT_DEVICE:
	case EVENT_RANGE:
	case EVENT_MEMORY:
	case EVENT_UNSEEN:
		return take_holding(s, ev);
	case EVENT_FRAME:
	case EVENT_STACK:
		return stacks_take(&s->stacks, ev) == -ENOMEM ? -ENOMEM : 0;
	case EVENT_FACT:
		return take_fact(s, ev, out);
	case EVENT_COUNT:
		return take_count(s, ev, out);
	default:
		return 0;
	}
}

/* ---- the beginning of a capture ------------------------------------------------------------- */

static int put(const struct event_sink *to, const struct event *ev)
{
	return to->push(to->ctx, ev);
}

static int put_facts(struct start_state *s, const struct event_sink *to)
{
	int err = 0;

	for (size_t i = 0; i < s->facts.n && !err; i++) {
		const struct pair *f = &s->facts.v[i];
		unsigned int counter = start_state_counter(f->key);

		if (counter < COUNTER_END)
			s->counted[counter] = strtoull(f->value, NULL, 10);
		else
			err = put(to, &(struct event){ .kind = EVENT_FACT, .fact.key = f->key,
						       .fact.value = f->value });
	}
	for (size_t i = 0; i < s->readings.n; i++) {
		struct reading *r = &s->readings.v[i];

		r->hits = r->now->count.hits;
		r->received = r->now->count.received;
		r->lost = r->now->count.lost;
	}
	return err;
}

/* Ranges and memory are marked as begun before. */
static int put_process(const struct process *p, const struct event_sink *to)
{
	const struct holdings *h = &p->has;
	int err = put(to, &p->is);

	for (size_t i = 0; i < p->identity.n && !err; i++)
		err = put(to, &(struct event){ .kind = EVENT_IDENTITY, .process = p->is.process,
					       .pid = p->is.pid, .tid = p->is.pid,
					       .fact.key = p->identity.v[i].key,
					       .fact.value = p->identity.v[i].value });
	if (!err && p->unsure)
		err = put(to, &(struct event){ .kind = EVENT_UNSEEN, .process = p->is.process,
					       .pid = p->is.pid,
					       .unseen.why = UNSEEN_LOST,
					       .unseen.of = UNSEEN_OF_MEMORY | UNSEEN_OF_BEFORE });
	for (size_t i = 0; i < h->devices.n && !err; i++)
		err = put(to, h->devices.v[i]);
	for (size_t i = 0; i < h->ranges.n && !err; i++)
		err = put(to, h->ranges.v[i]);
	for (size_t i = 0; i < h->allocs.n && !err; i++)
		err = put(to, &h->allocs.v[i]);
	return err;
}

static int put_thread(struct thread *t, const struct event_sink *to)
{
	struct event open = t->open;
	int err = put(to, &t->is);

	t->base = t->seq;
	if (open.kind == EVENT_ENTER) {
		t->base = open.seq - 1;
		open.seq = 1;
	}
	return !err && open.kind ? put(to, &open) : err;
}

int start_state_put(struct start_state *s, uint64_t start_ns, const struct event_sink *to)
{
	int err = put_facts(s, to);

	if (!err)
		err = put(to, &(struct event){ .kind = EVENT_START, .start_ns = start_ns });
	for (size_t i = 0; i < s->processes.cap && !err; i++)
		if (s->processes.slot[i].used && s->processes.slot[i].value)
			err = put_process((void *)(uintptr_t)s->processes.slot[i].value, to);
	for (size_t i = 0; i < s->threads.cap && !err; i++)
		if (s->threads.slot[i].used && s->threads.slot[i].value)
			err = put_thread((void *)(uintptr_t)s->threads.slot[i].value, to);
	return err ? err : stacks_put(&s->stacks, to);
}
