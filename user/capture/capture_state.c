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
#include "base/pairs.h"
#include "base/vec.h"
#include "event/registry.h"
#include "event/stacks.h"

#define TEXTS_MAX 1024		/* facts, readings; the ledger keeps no more either */
#define IDENTITY_MAX 64
#define TEXT_MAX 4096
#define DEVICES_MAX 256		/* of a process */
#define RANGES_MAX START_STATE_RANGES_MAX
#define ALLOCS_MAX 4096

struct thread {
	uint32_t process, pid, tid;
	uint32_t seq;		/* the last number seen */
	uint32_t base;		/* the present capture's number 0 */
	uint64_t birth_ns;	/* 0: unknown */
	bool has_open;
	char comm[16];
	struct event open;	/* ENTER, or latest INSIDE, of the call it is in */
};

/* The facts of a process that its source reports once. */
struct holdings {
	VEC(struct event *) devices;	/* clones */
	VEC(struct event *) ranges;	/* PUSH, START, in their order; clones */
	VEC(struct event) allocs;	/* MEMORY */
	struct map by_address;		/* -> index in allocs */
};

struct process {
	uint32_t process, pid;	/* its handle; as it is shown */
	uint32_t threads;	/* known and alive */
	uint64_t start_ns;
	char comm[16];
	uint64_t exact_ns;	/* task.process_ns */
	char *cmdline;		/* NULL: unknown */
	struct pairs identity;
	struct holdings has;
	bool unsure;		/* some of its memory may be wrong: records were lost */
};

struct fact {
	char *key, *value;
	uint64_t base;		/* of a fact that counts: its value when the capture began */
};

struct reading {
	char *source, *kind;
	uint64_t now[3], base[3];	/* hits, received, lost */
};

struct start_state {
	struct map threads;	/* process << 32 | tid -> struct thread */
	struct map processes;	/* handle -> struct process */
	struct thread *last;
	VEC(struct fact) facts;
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

	free(p->cmdline);
	pairs_free(&p->identity);
	free_holdings(&p->has);
	free(p);
}

void start_state_free(struct start_state *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->facts.n; i++) {
		free(s->facts.v[i].key);
		free(s->facts.v[i].value);
	}
	for (size_t i = 0; i < s->readings.n; i++) {
		free(s->readings.v[i].source);
		free(s->readings.v[i].kind);
	}
	map_free_each(&s->threads, free);
	map_free_each(&s->processes, free_process);
	stacks_free(&s->stacks);
	VEC_FREE(&s->facts);
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
		p->process = ev->process;
		p->pid = ev->pid;
	}
	return p;
}

static struct thread *find_thread(struct start_state *s, const struct event *ev)
{
	struct thread *t = s->last;
	struct process *p;
	bool is_new;

	if (t && t->tid == ev->tid && t->process == ev->process)
		return t;
	p = find_process(s, ev);
	if (!p)
		return NULL;
	t = find(&s->threads, (uint64_t)ev->process << 32 | ev->tid, sizeof(*t), &is_new);
	if (!t)
		return NULL;
	t->process = ev->process;
	t->pid = ev->pid;
	t->tid = ev->tid;
	p->threads += is_new;
	s->last = t;
	return t;
}

/* NULL: it is known no more. */
static struct process *known_process(const struct start_state *s, uint32_t process)
{
	const struct map_slot *slot = map_find(&s->processes, process);

	return slot ? (void *)(uintptr_t)slot->value : NULL;
}

static void forget_process(struct start_state *s, uint32_t process)
{
	struct process *p = known_process(s, process);

	if (p && (!p->threads || !--p->threads)) {
		free_process(p);
		map_del(&s->processes, process);
	}
}

static void forget_thread(struct start_state *s, struct thread *t)
{
	uint32_t process = t->process;

	s->last = NULL;
	map_del(&s->threads, (uint64_t)process << 32 | t->tid);
	free(t);
	forget_process(s, process);
}

static void copy_comm(char comm[16], const char *text)
{
	if (text && *text)
		snprintf(comm, 16, "%s", text);
}

static int take_thread(struct start_state *s, const struct event *ev)
{
	struct thread *t = find_thread(s, ev);

	if (!t)
		return -ENOMEM;
	if (births_compare(t->birth_ns, ev->start_ns) == BIRTH_NEWER)	/* its number, used again */
		*t = (struct thread){ .process = ev->process, .pid = ev->pid, .tid = ev->tid };
	if (ev->start_ns > t->birth_ns)
		t->birth_ns = ev->start_ns;
	copy_comm(t->comm, ev->task.comm);
	return 0;
}

static int replace(char **at, const char *text)
{
	char *copy = strndup(text, TEXT_MAX);

	if (!copy)
		return -ENOMEM;
	free(*at);
	*at = copy;
	return 0;
}

static int take_process(struct start_state *s, const struct event *ev)
{
	struct process *p = find_process(s, ev);

	if (!p)
		return -ENOMEM;
	if (ev->start_ns)
		p->start_ns = ev->start_ns;
	if (ev->task.comm)
		pairs_free(&p->identity);
	if (ev->task.process_ns)
		p->exact_ns = ev->task.process_ns;
	copy_comm(p->comm, ev->task.comm);
	if (ev->end_ns)		/* another program: its devices, ranges and memory are gone */
		free_holdings(&p->has);
	return ev->task.cmdline ? replace(&p->cmdline, ev->task.cmdline) : 0;
}

static int take_identity(struct start_state *s, const struct event *ev)
{
	bool is_last = ev->fact.key && (!strcmp(ev->fact.key, EVENT_ENDED_NS) ||
					!strcmp(ev->fact.key, EVENT_RECORDED_NS));
	struct process *p;
	int err = -EINVAL;

	if (is_last && !map_find(&s->processes, ev->process))
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
	struct event *own, **at = NULL;

	for (size_t i = 0; i < h->devices.n && !at; i++)
		if (h->devices.v[i]->device.facts.device == ev->device.facts.device)
			at = &h->devices.v[i];
	if (!at && h->devices.n >= DEVICES_MAX)
		return 0;
	own = event_clone(ev);
	if (own && at)
		free(*at);
	else if (own)
		at = VEC_PUSH(&h->devices);
	if (!own || !at) {
		free(own);
		return -ENOMEM;
	}
	*at = own;
	return 0;
}

static bool same_text(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
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
	if (end->range.what == RANGE_END)
		return begin->range.what == RANGE_START && begin->range.id == end->range.id;
	return begin->range.what == RANGE_PUSH && begin->tid == end->tid &&
	       same_text(begin->range.domain, end->range.domain);
}

static int take_range(struct holdings *h, const struct event *ev)
{
	if (ev->range.what == RANGE_PUSH || ev->range.what == RANGE_START)
		return begin_range(h, ev);
	if (ev->range.what != RANGE_POP && ev->range.what != RANGE_END)
		return 0;
	for (size_t i = h->ranges.n; i-- > 0;)
		if (is_its_end(h->ranges.v[i], ev)) {
			end_range(h, i);
			break;
		}
	return 0;
}

/* The thread has ended, and with it the ranges that it began. */
static void end_ranges_of(struct holdings *h, uint32_t tid)
{
	for (size_t i = h->ranges.n; i-- > 0;)
		if (h->ranges.v[i]->tid == tid)
			end_range(h, i);
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

/* DEVICE, RANGE, MEMORY of a process that is alive. */
static int take_holding(struct start_state *s, const struct event *ev)
{
	struct process *p = known_process(s, ev->process);

	if (!p)
		return 0;
	return ev->kind == EVENT_DEVICE ? take_device(&p->has, ev) :
	       ev->kind == EVENT_RANGE ? take_range(&p->has, ev) : take_memory(&p->has, ev);
}

static int take_unseen(struct start_state *s, const struct event *ev)
{
	struct process *p = known_process(s, ev->process);

	if (p && ev->unseen.why == UNSEEN_LOST &&
	    (!ev->unseen.of || ev->unseen.of & UNSEEN_OF_MEMORY))
		p->unsure = true;
	return 0;
}

/* ---- numbered events and calls that are open ------------------------------------------------- */

static void keep_open(struct thread *t, const struct event *ev)
{
	t->has_open = true;
	t->open = *ev;
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
		keep_open(t, ev);
	else if (ev->kind == EVENT_CALL || ev->kind == EVENT_LEFT)
		t->has_open = false;
	if (ev->kind == EVENT_EXIT) {
		end_ranges_of(&find_process(s, ev)->has, ev->tid);
		forget_thread(s, t);
	}
	return 0;
}

static bool is_inside(const struct thread *t, const struct event *ev)
{
	return t->has_open && t->open.kind == EVENT_INSIDE && t->open.func == ev->func &&
	       t->open.start_ns == ev->start_ns;
}

/* INSIDE, GONE: without a number, and outdated once the thread has made calls. */
static int take_before(struct start_state *s, const struct event *ev)
{
	struct thread *t = find_thread(s, ev);

	if (!t)
		return -ENOMEM;
	if (ev->kind == EVENT_INSIDE && (is_inside(t, ev) || (!t->has_open && !t->seq)))
		keep_open(t, ev);
	else if (ev->kind == EVENT_GONE && is_inside(t, ev))
		t->has_open = false;
	return 0;
}

/* ---- facts and counters --------------------------------------------------------------------- */

static bool is_counter(const char *key)
{
	for (size_t i = 0; i < COUNTER_END; i++)
		if (!strcmp(key, counter_name(i)))
			return true;
	return false;
}

bool start_state_counts(const struct event *ev)
{
	return ev->kind == EVENT_COUNT ||
	       (ev->kind == EVENT_FACT && ev->fact.key && is_counter(ev->fact.key));
}

static int take_fact(struct start_state *s, const struct event *ev, struct event *out)
{
	struct fact *f = NULL;

	if (!ev->fact.key || !ev->fact.value)
		return 0;
	for (size_t i = 0; i < s->facts.n && !f; i++)
		if (!strncmp(s->facts.v[i].key, ev->fact.key, TEXT_MAX))
			f = &s->facts.v[i];
	if (!f && s->facts.n == TEXTS_MAX)
		return 0;
	if (!f) {
		f = VEC_PUSH(&s->facts);
		if (!f || replace(&f->key, ev->fact.key)) {
			s->facts.n -= f != NULL;
			return -ENOMEM;
		}
	}
	if (is_counter(f->key)) {
		uint64_t n = strtoull(ev->fact.value, NULL, 10);

		snprintf(s->number, sizeof(s->number), "%llu",
			 (unsigned long long)(n > f->base ? n - f->base : 0));
		out->fact.value = s->number;
	}
	return replace(&f->value, ev->fact.value);
}

static struct reading *find_reading(struct start_state *s, const struct event *ev)
{
	struct reading *d;

	for (size_t i = 0; i < s->readings.n; i++)
		if (!strcmp(s->readings.v[i].source, ev->count.source) &&
		    !strcmp(s->readings.v[i].kind, ev->count.kind))
			return &s->readings.v[i];
	d = s->readings.n < TEXTS_MAX ? VEC_PUSH(&s->readings) : NULL;
	if (!d)
		return NULL;
	if (!replace(&d->source, ev->count.source) && !replace(&d->kind, ev->count.kind))
		return d;
	free(d->source);
	s->readings.n--;
	return NULL;
}

static int take_count(struct start_state *s, const struct event *ev, struct event *out)
{
	struct reading *d = ev->count.source && ev->count.kind ? find_reading(s, ev) : NULL;

	if (!d)
		return ev->count.source && ev->count.kind ? -ENOMEM : 0;
	d->now[0] = ev->count.hits;
	d->now[1] = ev->count.received;
	d->now[2] = ev->count.lost;
	out->count.hits = d->now[0] - d->base[0];
	out->count.received = d->now[1] - d->base[1];
	out->count.lost = d->now[2] - d->base[2];
	return 0;
}

void start_state_count_before(struct start_state *s, const char *source, const char *kind)
{
	const struct event key = { .kind = EVENT_COUNT, .count = { source, kind, 0, 0, 0 } };
	struct reading *d = find_reading(s, &key);

	if (!d)
		return;
	d->base[0]++;
	d->base[1]++;
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
		return take_holding(s, ev);
	case EVENT_UNSEEN:
		return take_unseen(s, ev);
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
		struct fact *f = &s->facts.v[i];

		if (is_counter(f->key))
			f->base = strtoull(f->value, NULL, 10);
		else
			err = put(to, &(struct event){ .kind = EVENT_FACT, .fact.key = f->key,
						       .fact.value = f->value });
	}
	for (size_t i = 0; i < s->readings.n; i++)
		memcpy(s->readings.v[i].base, s->readings.v[i].now, sizeof(s->readings.v[i].now));
	return err;
}

/* Ranges and memory are marked as begun before. */
static int put_holdings(const struct holdings *h, const struct event_sink *to)
{
	int err = 0;

	for (size_t i = 0; i < h->devices.n && !err; i++)
		err = put(to, h->devices.v[i]);
	for (size_t i = 0; i < h->ranges.n && !err; i++)
		err = put(to, h->ranges.v[i]);
	for (size_t i = 0; i < h->allocs.n && !err; i++)
		err = put(to, &h->allocs.v[i]);
	return err;
}

static int put_process(const struct process *p, const struct event_sink *to)
{
	struct event ev = { .kind = EVENT_PROCESS, .process = p->process, .pid = p->pid,
			    .tid = p->pid, .start_ns = p->start_ns,
			    .task.comm = *p->comm ? p->comm : NULL,
			    .task.cmdline = p->cmdline };
	int err;

	ev.task.process_ns = p->exact_ns;
	err = put(to, &ev);
	for (size_t i = 0; i < p->identity.n && !err; i++)
		err = put(to, &(struct event){ .kind = EVENT_IDENTITY, .process = p->process,
					       .pid = p->pid, .tid = p->pid,
					       .fact.key = p->identity.v[i].key,
					       .fact.value = p->identity.v[i].value });
	if (!err && p->unsure)
		err = put(to, &(struct event){ .kind = EVENT_UNSEEN, .process = p->process,
					       .pid = p->pid,
					       .unseen.why = UNSEEN_LOST,
					       .unseen.of = UNSEEN_OF_MEMORY | UNSEEN_OF_BEFORE });
	return err ? err : put_holdings(&p->has, to);
}

static int put_thread(struct thread *t, const struct event_sink *to)
{
	struct event open = t->open;
	int err = put(to, &(struct event){ .kind = EVENT_THREAD, .process = t->process,
					   .pid = t->pid, .tid = t->tid,
					   .start_ns = t->birth_ns,
					   .task.comm = *t->comm ? t->comm : NULL });

	t->base = t->seq;
	if (t->has_open && open.kind == EVENT_ENTER) {
		t->base = open.seq - 1;
		open.seq = 1;
	}
	return !err && t->has_open ? put(to, &open) : err;
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
