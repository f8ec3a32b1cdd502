// SPDX-License-Identifier: BSD-3-Clause
/* See the header. Bounded by what lives: what ended is forgotten. */
#include "capture/roster.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/pairs.h"
#include "base/vec.h"
#include "event/counters.h"
#include "capture/holdings.h"
#include "event/stacks.h"

#define TEXTS_MAX 1024		/* facts, readings; the ledger keeps no more either */
#define IDENTITY_MAX 64
#define TEXT_MAX 4096
#define SAME_BIRTH_NS 20000000ull	/* two readings of one birth differ by less */

struct thread {
	uint32_t pid, tid;
	uint32_t seq;		/* the last number seen */
	uint32_t base;		/* the present capture's number 0 */
	uint64_t birth_ns;	/* 0: unknown */
	bool has_open;
	char comm[16];
	struct event open;	/* ENTER, or latest INSIDE, of the call it is in; without texts */
};

struct process {
	uint32_t pid;
	uint32_t threads;	/* known and alive */
	uint64_t start_ns;
	char comm[16];
	uint64_t exact_ns;	/* EVENT_PROCESS_NS */
	char *cmdline;		/* NULL: unknown */
	struct pairs identity;
	struct holdings *holdings;	/* NULL: it has none */
	bool unsure;			/* some of them may be wrong: records of memory were lost */
};

struct fact {
	char *key, *value;
	uint64_t base;		/* of a fact that counts: its value when the capture began */
};

struct reading {
	char *source, *kind;
	uint64_t now[3], base[3];	/* hits, received, lost */
};

struct roster {
	struct map threads;	/* pid << 32 | tid -> struct thread */
	struct map processes;
	struct thread *last;
	VEC(struct fact) facts;
	VEC(struct reading) readings;
	char number[32];
	struct stacks stacks;
};

struct roster *roster_new(void)
{
	return calloc(1, sizeof(struct roster));
}

static void free_process(void *process)
{
	struct process *p = process;

	free(p->cmdline);
	pairs_free(&p->identity);
	holdings_free(p->holdings);
	free(p);
}

void roster_free(struct roster *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->facts.n; i++) {
		free(r->facts.v[i].key);
		free(r->facts.v[i].value);
	}
	for (size_t i = 0; i < r->readings.n; i++) {
		free(r->readings.v[i].source);
		free(r->readings.v[i].kind);
	}
	map_free_each(&r->threads, free);
	map_free_each(&r->processes, free_process);
	stacks_free(&r->stacks);
	VEC_FREE(&r->facts);
	VEC_FREE(&r->readings);
	free(r);
}

/* ---- threads and processes ------------------------------------------------------------------ */

/* What lies under key, made of size if need be. NULL: out of memory. */
static void *find(struct map *m, uint64_t key, size_t size, bool *is_new)
{
	struct map_slot *slot = map_put(m, key, NULL);

	*is_new = slot && !slot->value;
	if (*is_new)
		slot->value = (uintptr_t)calloc(1, size);
	return slot ? (void *)(uintptr_t)slot->value : NULL;
}

static struct process *find_process(struct roster *r, uint32_t pid)
{
	bool is_new;
	struct process *p = find(&r->processes, pid, sizeof(*p), &is_new);

	if (p)
		p->pid = pid;
	return p;
}

static struct thread *find_thread(struct roster *r, const struct event *ev)
{
	struct thread *t = r->last;
	struct process *p;
	bool is_new;

	if (t && t->tid == ev->tid && t->pid == ev->pid)
		return t;
	p = find_process(r, ev->pid);
	if (!p)
		return NULL;
	t = find(&r->threads, (uint64_t)ev->pid << 32 | ev->tid, sizeof(*t), &is_new);
	if (!t)
		return NULL;
	t->pid = ev->pid;
	t->tid = ev->tid;
	p->threads += is_new;
	r->last = t;
	return t;
}

/* NULL: it is known no more. */
static struct process *known_process(const struct roster *r, uint32_t pid)
{
	const struct map_slot *slot = map_find(&r->processes, pid);

	return slot ? (void *)(uintptr_t)slot->value : NULL;
}

static void forget_process(struct roster *r, uint32_t pid)
{
	struct process *p = known_process(r, pid);

	if (p && (!p->threads || !--p->threads)) {
		free_process(p);
		map_del(&r->processes, pid);
	}
}

static void forget_thread(struct roster *r, struct thread *t)
{
	uint32_t pid = t->pid;

	r->last = NULL;
	map_del(&r->threads, (uint64_t)pid << 32 | t->tid);
	free(t);
	forget_process(r, pid);
}

static void copy_comm(char comm[16], const char *text)
{
	if (text && *text)
		snprintf(comm, 16, "%s", text);
}

static int take_thread(struct roster *r, const struct event *ev)
{
	struct thread *t = find_thread(r, ev);

	if (!t)
		return -ENOMEM;
	if (t->birth_ns && ev->start_ns > t->birth_ns + SAME_BIRTH_NS)	/* its number, used again */
		*t = (struct thread){ .pid = ev->pid, .tid = ev->tid };
	if (ev->start_ns > t->birth_ns)
		t->birth_ns = ev->start_ns;
	copy_comm(t->comm, ev->text);
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

static int take_process(struct roster *r, const struct event *ev)
{
	struct process *p = find_process(r, ev->pid);

	if (!p)
		return -ENOMEM;
	if (ev->start_ns)
		p->start_ns = ev->start_ns;
	if (ev->text || (p->exact_ns && EVENT_PROCESS_NS(ev) && EVENT_PROCESS_NS(ev) != p->exact_ns))
		pairs_free(&p->identity);
	if (EVENT_PROCESS_NS(ev))
		p->exact_ns = EVENT_PROCESS_NS(ev);
	copy_comm(p->comm, ev->text);
	if (ev->end_ns) {		/* another program: nothing is left of what it had */
		holdings_free(p->holdings);
		p->holdings = NULL;
	}
	return ev->text2 ? replace(&p->cmdline, ev->text2) : 0;
}

static int take_identity(struct roster *r, const struct event *ev)
{
	bool is_last = ev->text && !strcmp(ev->text, EVENT_ENDED_NS);
	struct process *p;
	int err = -EINVAL;

	if (is_last && !map_find(&r->processes, ev->pid))
		return 0;	/* all of it was forgotten */
	p = find_process(r, ev->pid);
	if (!p)
		return -ENOMEM;
	if (ev->text && ev->text2)
		err = pairs_set(&p->identity, ev->text, ev->text2, IDENTITY_MAX);
	return err == -ENOMEM ? err : 0;
}

static int take_holding(struct roster *r, const struct event *ev)
{
	struct process *p = known_process(r, ev->pid);

	return p ? holdings_take(&p->holdings, ev) : 0;
}

static int take_unseen(struct roster *r, const struct event *ev)
{
	struct process *p = known_process(r, ev->pid);

	if (p && ev->dir == UNSEEN_LOST && (!ev->func || ev->func & UNSEEN_OF_MEMORY))
		p->unsure = true;
	return 0;
}

static void keep_open(struct thread *t, const struct event *ev)
{
	t->has_open = true;
	t->open = *ev;
	t->open.text = t->open.text2 = NULL;
}

/* CALL, ENTER, OPEN, LEFT, OFF, TAIL, EXIT: what has a number. */
static int take_numbered(struct roster *r, const struct event *ev, struct event *out)
{
	struct thread *t = find_thread(r, ev);

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
		holdings_exit(find_process(r, ev->pid)->holdings, ev->tid);
		forget_thread(r, t);
	}
	return 0;
}

static bool is_inside(const struct thread *t, const struct event *ev)
{
	return t->has_open && t->open.kind == EVENT_INSIDE && t->open.func == ev->func &&
	       t->open.start_ns == ev->start_ns;
}

/* INSIDE, GONE: what has no number, and tells nothing once the thread has made calls. */
static int take_before(struct roster *r, const struct event *ev)
{
	struct thread *t = find_thread(r, ev);

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
		if (!strcmp(key, counter_names[i]))
			return true;
	return false;
}

bool roster_counts(const struct event *ev)
{
	return ev->kind == EVENT_COUNT ||
	       (ev->kind == EVENT_FACT && ev->text && is_counter(ev->text));
}

static int take_fact(struct roster *r, const struct event *ev, struct event *out)
{
	struct fact *f = NULL;

	if (!ev->text || !ev->text2)
		return 0;
	for (size_t i = 0; i < r->facts.n && !f; i++)
		if (!strncmp(r->facts.v[i].key, ev->text, TEXT_MAX))
			f = &r->facts.v[i];
	if (!f && r->facts.n == TEXTS_MAX)
		return 0;
	if (!f) {
		f = VEC_PUSH(&r->facts);
		if (!f || replace(&f->key, ev->text)) {
			r->facts.n -= f != NULL;
			return -ENOMEM;
		}
	}
	if (is_counter(f->key)) {
		uint64_t n = strtoull(ev->text2, NULL, 10);

		snprintf(r->number, sizeof(r->number), "%llu",
			 (unsigned long long)(n > f->base ? n - f->base : 0));
		out->text2 = r->number;
	}
	return replace(&f->value, ev->text2);
}

static struct reading *find_reading(struct roster *r, const struct event *ev)
{
	struct reading *d;

	for (size_t i = 0; i < r->readings.n; i++)
		if (!strcmp(r->readings.v[i].source, ev->text) &&
		    !strcmp(r->readings.v[i].kind, ev->text2))
			return &r->readings.v[i];
	d = r->readings.n < TEXTS_MAX ? VEC_PUSH(&r->readings) : NULL;
	if (!d)
		return NULL;
	if (!replace(&d->source, ev->text) && !replace(&d->kind, ev->text2))
		return d;
	free(d->source);
	r->readings.n--;
	return NULL;
}

static int take_count(struct roster *r, const struct event *ev, struct event *out)
{
	struct reading *d = ev->text && ev->text2 ? find_reading(r, ev) : NULL;

	if (!d)
		return ev->text && ev->text2 ? -ENOMEM : 0;
	d->now[0] = EVENT_HITS(ev);
	d->now[1] = EVENT_RECEIVED(ev);
	d->now[2] = EVENT_LOST(ev);
	out->start_ns = d->now[0] - d->base[0];
	out->end_ns = d->now[1] - d->base[1];
	out->bytes = d->now[2] - d->base[2];
	return 0;
}

void roster_count_before(struct roster *r, const char *source, const char *kind)
{
	struct reading *d = find_reading(r, &(struct event){ .text = source, .text2 = kind });

	if (!d)
		return;
	d->base[0]++;
	d->base[1]++;
}

int roster_take(struct roster *r, const struct event *ev, struct event *out)
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
		return take_numbered(r, ev, out);
	case EVENT_INSIDE:
	case EVENT_GONE:
		return take_before(r, ev);
	case EVENT_THREAD:
		return take_thread(r, ev);
	case EVENT_PROCESS:
		return take_process(r, ev);
	case EVENT_IDENTITY:
		return take_identity(r, ev);
	case EVENT_DEVICE:
	case EVENT_RANGE:
	case EVENT_MEMORY:
		return take_holding(r, ev);
	case EVENT_UNSEEN:
		return take_unseen(r, ev);
	case EVENT_FRAME:
	case EVENT_STACK:
		return stacks_take(&r->stacks, ev) == -ENOMEM ? -ENOMEM : 0;
	case EVENT_FACT:
		return take_fact(r, ev, out);
	case EVENT_COUNT:
		return take_count(r, ev, out);
	default:
		return 0;
	}
}

/* ---- the beginning of a capture ------------------------------------------------------------- */

static int put(const struct event_sink *to, const struct event *ev)
{
	return to->push(to->ctx, ev);
}

static int put_facts(struct roster *r, const struct event_sink *to)
{
	int err = 0;

	for (size_t i = 0; i < r->facts.n && !err; i++) {
		struct fact *f = &r->facts.v[i];

		if (is_counter(f->key))
			f->base = strtoull(f->value, NULL, 10);
		else
			err = put(to, &(struct event){ .kind = EVENT_FACT, .text = f->key,
						       .text2 = f->value });
	}
	for (size_t i = 0; i < r->readings.n; i++)
		memcpy(r->readings.v[i].base, r->readings.v[i].now, sizeof(r->readings.v[i].now));
	return err;
}

static int put_process(const struct process *p, const struct event_sink *to)
{
	struct event ev = { .kind = EVENT_PROCESS, .pid = p->pid, .tid = p->pid,
			    .start_ns = p->start_ns, .text = *p->comm ? p->comm : NULL,
			    .text2 = p->cmdline };
	int err;

	EVENT_PROCESS_NS(&ev) = p->exact_ns;
	err = put(to, &ev);
	for (size_t i = 0; i < p->identity.n && !err; i++)
		err = put(to, &(struct event){ .kind = EVENT_IDENTITY, .pid = p->pid, .tid = p->pid,
					       .text = p->identity.v[i].key,
					       .text2 = p->identity.v[i].value });
	if (!err && p->unsure)
		err = put(to, &(struct event){ .kind = EVENT_UNSEEN, .pid = p->pid, .dir = UNSEEN_LOST,
					       .func = UNSEEN_OF_MEMORY | UNSEEN_OF_BEFORE });
	return err ? err : holdings_put(p->holdings, p->pid, to);
}

static int put_thread(struct thread *t, const struct event_sink *to)
{
	struct event open = t->open;
	int err = put(to, &(struct event){ .kind = EVENT_THREAD, .pid = t->pid, .tid = t->tid,
					   .start_ns = t->birth_ns,
					   .text = *t->comm ? t->comm : NULL });

	t->base = t->seq;
	if (t->has_open && open.kind == EVENT_ENTER) {
		t->base = open.seq - 1;
		open.seq = 1;
	}
	return !err && t->has_open ? put(to, &open) : err;
}

int roster_begin(struct roster *r, uint64_t start_ns, const struct event_sink *to)
{
	int err = put_facts(r, to);

	if (!err)
		err = put(to, &(struct event){ .kind = EVENT_START, .start_ns = start_ns });
	for (size_t i = 0; i < r->processes.cap && !err; i++)
		if (r->processes.slot[i].used && r->processes.slot[i].value)
			err = put_process((void *)(uintptr_t)r->processes.slot[i].value, to);
	for (size_t i = 0; i < r->threads.cap && !err; i++)
		if (r->threads.slot[i].used && r->threads.slot[i].value)
			err = put_thread((void *)(uintptr_t)r->threads.slot[i].value, to);
	return err ? err : stacks_put(&r->stacks, to);
}
