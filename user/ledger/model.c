// SPDX-License-Identifier: BSD-3-Clause
/*
 * Events into the model: one function per kind. Keeps the session's clock and counters; who is
 * who is model_who.c, time is thread_book.c, statistics are call_stats.c, reading is model_read.c.
 */
#include "ledger/model.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ledger/model_state.h"

#define FACTS_MAX 1024
#define READINGS_MAX 1024
#define IDENTITY_MAX 64
#define TEXT_MAX 4096		/* longer texts are cut */

struct model *model_new(const struct funcs *funcs)
{
	struct model *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->funcs = funcs;
	if (!device_init(m))
		return m;
	device_free(m);
	free(m);
	return NULL;
}

void model_free(struct model *m)
{
	if (!m)
		return;
	who_free(m);
	for (size_t i = 0; i < m->readings.n; i++) {
		free(m->readings.v[i].source);
		free(m->readings.v[i].kind);
	}
	device_free(m);
	pairs_free(&m->facts);
	VEC_FREE(&m->readings);
	stacks_free(&m->stacks);
	offcpu_free(&m->offcpu);
	kernel_configs_free(&m->kernel_configs);
	kernel_configs_free(&m->pending_configs);
	free(m);
}

static int invalid(struct model *m, const struct event *ev)
{
	m->counts.invalid[ev->kind]++;
	return 0;
}

void model_note_found(struct model *m, unsigned int kind, unsigned int found)
{
	m->counts.invalid[kind] += !!(found & BOOK_INVALID);
	m->counts.skew[kind] += !!(found & BOOK_SKEW);
	m->counts.late[kind] += !!(found & BOOK_LATE);
}

void model_see_time(struct model *m, uint64_t ns)
{
	if (ns > m->now_ns)
		m->now_ns = ns;
}

/* ---- calls ------------------------------------------------------------------------------- */

static void begin_session(struct model *m, uint64_t start_ns)
{
	m->session.start_ns = m->session.interval_ns = start_ns;
}

static void open_book(struct model *m, struct thread *t, uint64_t first_ns)
{
	/* A capture whose beginning is damaged: the session is what can be seen of it. */
	if (!m->session.start_ns)
		begin_session(m, first_ns);
	book_init(&t->book, m->session.interval_ns, &t->process->unarmed);
	book_birth(&t->book, t->birth_ns);
	if (m->session.stop_ns)
		book_stop(&t->book, m->session.stop_ns);
	t->has_book = true;
}

struct thread *model_find_thread(struct model *m, const struct event *ev, uint64_t first_ns)
{
	struct thread *t = who_thread(m, ev->pid, ev->tid);

	if (__builtin_expect(t && t->has_book && !t->ended, 1))
		return t;
	if (t && t->ended && (ev->seq == 1 || (t->has_book && first_ns >= t->book.exit)) &&
	    ev->kind != EVENT_TAIL)
		t = who_new_thread(m, t, 0);
	if (t && !t->has_book)
		open_book(m, t, first_ns);
	return t;
}

static const struct func *find_func(const struct model *m, const struct event *ev)
{
	return ev->func < m->funcs->n ? &m->funcs->v[ev->func] : NULL;
}

static int tally_call(struct thread *t, const struct event *ev)
{
	struct call_stat *s;

	if (!t->cache)
		t->cache = calloc(1, sizeof(*t->cache));
	if (!t->cache)
		return -ENOMEM;
	s = call_cache_find(t->cache, &t->process->info.calls, ev);
	return s ? call_stat_add(s, ev) : -ENOMEM;
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

static int push_call(struct model *m, const struct event *ev)
{
	struct thread *t = model_find_thread(m, ev, ev->start_ns);
	bool before = t && t->book.before;
	const struct func *fn = find_func(m, ev);
	uint16_t func = before ? t->book.open_func : 0;
	uint64_t cursor = t ? t->book.cursor : 0;
	unsigned int found;

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
		return 0;
	device_note_call(m, t, cursor, ev, fn->class);
	if (ev->kind != EVENT_CALL && ev->kind != EVENT_LEFT) {
		model_see_time(m, ev->start_ns);
		return 0;
	}
	model_see_time(m, ev->end_ns);
	if (ev->kind == EVENT_LEFT)
		return tally_before(t, ev);
	if (1u << fn->class & MEMORY_CALL_CLASSES && memory_note_call(m, t->process, ev, fn))
		return -ENOMEM;
	if (graph_note_call(m, t, ev, fn))
		return -ENOMEM;
	return tally_call(t, ev);
}

static int push_inside(struct model *m, const struct event *ev)
{
	struct thread *t = model_find_thread(m, ev, ev->start_ns);
	uint64_t cursor = t ? t->book.cursor : 0;

	if (!t)
		return -ENOMEM;
	model_note_found(m, ev->kind, book_push(&t->book, ev, find_func(m, ev)));
	device_note_call(m, t, cursor, ev, t->book.open_class);
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
	struct thread *t = model_find_thread(m, ev, ev->start_ns);
	bool before = t && t->book.before;
	uint64_t cursor = t ? t->book.cursor : 0;

	if (!t)
		return -ENOMEM;
	model_note_found(m, ev->kind, book_push(&t->book, ev, NULL));
	device_note_call(m, t, cursor, ev, BUCKET_UNKNOWN);
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
	t = model_find_thread(m, ev, m->now_ns);
	if (!t)
		return -ENOMEM;
	model_note_found(m, ev->kind, book_push(&t->book, ev, NULL));
	t->drives = true;
	return 0;
}

static int push_exit(struct model *m, const struct event *ev)
{
	struct thread *t = model_find_thread(m, ev, ev->end_ns);
	unsigned int found;
	int err;

	if (!t)
		return -ENOMEM;
	if (!t->birth_ns && !t->ended && ev->start_ns && ev->start_ns <= ev->end_ns) {
		t->birth_ns = ev->start_ns;
		book_birth(&t->book, ev->start_ns);
	}
	found = book_push(&t->book, ev, NULL);
	model_note_found(m, ev->kind, found);
	if (found & BOOK_INVALID)
		return 0;
	model_see_time(m, ev->end_ns);
	t->drives |= ev->seq > 1;
	thread_ends(t);
	range_exit(t, ev->end_ns);
	err = past_note_exit(m, t, ev);
	if (!err)
		err = join_push(m->join, ev);
	return err ? err : past_age(m, ev->tid == ev->pid);
}

/* ---- processes and threads ---------------------------------------------------------------- */

static void copy_comm(char comm[16], const char *text)
{
	if (!text || !*text)
		return;
	strncpy(comm, text, 15);
	comm[15] = '\0';
}

static int push_thread(struct model *m, const struct event *ev)
{
	uint64_t process_ns = ev->task.process_ns;
	int err = process_ns ? who_meet_process(m, ev->pid, 0, process_ns) : 0;
	struct thread *t = err ? NULL : who_thread(m, ev->pid, ev->tid);
	enum who_birth birth;

	if (err == -ESTALE)
		return invalid(m, ev);
	if (!t)
		return -ENOMEM;
	birth = who_compare_births(t->birth_ns, ev->start_ns);
	if (birth == BIRTH_OLDER)
		return invalid(m, ev);
	if (birth == BIRTH_NEWER || (t->ended && t->has_book && ev->start_ns >= t->book.exit))
		t = who_new_thread(m, t, ev->start_ns);
	if (!t)
		return -ENOMEM;
	if (ev->start_ns > t->birth_ns)
		t->birth_ns = ev->start_ns;
	if (t->has_book)
		book_birth(&t->book, t->birth_ns);
	copy_comm(t->comm, ev->task.comm);
	if (ev->tid == ev->pid && !t->process->info.comm[0])
		copy_comm(t->process->info.comm, ev->task.comm);
	return 0;
}

static int replace_text(char **at, const char *text)
{
	char *copy = strndup(text, TEXT_MAX);

	if (!copy)
		return -ENOMEM;
	free(*at);
	*at = copy;
	return 0;
}

static int push_process(struct model *m, const struct event *ev)
{
	int err = who_meet_process(m, ev->pid, ev->start_ns, ev->task.process_ns);
	struct process *p = err ? NULL : who_process(m, ev->pid);

	if (err == -ESTALE)
		return invalid(m, ev);
	if (!p)
		return -ENOMEM;
	if (ev->task.comm)		/* else no more than its birth is said */
		pairs_free(&p->identity);
	copy_comm(p->info.comm, ev->task.comm);
	if (ev->end_ns > p->info.exec_ns && p->graphs)
		graphs_exec(p->graphs, ev->end_ns);
	if (ev->end_ns && memory_exec(p, ev->end_ns))
		return -ENOMEM;
	if (ev->task.cmdline && replace_text(&p->cmdline, ev->task.cmdline))
		return -ENOMEM;
	p->info.cmdline = p->cmdline;
	return m->join ? join_push(m->join, ev) : 0;
}

static int push_identity(struct model *m, const struct event *ev)
{
	struct process *p = who_process(m, ev->pid);
	int err = !p ? -ENOMEM : !ev->fact.key || !ev->fact.value ? -EINVAL :
		  pairs_set(&p->identity, ev->fact.key, ev->fact.value, IDENTITY_MAX);

	if (err)
		return err == -ENOMEM ? err : invalid(m, ev);
	return past_note_fact(m, p, ev);
}

static int push_fork(struct model *m, const struct event *ev)
{
	struct process *p = who_process(m, ev->pid);
	struct model_child *c;

	if (p && !p->info.child)
		p->info.child = calloc(MODEL_CHILDREN, sizeof(*c));
	if (!p || !p->info.child)
		return -ENOMEM;
	p->info.children++;
	if (p->info.n_child >= MODEL_CHILDREN)
		return 0;
	c = &p->info.child[p->info.n_child++];
	c->pid = ev->tid;
	c->start_ns = ev->start_ns;
	copy_comm(c->comm, ev->task.comm);
	return 0;
}

static int push_unarmed(struct model *m, const struct event *ev)
{
	struct process *p = who_process(m, ev->pid);
	int err = p ? intervals_add(&p->unarmed, ev->start_ns, ev->end_ns) : -ENOMEM;

	if (err == -ENOMEM)
		return err;
	if (err)
		return invalid(m, ev);
	for (size_t i = 0; i < m->threads.n; i++) {
		struct thread *t = m->threads.v[i];

		if (t->process == p && t->has_book)
			model_note_found(m, ev->kind, book_unarmed(&t->book, ev->start_ns, ev->end_ns));
	}
	return 0;
}

/* ---- the session -------------------------------------------------------------------------- */

static int push_start(struct model *m, const struct event *ev)
{
	if (m->session.start_ns)
		return invalid(m, ev);
	begin_session(m, ev->start_ns);
	model_see_time(m, ev->start_ns);
	return join_push(m->join, ev);
}

static int push_stop(struct model *m, const struct event *ev)
{
	if (m->session.stop_ns || !ev->end_ns)
		return invalid(m, ev);
	m->session.stop_ns = ev->end_ns;
	for (size_t i = 0; i < m->threads.n; i++)
		if (m->threads.v[i]->has_book)
			book_stop(&m->threads.v[i]->book, ev->end_ns);
	range_stop(m, ev->end_ns);
	return join_push(m->join, ev);
}

static int push_watermark(struct model *m, const struct event *ev)
{
	model_see_time(m, ev->end_ns);
	return memory_watermark(m, ev->end_ns) ? -ENOMEM : device_watermark(m, ev);
}

static int push_fact(struct model *m, const struct event *ev)
{
	int err = ev->fact.key && ev->fact.value ? pairs_set(&m->facts, ev->fact.key, ev->fact.value, FACTS_MAX) : -EINVAL;

	m->without_probes |= !err && !strcmp(ev->fact.key, "without_probes");
	return err && err != -ENOMEM ? invalid(m, ev) : err;
}

static struct reading *find_reading(const struct model *m, const struct event *ev)
{
	for (size_t i = 0; i < m->readings.n; i++)
		if (!strncmp(m->readings.v[i].source, ev->count.source, TEXT_MAX) &&
		    !strncmp(m->readings.v[i].kind, ev->count.kind, TEXT_MAX))
			return &m->readings.v[i];
	return NULL;
}

static int push_count(struct model *m, const struct event *ev)
{
	struct reading *r = ev->count.source && ev->count.kind ? find_reading(m, ev) : NULL;

	if (!ev->count.source || !ev->count.kind || (!r && m->readings.n >= READINGS_MAX))
		return invalid(m, ev);
	if (!r) {
		r = VEC_PUSH(&m->readings);
		if (!r)
			return -ENOMEM;
		if (replace_text(&r->source, ev->count.source) || replace_text(&r->kind, ev->count.kind)) {
			free(r->source);
			m->readings.n--;
			return -ENOMEM;
		}
	}
	r->info = (struct model_reading){ r->source, r->kind, ev->count.hits, ev->count.received,
					  ev->count.lost };
	return 0;
}

static int push_stacks(struct model *m, const struct event *ev)
{
	int err = stacks_take(&m->stacks, ev);

	return err == -EINVAL ? invalid(m, ev) : err == -ENOMEM ? err : 0;
}

/* What is invalid is counted, and says no time. */
static int taken(struct model *m, const struct event *ev, uint64_t ns, int err)
{
	if (err == -EINVAL)
		return invalid(m, ev);
	model_see_time(m, ns);
	return err;
}

static int push_device(struct model *m, const struct event *ev)
{
	return taken(m, ev, ev->end_ns, device_push(m, ev));
}

static int push_range(struct model *m, const struct event *ev)
{
	return taken(m, ev, ev->start_ns, range_push(m, ev));
}

static int (*const push_kind[EVENT_KIND_END])(struct model *m, const struct event *ev) = {
	[EVENT_CALL] = push_call, [EVENT_ENTER] = push_call, [EVENT_OPEN] = push_open,
	[EVENT_THREAD] = push_thread, [EVENT_EXIT] = push_exit, [EVENT_FORK] = push_fork,
	[EVENT_PROCESS] = push_process, [EVENT_TAIL] = push_tail, [EVENT_FACT] = push_fact,
	[EVENT_COUNT] = push_count, [EVENT_START] = push_start, [EVENT_STOP] = push_stop,
	[EVENT_WATERMARK] = push_watermark, [EVENT_UNARMED] = push_unarmed,
	[EVENT_FRAME] = push_stacks, [EVENT_STACK] = push_stacks,
	[EVENT_IDENTITY] = push_identity,
	[EVENT_DEVICE] = push_device, [EVENT_WORK] = push_device, [EVENT_API] = push_device,
	[EVENT_RANGE] = push_range, [EVENT_OFF] = off_push, [EVENT_UNSEEN] = push_device,
	[EVENT_MEMORY] = memory_push, [EVENT_TOLD] = told_push,
	[EVENT_NODE] = node_push,
	[EVENT_SAMPLE] = sample_push, [EVENT_USER] = sample_push, [EVENT_FAULT] = sample_push,
	[EVENT_INSIDE] = push_inside, [EVENT_LEFT] = push_call, [EVENT_GONE] = push_gone,
};

int model_push(struct model *m, const struct event *ev)
{
	if (ev->kind >= EVENT_KIND_END || !push_kind[ev->kind]) {
		m->counts.received[0]++;
		return 0;
	}
	m->counts.received[ev->kind]++;
	return ev->pid == MODEL_PAST_PID ? invalid(m, ev) : push_kind[ev->kind](m, ev);
}
