// SPDX-License-Identifier: BSD-3-Clause
/* Records wait in one list, sorted by thread and start when some of them are pushed. */
#include "source/helper/api_calls.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/num.h"
#include "base/vec.h"
#include "catalog/cbid.h"
#include "catalog/catalog.h"

#define CALLERS_MAX 4096	/* with probes, between two tellings */

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
	bool ended;
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
	uint64_t pushed_ns;
};

/* ---- functions ------------------------------------------------------------------------------ */

struct api_rows {
	uint16_t row[2][CBID_MAX];	/* of the runtime, of the driver */
	size_t held;			/* records, by all */
	bool probed;			/* all but those left out */
	bool any_left_out;
	bool left_out[GP_ROWS_MAX];
};

static void number_rows(uint16_t row[CBID_MAX], unsigned int library, unsigned int domain)
{
	const struct catalog_library *lib = catalog_library(library);
	size_t n;
	const struct cbid *v = cbid_all(domain, &n);

	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < lib->n_rows; k++)
			if (!lib->rows[k].tier && !strcmp(lib->rows[k].name, v[i].name))
				row[v[i].number] = (uint16_t)(catalog_first_row(library) + k);
}

static unsigned int library_number(const struct catalog_library *lib)
{
	unsigned int i = 0;

	while (i < CATALOG_LIBRARIES - 1 && catalog_library(i) != lib)
		i++;
	return i;
}

struct api_rows *api_rows_new(void)
{
	struct api_rows *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	number_rows(r->row[0], library_number(&catalog_cudart), CBID_RUNTIME);
	number_rows(r->row[1], library_number(&catalog_cuda), CBID_DRIVER);
	return r;
}

void api_rows_free(struct api_rows *r)
{
	free(r);
}

/* 0: none */
static unsigned int api_rows_find(const struct api_rows *r, const struct event *api)
{
	if (api->api.cbid >= CBID_MAX ||
	    (api->api.domain != CBID_DRIVER && api->api.domain != CBID_RUNTIME))
		return 0;
	return r->row[api->api.domain == CBID_DRIVER][api->api.cbid];
}

void api_rows_probed(struct api_rows *r)
{
	r->probed = true;
}

void api_rows_leave_out(struct api_rows *r, unsigned int row)
{
	r->left_out[row % GP_ROWS_MAX] = true;
	r->any_left_out = true;
}

bool api_rows_any(const struct api_rows *r)
{
	return !r->probed || r->any_left_out;
}

bool api_rows_are_all(const struct api_rows *r)
{
	return !r->probed;
}

/* ---- threads -------------------------------------------------------------------------------- */

struct api_calls *api_calls_new(uint32_t pid, struct api_rows *rows,
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

void api_calls_free(struct api_calls *c)
{
	if (!c)
		return;
	c->rows->held -= c->held.n;
	VEC_FREE(&c->held);
	VEC_FREE(&c->callers);
	map_free(&c->by_tid);
	free(c);
}

static int add_thread(struct api_calls *c, struct caller *caller, const struct event_sink *sink)
{
	const struct helper_thread *t = helper_threads_of(c->threads, caller->tid);
	struct event ev = { .kind = EVENT_THREAD, .pid = c->pid, .tid = caller->tid };

	if (t) {
		ev.start_ns = caller->birth_ns = t->birth_ns;
		ev.task.comm = *t->comm ? t->comm : NULL;
	}
	return sink->push(sink->ctx, &ev);
}

/* 0: out of memory, or the sink's error in *err. */
static struct caller *find_caller(struct api_calls *c, uint32_t tid, const struct event_sink *sink,
				  int *err)
{
	struct map_slot *slot = map_put(&c->by_tid, tid, NULL);
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
	*err = c->rows->probed ? 0 : add_thread(c, caller, sink);
	return *err ? NULL : caller;
}

static int push_exit(struct api_calls *c, struct caller *caller, uint64_t end_ns,
		     const struct event_sink *sink)
{
	struct event ev = { .kind = EVENT_EXIT, .pid = c->pid, .tid = caller->tid,
			    .seq = caller->seq + caller->lost + 1, .start_ns = caller->birth_ns,
			    .end_ns = num_max(end_ns, caller->end_ns) };

	caller->ended = true;
	map_del(&c->by_tid, caller->tid);
	return sink->push(sink->ctx, &ev);
}

static void forget_ended(struct api_calls *c)
{
	size_t kept = 0;

	for (size_t i = 0; i < c->callers.n; i++) {
		struct map_slot *slot = map_find(&c->by_tid, c->callers.v[i].tid);

		if (c->callers.v[i].ended)
			continue;
		c->callers.v[kept++] = c->callers.v[i];
		slot->value = kept;
	}
	c->callers.n = kept;
}

/* Those that were seen no more, once all their calls until then are pushed. exit_ns: of all; 0:
 * not. */
static int push_exits(struct api_calls *c, uint64_t exit_ns, const struct event_sink *sink)
{
	int err = 0;

	if (c->rows->probed) {		/* probes record the ends of threads */
		if (c->callers.n > CALLERS_MAX) {
			c->callers.n = 0;
			map_clear(&c->by_tid);
		}
		return 0;
	}
	for (size_t i = 0; i < c->callers.n && !err; i++) {
		struct caller *caller = &c->callers.v[i];
		const struct helper_thread *t = helper_threads_of(c->threads, caller->tid);
		uint64_t gone_ns = t ? t->gone_ns : 0;

		if (!exit_ns && (!gone_ns || gone_ns >= c->pushed_ns))
			continue;
		err = push_exit(c, caller, gone_ns ? gone_ns : exit_ns, sink);
	}
	forget_ended(c);
	return err;
}

/* ---- calls ---------------------------------------------------------------------------------- */

/* The outer one of two that begin at once comes first. */
static int compare(const void *a, const void *b)
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
	if (c->rows->probed && !c->rows->left_out[h->row])
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
		qsort(c->held.v, c->held.n, sizeof(c->held.v[0]), compare);
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

static uint64_t less_slack(uint64_t ns)
{
	return ns > API_CALLS_SLACK_NS ? ns - API_CALLS_SLACK_NS : 0;
}

int api_calls_push(struct api_calls *c, uint64_t complete_ns, const struct event_sink *sink)
{
	int err;

	if (less_slack(complete_ns) <= c->pushed_ns)
		return 0;
	err = push_until(c, less_slack(complete_ns), sink);
	return err ? err : push_exits(c, 0, sink);
}

static bool is_full(const struct api_calls *c)
{
	return c->held.n >= API_CALLS_HELD_MAX || c->rows->held >= API_CALLS_ROOM;
}

/* It is full. 0: not any more; -ENOSPC: it is. Seldom tried, since all that is held is sorted for
 * it. */
static int make_room(struct api_calls *c, const struct event_sink *sink)
{
	int err = 0;

	if (less_slack(c->newest_ns) >
	    num_max(c->pushed_ns, num_add(c->tried_ns, API_CALLS_SLACK_NS / 4))) {
		c->tried_ns = less_slack(c->newest_ns);
		err = push_until(c, c->tried_ns, sink);
	}
	return err || !is_full(c) ? err : -ENOSPC;
}

static int lose(struct api_calls *c, const struct event *api, const struct event_sink *sink)
{
	int err;
	struct caller *caller = find_caller(c, api->tid, sink, &err);

	if (!caller)
		return err;
	caller->lost++;
	c->lost++;
	return 0;
}

int api_calls_take(struct api_calls *c, const struct event *api, const struct event_sink *sink)
{
	unsigned int row = api_rows_find(c->rows, api);
	int err = 0;
	struct held *held;

	if (!row || !api->tid || !api_rows_any(c->rows))
		return 0;
	c->newest_ns = num_max(c->newest_ns, api->end_ns);
	if (is_full(c))
		err = make_room(c, sink);
	if (err)
		return err == -ENOSPC ? lose(c, api, sink) : err;
	held = VEC_PUSH(&c->held);
	if (!held)
		return -ENOMEM;
	c->rows->held++;
	*held = (struct held){ api->start_ns, api->end_ns, api->tid, api->api.result,
			       (uint16_t)row };
	return 0;
}

uint64_t api_calls_lost(const struct api_calls *c)
{
	return c->lost;
}

int api_calls_end(struct api_calls *c, uint64_t exit_ns, const struct event_sink *sink)
{
	int err = push_until(c, UINT64_MAX, sink);

	return err ? err : push_exits(c, exit_ns, sink);
}

uint64_t api_calls_complete_ns(const struct api_calls *c)
{
	return c->pushed_ns;
}
