// SPDX-License-Identifier: BSD-3-Clause
/*
 * Begins and ends of ranges -> rows. A range is a scope of its thread (join/scopes.h); a
 * work's launch leads to all that were open.
 */
#include "facts/ranges.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/intervals.h"
#include "base/map.h"
#include "base/num.h"
#include "base/rows.h"

#define PARTS_MAX 256	/* of a row's wall time, which later events may still change */

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
	/* Threads' ends do not come in order of time: wall_ns is what lies before covered_ns, and
	 * these are what comes after it. */
	struct intervals parts;
	uint64_t covered_ns;
	uint64_t host_open, host_starts;	/* those open that count as host, their starts
						 * added up */
	uint64_t stamp;			/* of the last work that was put here */
};

struct ranges {
	uint64_t open_ns, stop_ns;	/* of the session; UINT64_MAX: goes on */
	struct rows rows;		/* struct range_row */
	struct scopes *scopes;
	struct map started;		/* id of a started range -> tid */
	uint64_t stamp, unplaced;
};

static bool is_range(const struct scope *s)
{
	return s->kind == SCOPE_PUSHED_RANGE || s->kind == SCOPE_STARTED_RANGE;
}

static bool is_of(const struct scope *s, const struct range_row *row)
{
	return is_range(s) && s->row == row->number;
}

/* ---- rows ----------------------------------------------------------------------------------- */

static void other_key(void *key)
{
	*(struct range_key *)key = (struct range_key){ .kind = ((struct range_key *)key)->kind,
						       .name = event_text_hash(RANGES_OTHERS) };
}

static void free_parts(void *row)
{
	intervals_free(&((struct range_row *)row)->parts);
}

static const struct rows_type type = {
	ROWS_OF(struct range_row), ROWS_TEXTS(struct range_row, domain, name),
	.max = RANGES_ROWS_MAX, .other = other_key, .release = free_parts,
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

/* A new row has wall time from open_ns on. NULL on ENOMEM. */
static struct range_row *find_row(struct ranges *r, const struct range_key *key, const char *domain,
				  const char *name, uint64_t open_ns)
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
	row->covered_ns = open_ns;
	return copy_text(&row->domain, domain) || copy_text(&row->name, name) ? NULL : row;
}

/* When the first of those began that are open; UINT64_MAX: none is. */
static uint64_t open_since(const struct ranges *r, const struct range_row *row)
{
	uint64_t since_ns = UINT64_MAX;

	for (size_t i = 0; row->open && i < r->scopes->stacks.n; i++)
		for (const struct scope *s = r->scopes->stacks.v[i]->top; s; s = s->below)
			if (is_of(s, row))
				since_ns = num_min(since_ns, s->start_ns);
	return since_ns;
}

/* From the first open one on all is wall time; the older half of the rest will not change. */
static int fold_parts(struct ranges *r, struct range_row *row)
{
	struct intervals *parts = &row->parts;
	const uint64_t end_ns = parts->v[parts->n - 1].end, since_ns = open_since(r, row);

	if (since_ns < end_ns && intervals_add(parts, since_ns, end_ns))
		return -ENOMEM;
	if (parts->n > 1)
		row->covered_ns = parts->v[parts->n / 2 - 1].end;
	row->wall_ns += intervals_overlap(parts, 0, row->covered_ns);
	intervals_drop_before(parts, row->covered_ns);
	return 0;
}

/* One of the row's ranges was open in [start, end). */
static int add_wall(struct ranges *r, struct range_row *row, uint64_t start, uint64_t end)
{
	if (row->parts.n == PARTS_MAX && fold_parts(r, row))
		return -ENOMEM;
	start = num_max(start, row->covered_ns);
	return start < end ? intervals_add(&row->parts, start, end) : 0;
}

static uint64_t wall_of(const struct ranges *r, const struct range_row *row, uint64_t now_ns)
{
	const uint64_t since_ns = num_max(open_since(r, row), row->covered_ns);
	const uint64_t wall_ns = row->wall_ns + intervals_overlap(&row->parts, 0, UINT64_MAX);

	return since_ns < now_ns ? wall_ns + (now_ns - since_ns) -
				   intervals_overlap(&row->parts, since_ns, now_ns) : wall_ns;
}

/* ---- begins and ends ------------------------------------------------------------------------ */

/*
 * XLA names a range "KIND:#key=value,...#". Those of its compiler have the pass and the module
 * among the values: hundreds of rows for a small program.
 */
static const char *name_of(const struct event *ev)
{
	static const char *const folded[] = { "XlaPass", "XlaPassPipeline" };
	const char *name = ev->range.name, *values;

	if (!name || !ev->range.domain || strcmp(ev->range.domain, "TSL"))
		return name;
	values = strstr(name, ":#");
	for (size_t i = 0; values && i < sizeof(folded) / sizeof(folded[0]); i++)
		if ((size_t)(values - name) == strlen(folded[i]) &&
		    !strncmp(name, folded[i], strlen(folded[i])))
			return folded[i];
	return name;
}

static struct range_row *row_of(struct ranges *r, const struct event *ev, unsigned int kind,
				bool before)
{
	const char *name = before ? NULL : name_of(ev);
	const struct range_key key = { .domain = event_text_hash(ev->range.domain), .kind = kind,
				       .name = event_text_hash(name), .before = before };

	return find_row(r, &key, ev->range.domain, name, r->open_ns);
}

static int begin(struct ranges *r, struct scope_stack *t, const struct event *ev, uint64_t ns)
{
	const bool started = ev->range.what == RANGE_START;
	struct range_row *row = row_of(r, ev, started ? RANGE_KIND_START : RANGE_KIND_PUSH, false);
	struct scope range = { .start_ns = ns, .id = started ? ev->range.id : 0,
			       .kind = started ? SCOPE_STARTED_RANGE : SCOPE_PUSHED_RANGE,
			       .own_ns = ns };
	struct map_slot *slot;
	int err;

	if (!row)
		return -ENOMEM;
	row->count += !ev->range.again && ev->start_ns >= r->open_ns;
	range.row = row->number;
	for (const struct scope *s = t->top; s; s = s->below)
		range.inner |= is_of(s, row);
	err = scopes_open(r->scopes, t, &range);
	if (err == -ENOSPC)
		t->deep[SCOPE_PUSHED_RANGE] += !started;
	if (err)
		return err == -ENOSPC ? 0 : err;
	row->open++;
	if (!range.inner) {
		row->host_open++;
		row->host_starts += ns;
	}
	slot = started ? map_put(&r->started, ev->range.id, NULL) : NULL;
	if (slot)
		slot->value = ev->tid;
	return started && !slot ? -ENOMEM : 0;
}

/* The outermost range of the row that is left on the thread has its time from now on. */
static void pass_time(struct range_row *row, struct scope *s, uint64_t ns)
{
	struct scope *outermost = NULL;

	for (; s; s = s->below)
		if (is_of(s, row))
			outermost = s;
	if (!outermost)
		return;
	outermost->inner = false;
	outermost->own_ns = ns;
	row->host_open++;
	row->host_starts += ns;
}

static int end_of(struct ranges *r, struct scope_stack *t, const struct scope *range, uint64_t ns)
{
	struct range_row *row = row_at(r, range->row);
	uint64_t start_ns = num_max(range->own_ns, r->open_ns);

	row->open--;
	if (!range->inner) {
		row->host_open--;
		row->host_starts -= start_ns;
		row->host_ns += num_sub(ns, start_ns);
		pass_time(row, t->top, num_max(ns, start_ns));
	}
	return add_wall(r, row, range->start_ns, ns);
}

/* It began before it could be seen. */
static int end_of_unknown(struct ranges *r, const struct event *ev, unsigned int kind, uint64_t ns)
{
	struct range_row *row;

	if (ev->start_ns > r->stop_ns)	/* so may it have begun */
		return 0;
	row = row_of(r, ev, kind, true);
	if (!row)
		return -ENOMEM;
	row->count += ev->start_ns >= r->open_ns;
	return add_wall(r, row, r->open_ns, ns);
}

static int close_range(struct ranges *r, struct scope_stack *t, const struct scope *at,
		       uint64_t ns)
{
	const struct scope range = *at;

	return scopes_close(r->scopes, t, at, ns) ? -ENOMEM : end_of(r, t, &range, ns);
}

static int pop(struct ranges *r, struct scope_stack *t, const struct event *ev, uint64_t ns)
{
	const uint64_t domain = event_text_hash(ev->range.domain);

	if (t->deep[SCOPE_PUSHED_RANGE]) {
		t->deep[SCOPE_PUSHED_RANGE]--;
		return 0;
	}
	for (const struct scope *s = t->top; s; s = s->below)
		if (s->kind == SCOPE_PUSHED_RANGE && row_at(r, s->row)->key.domain == domain)
			return close_range(r, t, s, ns);
	return end_of_unknown(r, ev, RANGE_KIND_PUSH, ns);
}

static int end(struct ranges *r, const struct event *ev, uint64_t ns)
{
	const struct map_slot *slot = map_find(&r->started, ev->range.id);
	uint32_t tid = slot ? (uint32_t)slot->value : 0;
	struct scope_stack *t = slot ? scopes_of(r->scopes, tid, 0) : NULL;

	if (!slot)
		return end_of_unknown(r, ev, RANGE_KIND_START, ns);
	map_del(&r->started, ev->range.id);
	for (const struct scope *s = t ? t->top : NULL; s; s = s->below)
		if (s->kind == SCOPE_STARTED_RANGE && s->id == ev->range.id)
			return close_range(r, t, s, ns);
	return 0;		/* its thread ended before */
}

/* Its thread ended. */
static int leave(void *ctx, struct scope_stack *t, const struct scope *range)
{
	struct ranges *r = ctx;

	row_at(r, range->row)->left++;
	return close_range(r, t, range, num_min(num_max(t->exit_ns, r->open_ns), r->stop_ns));
}

/* The thread itself reports it, after all else. What it started may end in another thread. */
static int leave_pushed(struct ranges *r, struct scope_stack *t, uint64_t ns)
{
	const struct scope *s = t->top;
	int err = 0;

	while (s && !err) {
		if (s->kind != SCOPE_PUSHED_RANGE) {
			s = s->below;
			continue;
		}
		row_at(r, s->row)->left++;
		err = close_range(r, t, s, ns);
		s = t->top;
	}
	scopes_exit(r->scopes, t->tid, ns);
	return err;
}

int ranges_push(struct ranges *r, const struct event *ev)
{
	uint64_t ns = num_min(num_max(ev->start_ns, r->open_ns), r->stop_ns);
	bool is_late = ev->start_ns > r->stop_ns;
	struct scope_stack *t = scopes_of(r->scopes, ev->tid, ev->start_ns);
	struct range_row *row;

	if (!t)
		return -errno;
	switch (ev->range.what) {
	case RANGE_PUSH:
	case RANGE_START:
		return is_late ? 0 : begin(r, t, ev, ns);
	case RANGE_MARK:
		if (is_late)
			return 0;
		row = row_of(r, ev, RANGE_KIND_MARK, false);
		if (row)
			row->count += ev->start_ns >= r->open_ns;
		return row ? 0 : -ENOMEM;
	case RANGE_POP:
		return pop(r, t, ev, ns);
	case RANGE_END:
		return end(r, ev, ns);
	case RANGE_LEAVE:
		return leave_pushed(r, t, ns);
	default:
		return -EINVAL;
	}
}

struct ranges *ranges_new(uint64_t open_ns, struct scopes *scopes)
{
	struct ranges *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->open_ns = open_ns;
	r->stop_ns = UINT64_MAX;
	r->scopes = scopes;
	scopes->owner[SCOPE_PUSHED_RANGE] = scopes->owner[SCOPE_STARTED_RANGE] =
		(struct scope_owner){ leave, r };
	return r;
}

void ranges_free(struct ranges *r)
{
	if (!r)
		return;
	rows_free(&r->rows);
	map_free(&r->started);
	free(r);
}

/* ---- works ---------------------------------------------------------------------------------- */

void ranges_work(struct ranges *r, const struct event *work, const struct launch *launch)
{
	r->stamp++;
	for (const struct scope *s = launch->scope; s; s = s->below) {
		struct range_row *row;

		r->unplaced += s->kind == SCOPE_FORGOTTEN;
		/* The launch may be of before this process's rows. */
		if (!is_range(s) || s->row >= r->rows.n)
			continue;
		row = row_at(r, s->row);
		if (row->stamp == r->stamp)
			continue;	/* inside another of its name */
		row->stamp = r->stamp;
		row->device_ns += work->end_ns - work->start_ns;
		row->launches += !launch->works;
	}
}

uint32_t ranges_innermost(const struct ranges *r, uint32_t tid, uint64_t ns)
{
	const struct scope *s = scopes_at(r->scopes, tid, ns);

	while (s && !is_range(s))
		s = s->below;
	return s ? s->row + 1 : 0;
}

uint64_t ranges_unplaced(const struct ranges *r)
{
	return r->unplaced;
}

/* ---- reading -------------------------------------------------------------------------------- */

void ranges_stop(struct ranges *r, uint64_t end_ns)
{
	r->stop_ns = num_max(end_ns, r->open_ns);
}

size_t ranges_count(const struct ranges *r)
{
	return r->rows.n;
}

void ranges_read(const struct ranges *r, size_t i, uint64_t now_ns, struct range_sum *out)
{
	const struct range_row *row = row_at(r, i);
	uint64_t now = num_min(now_ns, r->stop_ns), host = row->host_open * now - row->host_starts;

	*out = (struct range_sum){
		.domain = row->domain, .name = row->name, .kind = (uint8_t)row->key.kind,
		.before = row->key.before, .count = row->count, .open = row->open,
		.left = row->left, .wall_ns = wall_of(r, row, now), .host_ns = row->host_ns,
		.device_ns = row->device_ns, .launches = row->launches };
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
		row->left += sum.open + sum.left;
		row->wall_ns += sum.wall_ns;
		row->host_ns += sum.host_ns;
		row->device_ns += sum.device_ns;
		row->launches += sum.launches;
	}
	return 0;
}

size_t ranges_bytes(const struct ranges *r)
{
	size_t slots = r->scopes->by_tid.cap + r->started.cap, parts = 0;

	for (size_t i = 0; i < r->rows.n; i++)
		parts += row_at(r, i)->parts.cap * sizeof(struct interval);
	return sizeof(*r) + parts + slots * sizeof(struct map_slot) +
	       r->scopes->stacks.cap * sizeof(struct scope_stack) + rows_bytes(&r->rows);
}

static bool is_same_text(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static bool is_same(const struct range_sum *a, const struct range_sum *b)
{
	return a->kind == b->kind && a->before == b->before && is_same_text(a->domain, b->domain) &&
	       is_same_text(a->name, b->name);
}

/* Rows stay where they are, but those of an ended process. */
static struct range_sum *find_later(struct range_sum *rows, size_t n, size_t at,
				    const struct range_sum *earlier)
{
	if (at < n && is_same(&rows[at], earlier))
		return &rows[at];
	for (size_t i = 0; i < n; i++)
		if (is_same(&rows[i], earlier))
			return &rows[i];
	return NULL;
}

void range_sums_subtract(struct range_sum *from, size_t n, const struct range_sum *earlier,
			 size_t n_earlier)
{
	for (size_t i = 0; i < n_earlier; i++) {
		const struct range_sum *less = &earlier[i];
		struct range_sum *s = find_later(from, n, i, less);

		if (!s)
			continue;
		s->count = num_sub(s->count, less->count);
		s->left = num_sub(s->left, less->left);
		s->wall_ns = num_sub(s->wall_ns, less->wall_ns);
		s->host_ns = num_sub(s->host_ns, less->host_ns);
		s->device_ns = num_sub(s->device_ns, less->device_ns);
		s->launches = num_sub(s->launches, less->launches);
	}
}
