// SPDX-License-Identifier: BSD-3-Clause
/*
 * A process without a helper is looked at ever less often: often while it is new, or was met again,
 * for its helper waits for us. One that has ended is read to the end, then only remembered.
 */
#include "source/helper/helpers.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "base/map.h"
#include "base/num.h"
#include "base/time.h"
#include "base/vec.h"
#include "catalog/catalog.h"
#include "catalog/cbid.h"
#include "gpuprof/row.h"
#include "host/proc.h"

/* ---- gaps ------------------------------------------------------------------------------------ */

/*
 * Gaps in the knowledge of a process's devices: its helper was another reader's, or took us for
 * gone, or its ring broke. A gap is pushed as unseen while it lasts, for live views; so is the
 * time of records lost for lack of space. Knows no rings.
 *
 * Examples; claimed at 10, known until 50, late from 60 on, begins again at 90, next record at 91:
 *
 *   the helper looked at 70    its records since 50 had no reader: unknown [50,91)
 *   it did not look            all is known: it does not begin again
 */
#define HELPER_GAP_EVER 1		/* since an unknown time */
#define HELPER_GAP_EVERY_NS 500000000ull

struct helper_gap {		/* start zeroed */
	uint64_t since_ns;	/* not pushed yet; 0: there is no gap */
	uint64_t over_ns;	/* it is over when more than until then is known */
	bool away;		/* it was known before */
	uint64_t away_ns;	/* how much of that was pushed so far */
};

/* Nothing if there is a gap already. */
static void helper_gap_begin(struct helper_gap *d, uint64_t since_ns, bool away)
{
	if (!d->since_ns) {
		d->since_ns = since_ns;
		d->away = away;
	}
}

/* We were late, and the helper stopped sending to us and begins again: nothing is known since
 * known_ns, or since our slot was claimed. */
static void helper_gap_late(struct helper_gap *d, uint64_t known_ns, uint64_t claim_ns)
{
	d->over_ns = num_max(d->over_ns, known_ns);
	helper_gap_begin(d, num_max(known_ns, claim_ns), true);
}

struct helper_lost {		/* records without room in a ring */
	uint64_t works, memory;
};

/* Pushes a loss in that time if more was lost than was counted; then counted is as now. 0 or the
 * sink's error. */
static int helper_gap_lost(struct helper_lost *counted, const struct helper_lost *now, pid_t pid,
			   uint64_t start_ns, uint64_t end_ns, const struct event_sink *sink)
{
	const struct event ev = {
		.kind = EVENT_UNSEEN, .pid = (uint32_t)pid, .unseen.why = UNSEEN_LOST,
		.unseen.of = (now->works > counted->works ? UNSEEN_OF_WORKS : 0) |
			     (now->memory > counted->memory ? UNSEEN_OF_MEMORY : 0),
		.start_ns = start_ns, .end_ns = end_ns };

	*counted = *now;
	return ev.unseen.of && start_ns < end_ns ? sink->push(sink->ctx, &ev) : 0;
}

static int push_gap(struct helper_gap *d, pid_t pid, uint64_t until_ns,
		    const struct event_sink *sink)
{
	const struct event ev = { .kind = EVENT_UNSEEN, .pid = (uint32_t)pid,
				  .unseen.why = UNSEEN_UNKNOWN, .start_ns = d->since_ns,
				  .end_ns = until_ns };

	if (!d->since_ns || until_ns <= d->since_ns)
		return 0;
	if (d->away)
		d->away_ns += until_ns - d->since_ns;
	d->since_ns = until_ns;
	return sink->push(sink->ctx, &ev);
}

static int helper_gap_end(struct helper_gap *d, pid_t pid, uint64_t until_ns,
			  const struct event_sink *sink)
{
	int err = push_gap(d, pid, until_ns, sink);

	d->since_ns = 0;
	return err;
}

/* It goes on, at now_ns, or is over, since all is known until known_ns; or ends at
 * until_ns. 0 or the sink's error. */
static int helper_gap_update(struct helper_gap *d, pid_t pid, uint64_t known_ns, uint64_t now_ns,
		     const struct event_sink *sink)
{
	if (d->since_ns && known_ns > d->over_ns)
		return helper_gap_end(d, pid, known_ns, sink);
	return now_ns > d->since_ns && now_ns - d->since_ns >= HELPER_GAP_EVERY_NS ?
	       push_gap(d, pid, now_ns, sink) : 0;
}

/* ---- the end --------------------------------------------------------------------------------- */

/*
 * The end of a process, by its ring's last head: when it was, and since when records are
 * missing. All times but the head's are of the host. Knows no rings and no records.
 *
 * Examples; the helper's clock is 5 ahead of the host's, the process was seen alive last at 90:
 *
 *   ENDED at 105                     it ended at 100; all launches before 100 are known
 *   ENDED at 105, last record 103    it ended at 103; all launches before 100 are known
 *   ... the last call's record 102   CUPTI recorded a while longer: all before 102 are known
 *   ENDED at 105, we were late at 95, known until 80:  [80, ...) is unknown
 *   AWAKE, known until 80            it ended at 90; [80, ...) is unknown
 *   VIRGIN                           it ended at 90; there was nothing to record
 *   ENDED at 900, found at 110       that cannot be: it ended at 90
 */
struct helper_exit {
	const struct gp_ring_head *head;
	int64_t offset_ns;		/* of the process's clock, as helpers_process has it */
	uint64_t alive_ns, found_ns;	/* seen last; found to have ended */
	/* the end of its last record, of its last record of a call; known until then, 0: nothing */
	uint64_t last_ns, last_call_ns, known_ns;
	uint64_t lapse_ns;		/* ring_reader_lapse_ns at the head's state */
	bool broken;			/* its ring is */
};

static uint64_t state_ns(struct helper_exit e)
{
	return e.head->state_ns - (uint64_t)e.offset_ns;
}

/* When its helper ended in order; 0: it did not, or lies. */
static uint64_t ended_ns(struct helper_exit e)
{
	return e.head->state == GP_HELPER_ENDED && state_ns(e) <= e.found_ns ? state_ns(e) : 0;
}

static uint64_t exit_ns(struct helper_exit e)
{
	uint64_t end_ns = ended_ns(e);

	return num_max(end_ns ? end_ns : e.alive_ns, num_min(e.last_ns, e.found_ns));
}

/* 0: all is known */
static uint64_t helper_exit_unknown_since(struct helper_exit e)
{
	switch (e.head->state) {
	case GP_HELPER_VIRGIN:	/* CUDA has not started */
		return e.broken ? e.known_ns : 0;
	case GP_HELPER_ENDED:	/* in order: its last records were read */
		/* ... unless our lease had run out before: they were not sent to us. */
		if (e.lapse_ns && e.lapse_ns <= e.head->state_ns && e.known_ns < state_ns(e))
			return e.known_ns ? e.known_ns : e.lapse_ns - (uint64_t)e.offset_ns;
		return e.broken ? e.known_ns : 0;
	default:
		return e.known_ns ? e.known_ns : state_ns(e);
	}
}

static int push_time(const char *key, uint64_t ns, pid_t pid, const struct event_sink *sink)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, ns);
	return sink->push(sink->ctx, &(struct event){ .kind = EVENT_IDENTITY, .pid = (uint32_t)pid,
		.tid = (uint32_t)pid, .fact.key = key, .fact.value = text });
}

/* Until when its works were recorded, if that is known (EVENT_RECORDED_NS), then when it ended
 * (EVENT_ENDED_NS), as facts about the process. 0 or the sink's error. */
static int helper_exit_push(struct helper_exit e, pid_t pid, const struct event_sink *sink)
{
	uint64_t ns = helper_exit_unknown_since(e) ? 0 : ended_ns(e);
	int err = 0;

	/* Until CUPTI was disabled, calls of other threads were recorded. */
	if (ns)
		err = push_time(EVENT_RECORDED_NS, num_max(ns, num_min(e.last_call_ns, e.found_ns)),
				pid, sink);
	return err ? err : push_time(EVENT_ENDED_NS, exit_ns(e), pid, sink);
}

/* ---- seccomp --------------------------------------------------------------------------------- */

bool helper_is_confined(const struct gp_ring_head *head, pid_t pid)
{
	const char *text;
	struct proc p;
	uint64_t now;

	if (head->state != GP_HELPER_VIRGIN || !head->filters)
		return false;
	text = proc_open(&p, pid) ? NULL : proc_read(&p, PROC_STATUS, NULL);
	now = proc_status_number(text, "Seccomp_filters");
	proc_close(&p);
	return now > head->filters - 1;
}

/* ---- calls by CUPTI -------------------------------------------------------------------------- */

/*
 * A process's calls by CUPTI's API records, for sessions in which no probe sees any: one
 * EVENT_CALL for each outermost call of a function that the catalogue would probe, numbered and in
 * order within its thread, with an EVENT_THREAD before its first and an EVENT_EXIT after its last,
 * as probes would send them. Knows nothing of rings and clocks: times are the host's already.
 *
 * Where probes see most functions, those that were left out are pushed, and nothing else: an
 * EVENT_CUPTI_CALL for each outermost call of one of them, without number, thread or exit.
 *
 * A call's record comes when it has ended, those inside it before it; so calls are held for a
 * while (API_CALLS_SLACK_NS), in case they are inside another. Bounded: then they go out
 * earlier.
 *
 * Examples; A records of one thread, pushed at the end:
 *
 *   A malloc [10,20)  A launch [30,40)                      malloc, launch
 *   A cuMemAlloc [12,18)  A cudaMalloc [10,20)              cudaMalloc: the driver's is inside
 *   A cudaGetLastError [10,11)  A launch [12,20)            launch: the other is probed on request
 *   A a [10,20)  A b [15,25)                                both, as they are: b's book says skew
 */
#define API_CALLS_SLACK_NS 500000000ull	/* an outer call ends at most so long after one inside */
#define API_CALLS_ROOM 1048576		/* records held of all processes */
#define CALLERS_MAX 4096	/* that are kept where probes see calls; then all are forgotten */

/* CUPTI's numbers of functions -> rows of the catalogue (as struct funcs has them). Shared, and
 * with them the room for records that are held. */
struct api_rows {
	uint16_t row[2][CBID_MAX];	/* of the runtime, of the driver */
	size_t held;			/* records, by all */
	bool probed;			/* all but those left out */
	bool any_left_out;
	bool left_out[GP_ROWS_MAX];
	uint64_t since_ns, until_ns;	/* launches are left out; 0: never */
};

struct held {
	uint64_t start_ns, end_ns;
	uint32_t tid;
	int32_t result;
	uint16_t row;
};

struct caller {			/* a thread that made calls */
	uint32_t tid;
	uint32_t seq;		/* the last number used */
	uint64_t end_ns;	/* of its last call */
	uint64_t birth_ns;
	uint32_t lost;		/* numbers of calls that were lost, and not left out yet */
};

struct api_calls {
	uint32_t pid;
	struct api_rows *rows;
	const struct helper_threads *threads;
	VEC(struct held) held;
	uint64_t newest_ns;		/* when the last one ended of those that were taken */
	uint64_t tried_ns;		/* the same, when room was made last */
	uint64_t lost;
	VEC(struct caller) callers;
	struct map by_tid;	/* -> index + 1 in callers; of a number used again, the newest */
	uint64_t pushed_ns;		/* calls that ended before have been pushed */
	uint64_t found_ns;	/* when its process was found to have ended; 0: it goes on */
};

static void number_rows(uint16_t row[CBID_MAX], const struct catalog_library *lib,
			unsigned int domain)
{
	unsigned int library = 0;
	size_t n;
	const struct cbid *v = cbid_all(domain, &n);

	while (library < CATALOG_LIBRARIES - 1 && catalog_library(library) != lib)
		library++;
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < lib->n_rows; k++)
			if (!lib->rows[k].tier && !strcmp(lib->rows[k].name, v[i].name))
				row[v[i].number] = (uint16_t)(catalog_first_row(library) + k);
}

/* When they began or ended to be left out some were under way: the model knows those that probes
 * saw. */
static bool is_left_out(const struct api_rows *r, const struct held *h)
{
	return r->left_out[h->row] ||
	       (r->since_ns && catalog_row(h->row)->class == CLASS_LAUNCH &&
		h->start_ns + API_CALLS_SLACK_NS >= r->since_ns &&
		num_sub(h->start_ns, API_CALLS_SLACK_NS) < r->until_ns);
}

/* NULL + errno */
static struct api_rows *api_rows_new(void)
{
	struct api_rows *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	number_rows(r->row[0], &catalog_cudart, CBID_RUNTIME);
	number_rows(r->row[1], &catalog_cuda, CBID_DRIVER);
	return r;
}

/* is any function recorded? */
static bool api_rows_any(const struct api_rows *r)
{
	return !r->probed || r->any_left_out || r->since_ns;
}

/* 0: none */
static unsigned int api_rows_find(const struct api_rows *r, const struct event *api)
{
	if (api->api.cbid >= CBID_MAX ||
	    (api->api.domain != CBID_DRIVER && api->api.domain != CBID_RUNTIME))
		return 0;
	return r->row[api->api.domain == CBID_DRIVER][api->api.cbid];
}

/* Both outlive it; threads NULL: rows are probed. NULL + errno. */
static struct api_calls *api_calls_new(uint32_t pid, struct api_rows *rows,
				       const struct helper_threads *threads)
{
	struct api_calls *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->pid = pid;
	c->rows = rows;
	c->threads = threads;
	return c;
}

static void api_calls_free(struct api_calls *c)
{
	if (!c)
		return;
	c->rows->held -= c->held.n;
	VEC_FREE(&c->held);
	VEC_FREE(&c->callers);
	map_free(&c->by_tid);
	free(c);
}

/* 0: out of memory, or the sink's error in *err. */
static struct caller *find_caller(struct api_calls *c, uint32_t tid, const struct event_sink *sink,
				  int *err)
{
	struct map_slot *slot = map_put(&c->by_tid, tid, NULL);
	struct event ev = { .kind = EVENT_THREAD, .pid = c->pid, .tid = tid };
	const struct helper_thread *t;
	struct caller *caller;

	*err = -ENOMEM;
	if (!slot)
		return NULL;
	if (slot->value)
		return &c->callers.v[slot->value - 1];
	caller = VEC_PUSH(&c->callers);
	if (!caller)
		return NULL;
	caller->tid = tid;
	slot->value = c->callers.n;
	*err = 0;
	if (c->rows->probed)
		return caller;
	t = helper_threads_of(c->threads, tid);
	if (t) {
		ev.start_ns = caller->birth_ns = t->birth_ns;
		ev.task.comm = *t->comm ? t->comm : NULL;
	}
	*err = sink->push(sink->ctx, &ev);
	return *err ? NULL : caller;
}

/* Those that were seen no more, once all their calls until then are pushed. exit_ns: of all; 0:
 * not. */
static int push_exits(struct api_calls *c, uint64_t exit_ns, const struct event_sink *sink)
{
	size_t kept = 0;
	int err = 0;

	if (c->rows->probed) {		/* probes record the ends of threads */
		if (c->callers.n > CALLERS_MAX) {
			c->callers.n = 0;
			map_clear(&c->by_tid);
		}
		return 0;
	}
	for (size_t i = 0; i < c->callers.n; i++) {
		struct caller *caller = &c->callers.v[i];
		const struct helper_thread *t = helper_threads_of(c->threads, caller->tid);
		uint64_t gone_ns = t ? t->gone_ns : 0;

		if (err || (!exit_ns && (!gone_ns || gone_ns >= c->pushed_ns))) {
			map_find(&c->by_tid, caller->tid)->value = kept + 1;
			c->callers.v[kept++] = *caller;
			continue;
		}
		map_del(&c->by_tid, caller->tid);
		err = sink->push(sink->ctx, &(struct event){
			.kind = EVENT_EXIT, .pid = c->pid, .tid = caller->tid,
			.seq = caller->seq + caller->lost + 1, .start_ns = caller->birth_ns,
			.end_ns = num_max(gone_ns ? gone_ns : exit_ns, caller->end_ns) });
	}
	c->callers.n = kept;
	return err;
}

/* The outer one of two that begin at once comes first. */
static int compare_held(const void *a, const void *b)
{
	const struct held *x = a, *y = b;

	if (x->tid != y->tid)
		return num_compare(x->tid, y->tid);
	return x->start_ns != y->start_ns ? num_compare(x->start_ns, y->start_ns) :
					    num_compare(y->end_ns, x->end_ns);
}

static int push_call(struct api_calls *c, const struct held *h, const struct event_sink *sink)
{
	struct event ev = { .kind = EVENT_CALL, .has = HAS_RESULT | HAS_END, .func = h->row,
			    .call.result = h->result, .pid = c->pid, .tid = h->tid,
			    .start_ns = h->start_ns, .end_ns = h->end_ns };
	int err;
	struct caller *caller = find_caller(c, h->tid, sink, &err);

	if (!caller)
		return err;
	if (h->start_ns < caller->end_ns && h->end_ns <= caller->end_ns)
		return 0;	/* inside the one before */
	caller->end_ns = h->end_ns;
	if (c->rows->probed && !is_left_out(c->rows, h))
		return 0;
	if (c->rows->probed)
		ev.kind = EVENT_CUPTI_CALL;
	else
		ev.seq = caller->seq += caller->lost + 1;
	caller->lost = 0;
	return sink->push(sink->ctx, &ev);
}

/* The first calls of each thread, if they ended by until_ns: later ones may be inside one that
 * has not ended. */
static int push_until(struct api_calls *c, uint64_t until_ns, const struct event_sink *sink)
{
	uint32_t stopped = 0;	/* the thread whose turn is over */
	size_t kept = 0;
	int err = 0;

	if (c->held.n)
		qsort(c->held.v, c->held.n, sizeof(c->held.v[0]), compare_held);
	for (size_t i = 0; i < c->held.n; i++) {
		const struct held h = c->held.v[i];

		if (err || h.tid == stopped || h.end_ns > until_ns) {
			stopped = h.tid;
			c->held.v[kept++] = h;
			continue;
		}
		err = push_call(c, &h, sink);
	}
	c->rows->held -= c->held.n - kept;
	c->held.n = kept;
	c->pushed_ns = num_max(c->pushed_ns, until_ns);
	return err;
}

/* All records of calls that ended before complete_ns were taken: pushes the calls that are
 * complete then. 0, -ENOMEM or the sink's error. */
static int api_calls_push(struct api_calls *c, uint64_t complete_ns, const struct event_sink *sink)
{
	uint64_t until_ns = num_sub(complete_ns, API_CALLS_SLACK_NS);
	int err;

	if (until_ns <= c->pushed_ns)
		return 0;
	err = push_until(c, until_ns, sink);
	return err ? err : push_exits(c, 0, sink);
}

static bool is_full(const struct api_calls *c)
{
	return c->held.n >= API_CALLS_HELD_MAX || c->rows->held >= API_CALLS_ROOM;
}

/* Seldom tried, since all that is held is sorted for it. */
static int make_room(struct api_calls *c, const struct event_sink *sink)
{
	uint64_t until_ns = num_sub(c->newest_ns, API_CALLS_SLACK_NS);

	if (until_ns <= num_max(c->pushed_ns, num_add(c->tried_ns, API_CALLS_SLACK_NS / 4)))
		return 0;
	c->tried_ns = until_ns;
	return push_until(c, until_ns, sink);
}

/* One EVENT_API, of the host's tid. If no more can be held, calls before the slack of the newest
 * go out; if that does not help (a clock that stands still, on purpose), it is lost, and a
 * number of its thread with it. 0, -ENOMEM or the sink's error. */
static int api_calls_take(struct api_calls *c, const struct event *api,
			  const struct event_sink *sink)
{
	unsigned int row = api_rows_find(c->rows, api);
	struct caller *caller;
	struct held *held;
	int err;

	if (!row || !api->tid || !api_rows_any(c->rows))
		return 0;
	c->newest_ns = num_max(c->newest_ns, api->end_ns);
	err = is_full(c) ? make_room(c, sink) : 0;
	if (err)
		return err;
	if (is_full(c)) {
		caller = find_caller(c, api->tid, sink, &err);
		if (!caller)
			return err;
		caller->lost++;
		c->lost++;
		return 0;
	}
	held = VEC_PUSH(&c->held);
	if (!held)
		return -ENOMEM;
	c->rows->held++;
	*held = (struct held){ api->start_ns, api->end_ns, api->tid, api->api.result,
			       (uint16_t)row };
	return 0;
}

/* Nothing more will come. exit_ns: the process has ended, and its threads with it; 0: it goes
 * on. */
static int api_calls_end(struct api_calls *c, uint64_t exit_ns, const struct event_sink *sink)
{
	int err = push_until(c, UINT64_MAX, sink);

	return err ? err : push_exits(c, exit_ns, sink);
}

/* ---- one process ----------------------------------------------------------------------------- */

#define FIND_SLICE 64			/* descriptors; then it is another process's turn */
#define WORK_KINDS \
	(1u << GP_RING_KERNEL | 1u << GP_RING_COPY | 1u << GP_RING_SET | 1u << GP_RING_GRAPH)
#define LISTENING (1u << GP_HELPER_ARMING | 1u << GP_HELPER_AWAKE)
#define LOOK_EVERY_NS 100000000ull	/* at threads; calls are pushed as often */
#define KEPT_BYTES_MAX (1ull << 30)	/* more than helpers have buffers for */
#define END_NS 500000000ull
#define END_LOOK_US 2000
#define SEEK_MAX 512		/* descriptors looked at in a pump, of all processes */

struct helper_process {
	struct helpers_process who;
	struct helpers_process next;	/* the program that it may have executed; pid 0: none */
	enum helpers_state state;
	bool over;			/* it has ended, and all of it was pushed */
	uint32_t wants;			/* see the header */
	bool look_again;		/* it may have executed another program */
	uint64_t look_at_ns;
	struct ring_search search;
	int number;			/* of the ring's descriptor in the process */
	int pidfd;			/* of the process that had it; -1: none */
	uint64_t claim_ns;		/* of the slot */
	uint64_t alive_ns, exit_ns;	/* seen last; 0: it goes on */
	struct helper_gap gap;
	/* known_ns of helper_progress, and its previous value */
	uint64_t known_ns, known_before_ns;
	/* of its exec, to be pushed; of its last record; unread at its end */
	uint64_t exec_ns, last_ns, last_call_ns, unread_ns;
	struct api_rows *rows;	/* NULL: calls are not recorded */
	struct ring_reader *ring;
	bool leaves;		/* its helper is to hand on what it has, and to record no more */
	struct helper_decoder *decoder;	/* NULL: no ring was found yet, or it is only remembered */
	/* NULL: numbers are the host's and calls are not recorded */
	struct helper_threads *threads;
	struct api_calls *calls;	/* NULL: not recorded */
	const struct event_sink *sink;	/* during a pump */
	int err;			/* the sink's */
	struct gp_ring_head *head;	/* when the ring was closed; NULL: no ring was found */
	uint64_t lapse_ns;		/* the ring's, then */
	struct helper_counts counts;	/* when the decoder was freed */
	uint64_t lost, lost_works;	/* in those that were closed */
	uint64_t lost_calls;
	struct helper_lost lost_counted;
};

/* Are calls left that must not be pushed before all that probes saw of their threads? */
static bool waits_for_probes(const struct helper_process *p)
{
	return p->calls && p->rows->probed && p->calls->held.n;
}

/* Frees state that an exited process no longer needs: a job may start thousands. */
static void retire(struct helper_process *p)
{
	ring_search_stop(&p->search);
	if (p->decoder)
		p->counts = helper_decoder_progress(p->decoder).counts;
	if (p->calls)
		p->lost_calls = p->calls->lost;
	helper_decoder_free(p->decoder);
	helper_threads_free(p->threads);
	p->decoder = NULL;
	p->threads = NULL;
	io_close(&p->pidfd);
	if (waits_for_probes(p))
		return;
	api_calls_free(p->calls);
	p->calls = NULL;
}

static void process_free(struct helper_process *p)
{
	if (!p)
		return;
	ring_reader_close(p->ring);
	retire(p);
	api_calls_free(p->calls);
	free(p->head);
	free(p);
}

static struct helper_process *process_new(const struct helpers_process *who,
					  struct api_rows *rows, uint32_t wants)
{
	struct helper_process *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->who = *who;
	p->exec_ns = who->exec_ns;
	p->wants = wants;
	p->rows = rows;
	ring_search_soon(&p->search, who->is_unlikely);
	p->pidfd = -1;
	if ((!rows || rows->probed) && who->own_pid == who->pid)
		return p;
	p->threads = helper_threads_new(who->pid, who->own_pid);
	if (p->threads)
		return p;
	process_free(p);
	return NULL;
}

/* The state needed from the first ring on. 0 or -ENOMEM. */
static int prepare(struct helper_process *p)
{
	if (p->decoder)
		return 0;
	p->head = calloc(1, sizeof(*p->head));
	p->decoder = p->head ? helper_decoder_new(p->who.pid, p->who.clock_offset_ns, p->threads) :
			       NULL;
	if (p->decoder && p->rows)
		p->calls = api_calls_new((uint32_t)p->who.pid, p->rows, p->threads);
	return p->decoder && (p->calls || !p->rows) ? 0 : -ENOMEM;
}

static bool process_is_gone(const struct helper_process *p)
{
	struct pollfd fd = { .fd = p->pidfd, .events = POLLIN };

	return p->over || p->exit_ns || (p->pidfd >= 0 && poll(&fd, 1, 0) > 0);
}

/* ---- reading -------------------------------------------------------------------------------- */

static uint32_t kinds_for(const struct helper_process *p)
{
	return GP_RING_WANT_KINDS | p->wants |
	       (p->rows && api_rows_any(p->rows) ? GP_RING_WANT_ALL_CALLS : 0) |
	       (p->leaves ? GP_RING_WANT_END : 0);
}

/* The decoder's events: calls are taken, and all is handed on. */
static int on_event(void *ctx, const struct event *ev)
{
	struct helper_process *p = ctx;
	int err = p->calls && ev->kind == EVENT_API ? api_calls_take(p->calls, ev, p->sink) : 0;

	p->last_ns = num_max(p->last_ns, ev->end_ns);
	if (ev->kind == EVENT_API)
		p->last_call_ns = num_max(p->last_call_ns, ev->end_ns);
	return err ? err : p->sink->push(p->sink->ctx, ev);
}

/* Once a record after the claim has come, all is known from then on. */
static int update_gap(struct helper_process *p, uint64_t now_ns)
{
	uint64_t known_ns = p->ring ? helper_decoder_progress(p->decoder).known_ns : 0;

	return helper_gap_update(&p->gap, p->who.pid, known_ns, now_ns, p->sink);
}

static int on_record(void *ctx, uint16_t kind, const void *payload, size_t len)
{
	struct helper_process *p = ctx;

	if (kind == GP_RING_BEGIN)
		helper_gap_late(&p->gap, helper_decoder_progress(p->decoder).known_ns, p->claim_ns);
	else
		p->err = helper_decode(p->decoder, kind, payload, len,
				       &(struct event_sink){ on_event, p });
	if (!p->err && kind == GP_RING_CLOCK)
		p->err = update_gap(p, 0);
	return p->err;
}

/* Is its state one of those (bits: GP_HELPER_*)? */
static bool is_in(const struct helper_process *p, uint32_t states)
{
	struct gp_ring_head head;

	ring_reader_head(p->ring, &head);
	return head.state < 32 && states >> head.state & 1;
}

static int look(struct helper_process *p, uint64_t now_ns)
{
	uint64_t read_ns = p->alive_ns, complete_ns;
	int err;

	if (!p->decoder)
		return 0;
	/* Those that were read before may have taken long. */
	helper_decoder_now(p->decoder, num_max(now_ns, time_now_ns()), time_wall_ns());
	if (!p->exit_ns && process_is_gone(p))
		p->exit_ns = p->alive_ns ? p->alive_ns : now_ns;
	p->alive_ns = now_ns;
	if ((!p->threads && !p->calls) || now_ns < p->look_at_ns || p->exit_ns)
		return 0;
	p->look_at_ns = now_ns + LOOK_EVERY_NS;
	err = p->threads ? helper_threads_look(p->threads, now_ns) : 0;
	if (err || !p->calls)
		return err;
	complete_ns = helper_decoder_progress(p->decoder).complete_ns;
	/* A helper that does not record has nothing left to send, and sends no clock. */
	if (p->ring && is_in(p, ~LISTENING))
		complete_ns = num_max(complete_ns, num_sub(read_ns, API_CALLS_SLACK_NS));
	return api_calls_push(p->calls, complete_ns, p->sink);
}

static void close_ring(struct helper_process *p)
{
	if (!p->ring)
		return;
	ring_reader_head(p->ring, p->head);
	p->lost = num_add(p->lost, ring_reader_lost(p->ring, GP_RING_WANT_KINDS));
	p->lost_works = num_add(p->lost_works, ring_reader_lost(p->ring, WORK_KINDS));
	p->lost_counted = (struct helper_lost){ 0 };
	p->lapse_ns = ring_reader_lapse_ns(p->ring, p->head->state_ns);
	ring_reader_close(p->ring);
	p->ring = NULL;
}

/* ---- gaps ------------------------------------------------------------------------------------ */

/* Records lost for lack of space are later than the reading before the latest, and than our
 * slot's claim. */
static int push_lost(struct helper_process *p, uint64_t now_ns)
{
	const struct helper_lost lost = {
		ring_reader_lost(p->ring, WORK_KINDS | 1u << GP_RING_LOSS),
		ring_reader_lost(p->ring, 1u << GP_RING_MEMORY | 1u << GP_RING_LOSS) };
	uint64_t known_ns = helper_decoder_progress(p->decoder).known_ns;
	int err = helper_gap_lost(&p->lost_counted, &lost, p->who.pid,
				  num_max(p->known_before_ns, p->claim_ns), now_ns, p->sink);

	if (known_ns != p->known_ns) {
		p->known_before_ns = p->known_ns;
		p->known_ns = known_ns;
	}
	return err;
}

static struct helper_exit how_it_ended(const struct helper_process *p, uint64_t now_ns)
{
	return (struct helper_exit){
		.head = p->head, .offset_ns = p->who.clock_offset_ns,
		.alive_ns = p->exit_ns, .found_ns = now_ns,
		.last_ns = p->last_ns, .last_call_ns = p->last_call_ns,
		.known_ns = helper_decoder_progress(p->decoder).known_ns, .lapse_ns = p->lapse_ns,
		.broken = p->state == HELPERS_BROKEN,
	};
}

/* Its slot is no longer ours, or is of no use. Device activity from now on is unknown. */
static void begin_gap(struct helper_process *p, uint64_t now_ns)
{
	uint64_t since_ns;

	close_ring(p);
	since_ns = helper_exit_unknown_since(how_it_ended(p, now_ns));
	helper_gap_begin(&p->gap, since_ns && since_ns < now_ns ? since_ns : now_ns, true);
}

/* Nothing more is read of it. */
static int finish(struct helper_process *p, uint64_t end_ns)
{
	uint64_t since_ns = 0;
	int err = 0;

	if (p->ring) {
		close_ring(p);
		since_ns = p->gap.since_ns ? num_max(p->gap.since_ns, p->claim_ns) :
					      helper_exit_unknown_since(how_it_ended(p, end_ns));
		helper_gap_begin(&p->gap, since_ns, false);
	}
	if (since_ns && since_ns < end_ns)
		p->unread_ns = end_ns - since_ns;
	/* Records that wait for more, which will not come. */
	if (p->decoder)
		err = helper_decode_end(p->decoder, &(struct event_sink){ on_event, p });
	if (!err && p->calls && !p->rows->probed)
		err = api_calls_end(p->calls, p->exit_ns, p->sink);
	if (!err)
		err = helper_gap_end(&p->gap, p->who.pid, end_ns, p->sink);
	if (err || !p->exit_ns || !p->decoder ||
	    (!p->last_ns && !helper_decoder_progress(p->decoder).known_ns))
		return err;
	return helper_exit_push(how_it_ended(p, end_ns), p->who.pid, p->sink);
}

/* ---- finding -------------------------------------------------------------------------------- */

/* Another reader watched it before us: the records sent to it are unknown. */
static void claim(struct helper_process *p, const struct ring_found *found, uint64_t now_ns)
{
	p->state = HELPERS_WATCHED;
	p->number = found->number;
	io_close(&p->pidfd);
	p->pidfd = found->pidfd;
	p->claim_ns = p->gap.over_ns = now_ns;
	ring_search_stop(&p->search);
	ring_reader_head(p->ring, p->head);
	if (p->head->state == GP_HELPER_VIRGIN)
		p->gap.since_ns = 0;	/* CUDA has not started */
	else
		helper_gap_begin(&p->gap, HELPER_GAP_EVER, false);
	/* It uses CUDA or NVTX: its identity can be read while it lives. */
	if (p->calls || p->exec_ns)
		p->err = p->sink->push(p->sink->ctx, &(struct event){
			.kind = EVENT_PROCESS, .end_ns = p->exec_ns, .pid = (uint32_t)p->who.pid,
			.tid = (uint32_t)p->who.pid });
}

static void open_found(struct helper_process *p, struct ring_found *found, uint64_t now_ns)
{
	struct gp_ring_head head;
	int err = ring_reader_peek_at(found->fd, &p->who.owner, &head);

	p->err = err == -ESRCH ? 0 : prepare(p);
	if (p->err || err == -ESRCH) {		/* inherited: its own may come later */
		io_close(&found->fd);
		io_close(&found->pidfd);
		return;
	}
	if (!err && helper_is_confined(&head, p->who.pid)) {
		io_close(&found->fd);
		errno = EPERM;
	} else {
		p->ring = ring_reader_open(found->fd, p->who.own_pid, kinds_for(p),
					   now_ns + (uint64_t)p->who.clock_offset_ns);
	}
	if (p->ring) {
		claim(p, found, now_ns);
		return;
	}
	p->state = errno == EUSERS ? HELPERS_BUSY : errno == EPROTO ? HELPERS_OTHER :
		   errno == EPERM ? HELPERS_CONFINED : HELPERS_NONE;
	if (errno != ESRCH && errno != EBADMSG)	/* an inherited one may come before its own */
		ring_search_stop(&p->search);
	io_close(&found->pidfd);
}

static int process_seek(struct helper_process *p, uint64_t now_ns, unsigned int *left,
			const struct event_sink *sink)
{
	unsigned int slice = (unsigned int)num_min(*left, FIND_SLICE), rest = slice;
	struct ring_found found;
	int got;

	p->sink = sink;
	p->err = 0;
	got = ring_search(&p->search, p->who.pid, now_ns, &rest, &found);
	*left -= slice - rest;
	if (!got)
		return 0;
	if (got == 1)
		open_found(p, &found, now_ns);
	else if (got == -ESRCH && !p->exit_ns)
		p->exit_ns = p->alive_ns ? p->alive_ns : now_ns;
	return p->err;
}

/* ---- all of it ------------------------------------------------------------------------------ */

static void read_ring(struct helper_process *p, uint64_t now_ns)
{
	struct gp_ring_head head;

	if (ring_reader_renew(p->ring, now_ns + (uint64_t)p->who.clock_offset_ns) == -ESTALE) {
		begin_gap(p, now_ns);
		p->state = HELPERS_NONE;
		ring_search_soon(&p->search, false);
		return;
	}
	ring_reader_want(p->ring, kinds_for(p));
	ring_reader_head(p->ring, &head);
	helper_decoder_head(p->decoder, &head);
	if (ring_reader_read(p->ring, on_record, p) == -EBADMSG)
		p->state = HELPERS_BROKEN;
	if (!p->err)
		p->err = push_lost(p, now_ns);
	if (p->state == HELPERS_BROKEN)
		begin_gap(p, now_ns);
}

/* It has ended, or is another program now. */
static void end(struct helper_process *p, uint64_t end_ns)
{
	if (!p->err)
		p->err = finish(p, end_ns);
	if (p->state != HELPERS_BROKEN)
		p->state = HELPERS_ENDED;
	p->over = true;
	retire(p);
}

/* Records that a program sent before it executed another one, of which nothing is known yet, are
 * read. */
static int process_follow(struct helper_process *p, uint64_t now_ns, const struct event_sink *sink,
			  struct helpers_process *now_who)
{
	const bool looks = p->look_again && p->ring && !p->exit_ns;

	now_who->pid = 0;
	p->look_again = false;
	/* An exec closes its ring; of one that is gone the number may be another's. */
	if (!looks || ring_reader_is_at(p->ring, p->who.pid, p->number) || process_is_gone(p))
		return 0;
	p->sink = sink;
	p->err = 0;
	ring_reader_note(p->ring);	/* all there is */
	read_ring(p, now_ns);
	end(p, now_ns);
	*now_who = p->next.pid ? p->next : p->who;
	now_who->exec_ns = num_min(p->last_ns, now_ns);
	return p->err;
}

static int process_pump(struct helper_process *p, uint64_t now_ns, const struct event_sink *sink)
{
	if (p->over)
		return 0;
	p->sink = sink;
	p->err = look(p, now_ns);
	if (p->exit_ns && p->ring)
		ring_reader_note(p->ring);	/* all there is */
	if (!p->err && p->ring)
		read_ring(p, now_ns);
	if (!p->err && p->decoder)
		p->err = update_gap(p, now_ns);
	/* It may have lived until now, unseen, and now_ns is older: others were read before. A
	 * record that is not complete never will be. */
	if (p->exit_ns)
		end(p, num_max(now_ns, time_now_ns()));
	return p->err;
}

/* ---- its status ------------------------------------------------------------------------------ */

static void process_status(const struct helper_process *p, struct helpers_status *out)
{
	const struct gp_ring_head *head = &out->head;
	uint64_t end_ns;

	*out = (struct helpers_status){
		.pid = p->who.pid, .state = p->state, .lost = p->lost, .lost_works = p->lost_works,
		.unread_ns = p->unread_ns, .away_ns = p->gap.away_ns, .counts = p->counts,
		.lost_calls = p->calls ? p->calls->lost : p->lost_calls };
	if (p->head)
		out->head = *p->head;
	if (p->decoder)
		out->counts = helper_decoder_progress(p->decoder).counts;
	if (p->ring) {
		ring_reader_head(p->ring, &out->head);
		out->lost = num_add(out->lost, ring_reader_lost(p->ring, GP_RING_WANT_KINDS));
		out->lost_works = num_add(out->lost_works, ring_reader_lost(p->ring, WORK_KINDS));
	}
	/* By its head, which is not trusted; else when it was seen last, by its own clock. */
	end_ns = head->state == GP_HELPER_ENDED ? head->state_ns :
		 p->alive_ns + (uint64_t)p->who.clock_offset_ns;
	if (!head->kept_bytes || head->kept_since_ns > end_ns)
		return;
	out->kept_bytes = num_min(head->kept_bytes, KEPT_BYTES_MAX);
	out->kept_ns = end_ns - head->kept_since_ns;
}

/* ---- all of them ----------------------------------------------------------------------------- */

struct helpers {
	uint32_t wants;			/* GP_RING_WANT_*, beside kinds and calls */
	struct api_rows *rows;		/* NULL: calls are not recorded */
	VEC(struct helper_process *) all;	/* that live, as far as is known */
	struct map by_pid;		/* of these, the newest -> struct helper_process */
	VEC(struct helpers_status) ended;	/* those that had a helper */
	VEC(struct api_calls *) calls;	/* of some that ended, which wait for the probes' records */
	struct map senders;		/* pids of whose helpers any record came */
	struct helpers_totals totals;	/* of those that ended */
	size_t seek_at;			/* whose turn it is */
	uint64_t seek_ns;		/* when the next one is due; 0: not known */
};

struct helpers *helpers_new(enum helpers_calls calls, uint32_t wants)
{
	struct helpers *h = calloc(1, sizeof(*h));

	if (!h)
		return NULL;
	h->wants = wants;
	if (calls != HELPERS_WORKS_ONLY)
		h->rows = api_rows_new();
	if (h->rows)
		h->rows->probed = calls == HELPERS_UNPROBED_CALLS;
	if (h->rows || calls == HELPERS_WORKS_ONLY)
		return h;
	free(h);
	return NULL;
}

void helpers_leave_out(struct helpers *h, unsigned int row)
{
	h->rows->left_out[row % GP_ROWS_MAX] = h->rows->any_left_out = true;
}

void helpers_leave_out_launches(struct helpers *h, uint64_t since_ns, uint64_t until_ns)
{
	h->rows->since_ns = since_ns;
	h->rows->until_ns = until_ns;
}

void helpers_free(struct helpers *h)
{
	if (!h)
		return;
	for (size_t i = 0; i < h->all.n; i++)
		process_free(h->all.v[i]);
	for (size_t i = 0; i < h->calls.n; i++)
		api_calls_free(h->calls.v[i]);
	VEC_FREE(&h->calls);
	VEC_FREE(&h->all);
	VEC_FREE(&h->ended);
	map_free(&h->by_pid);
	map_free(&h->senders);
	free(h->rows);
	free(h);
}

/* One of which it is known that it has ended is no more: its number may be another's. */
static struct helper_process *known(const struct helpers *h, pid_t pid)
{
	struct helper_process *p = map_pointer(&h->by_pid, (uint64_t)pid);

	return p && !process_is_gone(p) ? p : NULL;
}

bool helpers_know(const struct helpers *h, pid_t pid)
{
	return known(h, pid) != NULL;
}

static int add(struct helpers *h, const struct helpers_process *who)
{
	struct helper_process *p = process_new(who, h->rows, h->wants);
	struct helper_process **at = p ? VEC_PUSH(&h->all) : NULL;
	struct map_slot *slot = at ? map_put(&h->by_pid, (uint64_t)who->pid, NULL) : NULL;

	if (!slot) {
		h->all.n -= at != NULL;
		process_free(p);
		return -ENOMEM;
	}
	*at = p;
	slot->value = (uintptr_t)p;
	h->seek_ns = 0;
	return 0;
}

int helpers_add(struct helpers *h, const struct helpers_process *who)
{
	struct helper_process *p = known(h, who->pid);
	struct proc_stat stat;

	if (!p) {
		/* A zombie that its parent has not reaped sends nothing. A leader that has exited
		 * may have threads that go on. */
		if (proc_stat_of(who->pid, &stat) && strchr("ZX", stat.state) && stat.threads <= 1)
			return 0;
		return add(h, who);
	}
	if (p->ring)
		p->next = *who;
	else if (!p->decoder)
		p->who = *who;
	ring_search_soon(&p->search, who->is_unlikely);
	h->seek_ns = 0;
	return 0;
}

int helpers_add_thread(struct helpers *h, pid_t pid, uint32_t tid, uint32_t own_tid)
{
	struct helper_process *p = known(h, pid);

	if (!p)
		return 0;
	p->search.at_ns = h->seek_ns = 0;
	p->search.has_calls = true;
	return p->threads && own_tid ? helper_threads_add(p->threads, &(struct helper_thread){
		.tid = tid, .own_tid = own_tid }) : 0;
}

void helpers_look_again(struct helpers *h, pid_t pid)
{
	struct helper_process *p = known(h, pid);

	if (p)
		p->look_again = true;
}

/* ---- those that ended ----------------------------------------------------------------------- */

static void sum_up(struct helpers_totals *t, const struct helpers_status *st)
{
	t->works = num_add(t->works, st->counts.works);
	t->lost_works = num_add(t->lost_works, num_add(st->lost_works, st->counts.dropped));
	t->lost_calls = num_add(t->lost_calls, st->lost_calls);
	t->kept_bytes = num_add(t->kept_bytes, st->kept_bytes);
}

/* One that never had a ring is forgotten; others are, when there are many, but for their sums. */
static int remember(struct helpers *h, const struct helper_process *p)
{
	struct helpers_status st, *at;

	process_status(p, &st);
	if (!st.head.tag)
		return 0;
	sum_up(&h->totals, &st);
	if (st.counts.received && !map_put(&h->senders, (uint64_t)st.pid, NULL))
		return -ENOMEM;
	if (h->ended.n >= HELPERS_ENDED_MAX) {
		h->totals.forgotten++;
		return 0;
	}
	at = VEC_PUSH(&h->ended);
	if (!at)
		return -ENOMEM;
	*at = st;
	return 0;
}

/* A probe's record of a call that has returned may come a little after CUPTI's of the calls behind
 * it, which would then seem to be inside it. */
static int hold_calls(struct helpers *h, struct helper_process *p, uint64_t now_ns)
{
	struct api_calls **at = waits_for_probes(p) ? VEC_PUSH(&h->calls) : NULL;

	if (!at)
		return waits_for_probes(p) ? -ENOMEM : 0;
	*at = p->calls;
	p->calls->found_ns = now_ns;
	p->calls->threads = NULL;
	p->calls = NULL;
	return 0;
}

/* Calls of processes that were found to have ended before. */
static int push_held(struct helpers *h, uint64_t before_ns, const struct event_sink *sink)
{
	size_t kept = 0;
	int err = 0;

	for (size_t i = 0; i < h->calls.n; i++) {
		struct api_calls *c = h->calls.v[i];

		if (err || c->found_ns >= before_ns) {
			h->calls.v[kept++] = c;
			continue;
		}
		err = api_calls_end(c, c->found_ns, sink);
		api_calls_free(c);
	}
	h->calls.n = kept;
	return err;
}

static int drop_ended(struct helpers *h, uint64_t now_ns)
{
	size_t kept = 0;
	int err = 0;

	for (size_t i = 0; i < h->all.n; i++) {
		struct helper_process *p = h->all.v[i];
		const uint64_t pid = (uint64_t)p->who.pid;
		const struct map_slot *slot;

		if (err || !p->over) {
			h->all.v[kept++] = p;
			continue;
		}
		slot = map_find(&h->by_pid, pid);
		err = remember(h, p);
		if (!err)
			err = hold_calls(h, p, now_ns);
		if (slot && slot->value == (uintptr_t)p)
			map_del(&h->by_pid, pid);
		process_free(p);
	}
	h->all.n = kept;
	return err;
}

/* ---- reading -------------------------------------------------------------------------------- */

/* Rings are looked for in a bounded part of all descriptors there are, each process in its turn. */
static int seek(struct helpers *h, uint64_t now_ns, const struct event_sink *sink)
{
	unsigned int left = SEEK_MAX;
	size_t idle = 0;		/* in a row, that needed nothing */
	uint64_t due_ns = UINT64_MAX;	/* of these */
	int err = 0;

	if (now_ns < h->seek_ns)
		return 0;
	while (!err && left && idle < h->all.n) {
		struct helper_process *p = h->all.v[h->seek_at++ % h->all.n];
		const bool waits = !p->ring && !p->over && !p->exit_ns &&
				   p->state != HELPERS_BROKEN;

		if (!waits || !ring_search_is_due(&p->search, now_ns)) {
			due_ns = waits ? num_min(due_ns, p->search.at_ns) : due_ns;
			idle++;
			continue;
		}
		idle = 0;
		due_ns = UINT64_MAX;
		err = process_seek(p, now_ns, &left, sink);
	}
	h->seek_ns = idle == h->all.n ? due_ns : 0;
	return err;
}

bool helpers_note(struct helpers *h)
{
	bool any = false;

	for (size_t i = 0; i < h->all.n; i++)
		if (h->all.v[i]->ring)
			any |= ring_reader_note(h->all.v[i]->ring);
	return any;
}

bool helpers_are_busy(const struct helpers *h, uint64_t now_ns)
{
	if (h->seek_ns <= now_ns)
		return true;	/* it has not looked everywhere */
	for (size_t i = 0; i < h->all.n; i++)
		if (h->all.v[i]->ring)
			return true;
	return false;
}

int helpers_pump(struct helpers *h, uint64_t now_ns, const struct event_sink *sink)
{
	int err = seek(h, now_ns, sink);
	bool has_over = false;

	for (size_t i = 0; i < h->all.n && !err; i++) {
		struct helper_process *p = h->all.v[i];
		struct helpers_process now_who;

		if (!p->decoder && !p->exit_ns)
			continue;	/* nothing was found of it yet */
		err = process_follow(p, now_ns, sink, &now_who);
		if (!err && now_who.pid)
			err = add(h, &now_who);
		if (!err)
			err = process_pump(p, now_ns, sink);
		has_over |= p->over;
		h->seek_ns = p->ring ? h->seek_ns : 0;
	}
	if (!err)
		err = push_held(h, num_sub(now_ns, API_CALLS_SLACK_NS), sink);
	return err || !has_over ? err : drop_ended(h, now_ns);
}

/* Do any helpers still have records for us? */
static bool are_awaited(const struct helpers *h, uint64_t ns)
{
	for (size_t i = 0; i < h->all.n; i++) {
		const struct helper_process *p = h->all.v[i];

		if (p->ring && !p->exit_ns && is_in(p, 1u << GP_HELPER_AWAKE) &&
		    (ring_reader_is_alone(p->ring) ||
		     helper_decoder_progress(p->decoder).known_ns < ns))
			return true;
	}
	return false;
}

static void leave(const struct helpers *h)
{
	for (size_t i = 0; i < h->all.n; i++) {
		struct helper_process *p = h->all.v[i];

		p->leaves = true;
		if (p->ring)
			ring_reader_want(p->ring, kinds_for(p));
	}
}

int helpers_end(struct helpers *h, uint64_t now_ns, const struct event_sink *sink)
{
	int err = helpers_pump(h, now_ns, sink);

	leave(h);
	while (!err && are_awaited(h, now_ns) && time_now_ns() < now_ns + END_NS) {
		usleep(END_LOOK_US);
		err = helpers_pump(h, time_now_ns(), sink);
	}
	if (!err)	/* what came before they fell asleep */
		err = helpers_pump(h, time_now_ns(), sink);
	for (size_t i = 0; i < h->all.n && !err; i++) {
		struct helper_process *p = h->all.v[i];

		p->sink = sink;
		err = p->over ? 0 : finish(p, p->exit_ns ? p->exit_ns : now_ns);
	}
	return err;
}

int helpers_end_calls(struct helpers *h, const struct event_sink *sink)
{
	int err = push_held(h, UINT64_MAX, sink);

	for (size_t i = 0; i < h->all.n && !err; i++)
		if (waits_for_probes(h->all.v[i]))
			err = api_calls_end(h->all.v[i]->calls, h->all.v[i]->exit_ns, sink);
	return err;
}

/* ---- their status ---------------------------------------------------------------------------- */

uint64_t helpers_complete_ns(const struct helpers *h, uint64_t now_ns)
{
	uint64_t known_ns = now_ns;

	for (size_t i = 0; i < h->all.n; i++) {
		const struct helper_process *p = h->all.v[i];

		if (p->calls && p->state == HELPERS_WATCHED)
			known_ns = num_min(known_ns, p->calls->pushed_ns);
	}
	return num_max(known_ns, num_sub(now_ns, HELPERS_LATE_NS));
}

bool helpers_find(const struct helpers *h, pid_t pid, struct helpers_status *out)
{
	const struct helper_process *p = map_pointer(&h->by_pid, (uint64_t)pid);
	size_t i = h->ended.n;

	if (p)
		process_status(p, out);
	while (!p && i > 0 && h->ended.v[i - 1].pid != pid)
		i--;
	if (!p && i)
		*out = h->ended.v[i - 1];
	return p || i;
}

bool helpers_has_sent(const struct helpers *h, pid_t pid)
{
	const struct helper_process *p = map_pointer(&h->by_pid, (uint64_t)pid);
	struct helpers_status st = { 0 };

	if (p)
		process_status(p, &st);
	return st.counts.received || map_find(&h->senders, (uint64_t)pid);
}

void helpers_totals(const struct helpers *h, struct helpers_totals *out)
{
	struct helpers_status st;

	*out = h->totals;
	for (size_t i = 0; i < h->all.n; i++) {
		process_status(h->all.v[i], &st);
		sum_up(out, &st);
	}
}

size_t helpers_count(const struct helpers *h)
{
	return h->ended.n + h->all.n;
}

void helpers_status(const struct helpers *h, size_t i, struct helpers_status *out)
{
	if (i < h->ended.n)
		*out = h->ended.v[i];
	else
		process_status(h->all.v[i - h->ended.n], out);
}
