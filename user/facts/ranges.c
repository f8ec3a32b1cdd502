// SPDX-License-Identifier: BSD-3-Clause
/*
 * Begins and ends of ranges -> rows. What a thread has open is a list that is never changed once it
 * was seen (ranges_open.h), so that its history is a list of such lists.
 */
#include "facts/ranges.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/num.h"
#include "base/vec.h"
#include "facts/ranges_open.h"
#include "facts/ranges_rows.h"

struct ranges {
	uint64_t floor_ns, stop_ns;	/* of the interval; UINT64_MAX: goes on */
	struct range_rows rows;
	VEC(struct ranges_thread *) threads;
	struct map by_tid;		/* -> struct ranges_thread */
	struct map started;		/* id of a range that was started -> tid */
	size_t room;			/* changes that may still be remembered */
	uint64_t stamp, unplaced;
};

#define ROOM (4u * RANGES_HISTORY_MAX)

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
	r->room = ROOM;
	return r;
}

void ranges_free(struct ranges *r)
{
	if (!r)
		return;
	range_rows_free(&r->rows);
	for (size_t i = 0; i < r->threads.n; i++) {
		ranges_thread_clear(r->threads.v[i], &r->room);
		free(r->threads.v[i]);
	}
	VEC_FREE(&r->threads);
	map_free(&r->by_tid);
	map_free(&r->started);
	free(r);
}

/* ---- begins and ends ------------------------------------------------------------------------ */

static struct range_row *row_of(struct ranges *r, const struct event *ev, unsigned int kind, bool before)
{
	const struct range_row key = { .kind = (uint8_t)kind, .before = before,
				       .domain = (char *)(uintptr_t)ev->text2,
				       .name = before ? NULL : (char *)(uintptr_t)ev->text };

	return range_rows_find(&r->rows, &key, r->floor_ns);
}

static struct ranges_thread *find_thread(struct ranges *r, uint32_t tid)
{
	struct map_slot *slot = map_put(&r->by_tid, tid, NULL);
	struct ranges_thread *t = slot ? (void *)(uintptr_t)slot->value : NULL, **at;

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

static bool has_open(const struct ranges_thread *t, uint32_t row)
{
	for (const struct ranges_open *o = t->top; o; o = o->below)
		if (o->row == row)
			return true;
	return false;
}

static int begin(struct ranges *r, const struct event *ev, unsigned int kind, uint64_t ns)
{
	struct ranges_thread *t = find_thread(r, ev->tid);
	struct range_row *row = t ? row_of(r, ev, kind, false) : NULL;
	struct ranges_open range = { .start_ns = ns, .id = kind == RANGE_KIND_START ? ev->entity : 0,
				     .kind = (uint8_t)kind };
	struct map_slot *slot;

	if (!row)
		return -ENOMEM;
	row->count += !EVENT_AGAIN(ev);
	if (t->depth >= RANGES_DEPTH_MAX) {
		t->deep += kind == RANGE_KIND_PUSH;
		return 0;
	}
	if (kind == RANGE_KIND_START) {
		slot = map_put(&r->started, ev->entity, NULL);
		if (!slot)
			return -ENOMEM;
		slot->value = ev->tid;
	}
	range.row = (uint32_t)(row - r->rows.all.v);
	range.inner = has_open(t, range.row);
	range.host_ns = ns;
	if (ranges_thread_add(t, &range, &r->room))
		return -ENOMEM;
	range_row_begin(row, ns);
	if (!range.inner) {
		row->host_open++;
		row->host_starts += ns;
	}
	return 0;
}

/* Of those of a row that are left on the thread, the outermost has its time. */
static void hand_on(struct range_row *row, struct ranges_open *o, uint32_t number, uint64_t ns)
{
	struct ranges_open *heir = NULL;

	for (; o; o = o->below)
		if (o->row == number)
			heir = o;
	if (!heir)
		return;
	heir->inner = false;
	heir->host_ns = ns;
	row->host_open++;
	row->host_starts += ns;
}

static void end_of(struct ranges *r, struct ranges_thread *t, const struct ranges_open *range,
		   uint64_t ns)
{
	struct range_row *row = &r->rows.all.v[range->row];
	uint64_t start_ns = num_max(range->host_ns, r->floor_ns);

	range_row_end(row, ns);
	if (range->inner)
		return;
	row->host_open--;
	row->host_starts -= start_ns;
	row->host_ns += ns > start_ns ? ns - start_ns : 0;
	hand_on(row, t->top, range->row, num_max(ns, start_ns));
}

/* It began before it could be seen. */
static int end_of_unknown(struct ranges *r, const struct event *ev, unsigned int kind, uint64_t ns)
{
	struct range_row *row = row_of(r, ev, kind, true);

	if (!row)
		return -ENOMEM;
	row->count++;
	range_row_begin(row, r->floor_ns);
	range_row_end(row, ns);
	return 0;
}

static int take_off(struct ranges *r, struct ranges_thread *t, const struct ranges_open *at, uint64_t ns)
{
	const struct ranges_open range = *at;

	if (ranges_thread_remove(t, at, ns, &r->room))
		return -ENOMEM;
	end_of(r, t, &range, ns);
	return 0;
}

static int pop(struct ranges *r, const struct event *ev, uint64_t ns)
{
	struct ranges_thread *t = find_thread(r, ev->tid);

	if (!t)
		return -ENOMEM;
	if (t->deep) {
		t->deep--;
		return 0;
	}
	for (const struct ranges_open *o = t->top; o; o = o->below)
		if (o->kind == RANGE_KIND_PUSH && range_same_text(r->rows.all.v[o->row].domain, ev->text2))
			return take_off(r, t, o, ns);
	return end_of_unknown(r, ev, RANGE_KIND_PUSH, ns);
}

static int end(struct ranges *r, const struct event *ev, uint64_t ns)
{
	const struct map_slot *slot = map_find(&r->started, ev->entity);
	uint32_t tid = slot ? (uint32_t)slot->value : 0;
	struct ranges_thread *t = slot ? find_thread(r, tid) : NULL;

	if (!slot)
		return end_of_unknown(r, ev, RANGE_KIND_START, ns);
	map_del(&r->started, ev->entity);
	for (const struct ranges_open *o = t ? t->top : NULL; o; o = o->below)
		if (o->kind == RANGE_KIND_START && o->id == ev->entity)
			return take_off(r, t, o, ns);
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

static void close_all(struct ranges *r, struct ranges_thread *t)
{
	uint64_t ns = num_min(num_max(t->exit_ns, r->floor_ns), r->stop_ns);

	while (t->top) {
		r->rows.all.v[t->top->row].left++;
		if (take_off(r, t, t->top, ns))
			break;
	}
	t->deep = 0;
	t->exit_ns = 0;
}

/* A number that is used again is another thread's. */
static void begin_again(struct ranges *r, const struct event *ev)
{
	const struct map_slot *slot = map_find(&r->by_tid, ev->tid);
	struct ranges_thread *t = slot ? (void *)(uintptr_t)slot->value : NULL;

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
	switch (ev->dir) {
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
		struct ranges_thread *t = r->threads.v[i];

		if (!t->exit_ns && (!tid || t->tid == tid))
			t->exit_ns = num_max(end_ns, 1);
	}
}

/* ---- works ---------------------------------------------------------------------------------- */

void ranges_work(struct ranges *r, const struct event *work, const struct launch *launch)
{
	const struct map_slot *slot = map_find(&r->by_tid, launch->tid);
	uint64_t at_ns = launch->start_ns + (launch->end_ns - launch->start_ns) / 2;
	const struct ranges_open *o;
	bool forgotten = false;

	if (!slot)
		return;
	o = ranges_thread_at((const struct ranges_thread *)(uintptr_t)slot->value, at_ns, &forgotten);
	r->unplaced += forgotten;
	r->stamp++;
	for (; o; o = o->below) {
		struct range_row *row = &r->rows.all.v[o->row];

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
	const struct ranges_open *o = slot ?
		ranges_thread_at((void *)(uintptr_t)slot->value, ns, &forgotten) : NULL;

	return o ? o->row + 1 : 0;
}

void ranges_settle(struct ranges *r, uint64_t horizon_ns)
{
	size_t kept = 0;

	for (size_t i = 0; i < r->threads.n; i++) {
		struct ranges_thread *t = r->threads.v[i];
		bool ended = t->exit_ns && t->exit_ns <= horizon_ns;

		if (ended)
			close_all(r, t);
		if (horizon_ns != UINT64_MAX)
			ranges_thread_forget(t, horizon_ns, &r->room);
		if (!ended || t->top || t->n) {
			r->threads.v[kept++] = t;
			continue;
		}
		map_del(&r->by_tid, t->tid);
		ranges_thread_clear(t, &r->room);
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
	return r->rows.all.n;
}

void ranges_read(const struct ranges *r, size_t i, uint64_t now_ns, struct range_sum *out)
{
	const struct range_row *row = &r->rows.all.v[i];
	uint64_t now = num_min(now_ns, r->stop_ns), host = row->host_open * now - row->host_starts;

	*out = (struct range_sum){ .domain = row->domain, .name = row->name, .kind = row->kind,
				   .before = row->before, .count = row->count, .open = row->open + row->left,
				   .wall_ns = row->wall_ns, .host_ns = row->host_ns,
				   .device_ns = row->device_ns, .launches = row->launches };
	if (row->open && now > row->since_ns)
		out->wall_ns += now - row->since_ns;
	if (row->host_open && host <= INT64_MAX)	/* else some began after now */
		out->host_ns += host;
}

int ranges_merge(struct ranges *to, const struct ranges *from, uint64_t end_ns)
{
	for (size_t i = 0; i < from->rows.all.n; i++) {
		struct range_row *row = range_rows_find(&to->rows, &from->rows.all.v[i], 0);
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

	return bytes + r->threads.cap * sizeof(struct ranges_thread) + range_rows_bytes(&r->rows);
}

void ranges_cut(struct ranges *r, uint64_t now_ns)
{
	r->floor_ns = num_max(r->floor_ns, now_ns);
	for (size_t i = 0; i < r->rows.all.n; i++) {
		struct range_row *row = &r->rows.all.v[i];

		row->count = row->left = row->wall_ns = row->host_ns = row->device_ns = row->launches = 0;
		row->host_starts = 0;
		row->covered_ns = num_max(row->covered_ns, r->floor_ns);
		row->since_ns = num_max(row->since_ns, r->floor_ns);
	}
	for (size_t i = 0; i < r->threads.n; i++)
		for (const struct ranges_open *o = r->threads.v[i]->top; o; o = o->below)
			if (!o->inner)
				r->rows.all.v[o->row].host_starts += num_max(o->host_ns, r->floor_ns);
}
