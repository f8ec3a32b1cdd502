// SPDX-License-Identifier: BSD-3-Clause
/*
 * Begins and ends of ranges -> rows. A range is a scope of its thread (facts/scopes.h), whose
 * history has the ranges of a work's launch.
 */
#include "facts/ranges.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/num.h"
#include "base/rows.h"
#include "base/vec.h"
#include "facts/scopes.h"

struct range_key {
	uint64_t domain, name;		/* event_text_hash of the row's texts */
	uint32_t kind, before;
};

struct range_row {
	struct range_key key;
	uint32_t number;		/* of the row in its table */
	char *domain, *name;		/* NULL: none */
	uint64_t count, open;
	uint64_t left;			/* never ended by their thread, and ended with it */
	/* of ranges that ended, and launches in them */
	uint64_t wall_ns, host_ns, device_ns, launches;
	uint64_t since_ns, covered_ns;	/* one is open since; wall_ns has the time until
					 * covered_ns */
	uint64_t until_ns;		/* the latest end: threads' ends do not come in order of
					 * time */
	uint64_t host_open, host_starts;	/* those open that count as host, their starts
						 * added up */
	uint64_t stamp;			/* of the last work that was put here */
};

struct thread {
	struct scopes scopes;
	uint32_t tid;
	uint32_t deep;			/* pushed beyond SCOPES_DEPTH_MAX */
	uint64_t exit_ns;		/* when it ended; 0: it lives */
};

struct ranges {
	uint64_t floor_ns, stop_ns;	/* of the interval; UINT64_MAX: goes on */
	struct rows rows;		/* struct range_row */
	VEC(struct thread *) threads;
	struct map by_tid;		/* -> struct thread */
	struct map started;		/* id of a started range -> tid */
	size_t budget;			/* changes that scopes may still remember */
	uint64_t stamp, unplaced;
};

#define BUDGET (4u * SCOPES_HISTORY_MAX)

/* ---- rows ----------------------------------------------------------------------------------- */

static void other_key(void *key)
{
	*(struct range_key *)key = (struct range_key){ .kind = ((struct range_key *)key)->kind,
						       .name = event_text_hash(RANGES_OTHERS) };
}

static void release_row(void *row)
{
	free(((struct range_row *)row)->domain);
	free(((struct range_row *)row)->name);
}

static size_t owned_bytes(const void *at)
{
	const struct range_row *row = at;

	return (row->domain ? strlen(row->domain) + 1 : 0) +
	       (row->name ? strlen(row->name) + 1 : 0);
}

static const struct rows_type type = {
	ROWS_OF(struct range_row), .max = RANGES_ROWS_MAX, .other = other_key,
	.release = release_row, .owned = owned_bytes,
};

static struct range_row *row_at(const struct ranges *r, size_t i)
{
	return r->rows.v[i];
}

static int copy_text(char **to, const char *text)
{
	*to = text ? strdup(text) : NULL;
	return text && !*to ? -ENOMEM : 0;
}

/* A new row has wall time from floor_ns on. NULL on ENOMEM. */
static struct range_row *find_row(struct ranges *r, const struct range_key *key, const char *domain,
				  const char *name, uint64_t floor_ns)
{
	bool is_new;
	struct range_row *row = rows_get(&r->rows, &type, key, &is_new);

	if (!row || !is_new)
		return row;
	if (memcmp(&row->key, key, sizeof(*key))) {
		domain = NULL;
		name = RANGES_OTHERS;
	}
	row->number = (uint32_t)r->rows.n - 1;
	row->covered_ns = floor_ns;
	return copy_text(&row->domain, domain) || copy_text(&row->name, name) ? NULL : row;
}

/* One range of the row begins and one ends, in any order of those that are open. */
static void row_begins(struct range_row *row, uint64_t ns)
{
	row->since_ns = row->open++ ? num_min(row->since_ns, ns) : ns;
	row->since_ns = num_max(row->since_ns, row->covered_ns);
}

static void row_ends(struct range_row *row, uint64_t ns)
{
	row->until_ns = num_max(row->until_ns, ns);
	if (--row->open)
		return;
	if (row->until_ns > row->since_ns)
		row->wall_ns += row->until_ns - row->since_ns;
	row->covered_ns = num_max(row->covered_ns, row->until_ns);
}

const char *range_kind_name(unsigned int kind)
{
	static const char *const names[RANGE_KINDS] = { "push", "start", "mark" };

	return kind < RANGE_KINDS ? names[kind] : "?";
}

struct ranges *ranges_new(uint64_t open_ns)
{
	struct ranges *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->floor_ns = open_ns;
	r->stop_ns = UINT64_MAX;
	r->budget = BUDGET;
	return r;
}

void ranges_free(struct ranges *r)
{
	if (!r)
		return;
	rows_free(&r->rows);
	for (size_t i = 0; i < r->threads.n; i++) {
		scopes_free(&r->threads.v[i]->scopes, &r->budget);
		free(r->threads.v[i]);
	}
	VEC_FREE(&r->threads);
	map_free(&r->by_tid);
	map_free(&r->started);
	free(r);
}

/* ---- begins and ends ------------------------------------------------------------------------ */

static struct range_row *row_of(struct ranges *r, const struct event *ev, unsigned int kind,
				bool before)
{
	const char *name = before ? NULL : ev->range.name;
	const struct range_key key = { .domain = event_text_hash(ev->range.domain), .kind = kind,
				       .name = event_text_hash(name), .before = before };

	return find_row(r, &key, ev->range.domain, name, r->floor_ns);
}

static struct thread *find_thread(struct ranges *r, uint32_t tid)
{
	struct map_slot *slot = map_put(&r->by_tid, tid, NULL);
	struct thread *t = slot ? (void *)(uintptr_t)slot->value : NULL, **at;

	if (!slot || t)
		return t;
	t = calloc(1, sizeof(*t));
	at = t ? VEC_PUSH(&r->threads) : NULL;
	if (!at) {
		free(t);
		map_del(&r->by_tid, tid);
		return NULL;
	}
	t->tid = tid;
	*at = t;
	slot->value = (uintptr_t)t;
	return t;
}

static bool is_one_too_many(const struct ranges *r, uint32_t tid)
{
	return r->threads.n >= RANGES_THREADS_MAX && !map_find(&r->by_tid, tid);
}

static bool has_open(const struct thread *t, uint32_t row)
{
	for (const struct scope *s = t->scopes.top; s; s = s->below)
		if (s->row == row)
			return true;
	return false;
}

static int begin(struct ranges *r, const struct event *ev, unsigned int kind, uint64_t ns)
{
	struct thread *t = find_thread(r, ev->tid);
	struct range_row *row = t ? row_of(r, ev, kind, false) : NULL;
	struct scope range = { .start_ns = ns, .id = kind == RANGE_KIND_START ? ev->range.id : 0,
			       .kind = (uint8_t)kind, .own_ns = ns };
	struct map_slot *slot;

	if (!row)
		return -ENOMEM;
	row->count += !ev->range.again;
	if (t->scopes.depth >= SCOPES_DEPTH_MAX) {
		t->deep += kind == RANGE_KIND_PUSH;
		return 0;
	}
	if (kind == RANGE_KIND_START) {
		slot = map_put(&r->started, ev->range.id, NULL);
		if (!slot)
			return -ENOMEM;
		slot->value = ev->tid;
	}
	range.row = row->number;
	range.inner = has_open(t, range.row);
	if (scopes_open(&t->scopes, &range, &r->budget))
		return -ENOMEM;
	row_begins(row, ns);
	if (!range.inner) {
		row->host_open++;
		row->host_starts += ns;
	}
	return 0;
}

/* The outermost range of the row that is left on the thread has its time from now on. */
static void pass_time(struct range_row *row, struct scope *s, uint64_t ns)
{
	struct scope *outermost = NULL;

	for (; s; s = s->below)
		if (s->row == row->number)
			outermost = s;
	if (!outermost)
		return;
	outermost->inner = false;
	outermost->own_ns = ns;
	row->host_open++;
	row->host_starts += ns;
}

static void end_of(struct ranges *r, struct thread *t, const struct scope *range, uint64_t ns)
{
	struct range_row *row = row_at(r, range->row);
	uint64_t start_ns = num_max(range->own_ns, r->floor_ns);

	row_ends(row, ns);
	if (range->inner)
		return;
	row->host_open--;
	row->host_starts -= start_ns;
	row->host_ns += ns > start_ns ? ns - start_ns : 0;
	pass_time(row, t->scopes.top, num_max(ns, start_ns));
}

/* It began before it could be seen. */
static int end_of_unknown(struct ranges *r, const struct event *ev, unsigned int kind, uint64_t ns)
{
	struct range_row *row = row_of(r, ev, kind, true);

	if (!row)
		return -ENOMEM;
	row->count++;
	row_begins(row, r->floor_ns);
	row_ends(row, ns);
	return 0;
}

static int close_range(struct ranges *r, struct thread *t, const struct scope *at, uint64_t ns)
{
	const struct scope range = *at;

	if (scopes_close(&t->scopes, at, ns, &r->budget))
		return -ENOMEM;
	end_of(r, t, &range, ns);
	return 0;
}

static int pop(struct ranges *r, const struct event *ev, uint64_t ns)
{
	struct thread *t = find_thread(r, ev->tid);
	const uint64_t domain = event_text_hash(ev->range.domain);

	if (!t)
		return -ENOMEM;
	if (t->deep) {
		t->deep--;
		return 0;
	}
	for (const struct scope *s = t->scopes.top; s; s = s->below)
		if (s->kind == RANGE_KIND_PUSH && row_at(r, s->row)->key.domain == domain)
			return close_range(r, t, s, ns);
	return end_of_unknown(r, ev, RANGE_KIND_PUSH, ns);
}

static int end(struct ranges *r, const struct event *ev, uint64_t ns)
{
	const struct map_slot *slot = map_find(&r->started, ev->range.id);
	uint32_t tid = slot ? (uint32_t)slot->value : 0;
	struct thread *t = slot ? find_thread(r, tid) : NULL;

	if (!slot)
		return end_of_unknown(r, ev, RANGE_KIND_START, ns);
	map_del(&r->started, ev->range.id);
	for (const struct scope *s = t ? t->scopes.top : NULL; s; s = s->below)
		if (s->kind == RANGE_KIND_START && s->id == ev->range.id)
			return close_range(r, t, s, ns);
	return 0;		/* its thread ended before */
}

static int mark(struct ranges *r, const struct event *ev)
{
	struct range_row *row = row_of(r, ev, RANGE_KIND_MARK, false);

	if (!row)
		return -ENOMEM;
	row->count++;
	return 0;
}

static void close_all(struct ranges *r, struct thread *t)
{
	uint64_t ns = num_min(num_max(t->exit_ns, r->floor_ns), r->stop_ns);

	while (t->scopes.top) {
		row_at(r, t->scopes.top->row)->left++;
		if (close_range(r, t, t->scopes.top, ns))
			break;
	}
	t->deep = 0;
	t->exit_ns = 0;
}

/* A number that is used again is another thread's. */
static void begin_again(struct ranges *r, const struct event *ev)
{
	const struct map_slot *slot = map_find(&r->by_tid, ev->tid);
	struct thread *t = slot ? (void *)(uintptr_t)slot->value : NULL;

	if (t && t->exit_ns && ev->start_ns > t->exit_ns)
		close_all(r, t);
}

int ranges_push(struct ranges *r, const struct event *ev)
{
	uint64_t ns = num_min(num_max(ev->start_ns, r->floor_ns), r->stop_ns);
	bool is_late = ev->start_ns > r->stop_ns;

	if (!ev->tid || is_one_too_many(r, ev->tid))
		return -EINVAL;
	begin_again(r, ev);
	switch (ev->range.what) {
	case RANGE_PUSH:
		return is_late ? 0 : begin(r, ev, RANGE_KIND_PUSH, ns);
	case RANGE_START:
		return is_late ? 0 : begin(r, ev, RANGE_KIND_START, ns);
	case RANGE_MARK:
		return is_late ? 0 : mark(r, ev);
	case RANGE_POP:
		return pop(r, ev, ns);
	case RANGE_END:
		return end(r, ev, ns);
	default:
		return -EINVAL;
	}
}

void ranges_exit(struct ranges *r, uint32_t tid, uint64_t end_ns)
{
	for (size_t i = 0; i < r->threads.n; i++) {
		struct thread *t = r->threads.v[i];

		if (!t->exit_ns && (!tid || t->tid == tid))
			t->exit_ns = num_max(end_ns, 1);
	}
}

/* ---- works ---------------------------------------------------------------------------------- */

void ranges_work(struct ranges *r, const struct event *work, const struct launch *launch)
{
	const struct map_slot *slot = map_find(&r->by_tid, launch->tid);
	uint64_t at_ns = launch_moment(launch->start_ns, launch->end_ns);
	const struct scope *s;
	bool forgotten = false;

	if (!slot)
		return;
	s = scopes_at(&((const struct thread *)(uintptr_t)slot->value)->scopes, at_ns, &forgotten);
	r->unplaced += forgotten;
	r->stamp++;
	for (; s; s = s->below) {
		struct range_row *row = row_at(r, s->row);

		if (row->stamp == r->stamp)
			continue;	/* inside another of its name */
		row->stamp = r->stamp;
		row->device_ns += work->end_ns - work->start_ns;
		row->launches += !launch->works;
	}
}

uint32_t ranges_innermost(const struct ranges *r, uint32_t tid, uint64_t ns)
{
	const struct map_slot *slot = map_find(&r->by_tid, tid);
	bool forgotten = false;
	const struct thread *t = slot ? (void *)(uintptr_t)slot->value : NULL;
	const struct scope *s = t ? scopes_at(&t->scopes, ns, &forgotten) : NULL;

	return s ? s->row + 1 : 0;
}

void ranges_settle(struct ranges *r, uint64_t horizon_ns)
{
	size_t kept = 0;

	for (size_t i = 0; i < r->threads.n; i++) {
		struct thread *t = r->threads.v[i];
		bool ended = t->exit_ns && t->exit_ns <= horizon_ns;

		if (ended)
			close_all(r, t);
		if (horizon_ns != UINT64_MAX)
			scopes_forget(&t->scopes, horizon_ns, &r->budget);
		if (!ended || t->scopes.top || t->scopes.changes.n) {
			r->threads.v[kept++] = t;
			continue;
		}
		map_del(&r->by_tid, t->tid);
		scopes_free(&t->scopes, &r->budget);
		free(t);
	}
	r->threads.n = kept;
}

uint64_t ranges_unplaced(const struct ranges *r)
{
	return r->unplaced;
}

/* ---- reading -------------------------------------------------------------------------------- */

void ranges_stop(struct ranges *r, uint64_t end_ns)
{
	r->stop_ns = num_max(end_ns, r->floor_ns);
}

size_t ranges_count(const struct ranges *r)
{
	return r->rows.n;
}

void ranges_read(const struct ranges *r, size_t i, uint64_t now_ns, struct range_sum *out)
{
	const struct range_row *row = row_at(r, i);
	uint64_t now = num_min(now_ns, r->stop_ns), host = row->host_open * now - row->host_starts;

	*out = (struct range_sum){ .domain = row->domain,
				   .name = row->name,
				   .kind = (uint8_t)row->key.kind,
				   .before = row->key.before,
				   .count = row->count,
				   .open = row->open + row->left,
				   .wall_ns = row->wall_ns,
				   .host_ns = row->host_ns,
				   .device_ns = row->device_ns,
				   .launches = row->launches };
	if (row->open && now > row->since_ns)
		out->wall_ns += now - row->since_ns;
	if (row->host_open && host <= INT64_MAX)	/* else some began after now */
		out->host_ns += host;
}

int ranges_merge(struct ranges *to, const struct ranges *from, uint64_t end_ns)
{
	for (size_t i = 0; i < from->rows.n; i++) {
		const struct range_row *of = row_at(from, i);
		struct range_row *row = find_row(to, &of->key, of->domain, of->name, 0);
		struct range_sum sum;

		if (!row)
			return -ENOMEM;
		ranges_read(from, i, end_ns, &sum);
		row->count += sum.count;
		row->left += sum.open;
		row->wall_ns += sum.wall_ns;
		row->host_ns += sum.host_ns;
		row->device_ns += sum.device_ns;
		row->launches += sum.launches;
	}
	return 0;
}

size_t ranges_bytes(const struct ranges *r)
{
	size_t bytes = sizeof(*r) + (r->by_tid.cap + r->started.cap) * sizeof(struct map_slot);

	return bytes + r->threads.cap * sizeof(struct thread) + rows_bytes(&r->rows);
}

void ranges_cut(struct ranges *r, uint64_t now_ns)
{
	r->floor_ns = num_max(r->floor_ns, now_ns);
	for (size_t i = 0; i < r->rows.n; i++) {
		struct range_row *row = row_at(r, i);

		row->count = row->left = row->wall_ns = row->host_ns = row->device_ns =
			row->launches = 0;
		row->host_starts = 0;
		row->covered_ns = num_max(row->covered_ns, r->floor_ns);
		row->since_ns = num_max(row->since_ns, r->floor_ns);
	}
	for (size_t i = 0; i < r->threads.n; i++)
		for (const struct scope *s = r->threads.v[i]->scopes.top; s; s = s->below)
			if (!s->inner)
				row_at(r, s->row)->host_starts += num_max(s->own_ns, r->floor_ns);
}
