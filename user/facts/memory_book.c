// SPDX-License-Identifier: BSD-3-Clause
/*
 * Pending calls and records are an array. Settling takes the part of it that no later event can
 * change, finds the call of each record in it, and applies the rest in the order of time to the
 * live allocations.
 */
#include "facts/memory_book.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/num.h"
#include "base/rows.h"
#include "base/vec.h"
#include "facts/memory_line.h"

#define LINE_SHIFT 12	/* of its first bins */
#define NEAR_STEPS 64	/* so far a call is looked for, of an address that comes again and again */

struct group {
	struct memory_sums sums;
	struct group *parent;		/* NULL: it is of a device and kind */
};

struct alloc {			/* one that lives */
	uint64_t bytes;		/* 0: not known either */
	uint64_t since_ns;
	struct group *group;
};

static const struct rows_type groups_type = {
	.row_size = sizeof(struct group), .align = _Alignof(struct group),
	.key_size = sizeof(struct memory_key),
};

_Static_assert(sizeof(struct memory_key) == 16 && offsetof(struct memory_sums, key) == 0, "a key");

struct memory_book {
	struct memory_room *room;
	VEC(struct memory_act) waiting;
	VEC(uint64_t) resets;		/* that wait as well, in their order */
	struct map live;		/* address -> index of struct alloc */
	VEC(struct alloc) allocs;
	VEC(uint64_t) unused;		/* indices of allocs */
	struct rows groups;		/* struct group */
	uint64_t settled_ns;
	uint64_t begin_ns;		/* counts and peaks are from then on */
	uint64_t live_bytes[MEMORY_KIND_END];	/* of all devices */
	struct memory_line *line;	/* of these; NULL: not wanted */
	bool has_begun;
	bool seen[2];			/* calls, records: the source has reported something */
	struct memory_counts counts;
};

/* ---- what lived when ------------------------------------------------------------------------- */

static struct memory_line *line_new(uint64_t start_ns)
{
	struct memory_line *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->start_ns = start_ns;
	l->shift = LINE_SHIFT;
	return l;
}

static void line_widen(struct memory_line *l)
{
	const size_t half = MEMORY_LINE_BINS / 2;

	for (size_t kind = 0; kind < MEMORY_KIND_END; kind++) {
		uint64_t *most = l->most[kind];

		for (size_t i = 0; i < half; i++)
			most[i] = num_max(most[2 * i], most[2 * i + 1]);
		memset(&most[half], 0, half * sizeof(*most));
	}
	l->last /= 2;
	l->shift++;
}

/* As it was, up to ns. */
static void line_go_on(struct memory_line *l, uint64_t ns)
{
	const uint64_t at = num_sub(ns, l->start_ns);
	size_t to, until;

	while (at >> l->shift >= MEMORY_LINE_BINS)
		line_widen(l);
	to = num_max(at >> l->shift, l->last);
	until = to + (at > (uint64_t)to << l->shift);
	for (size_t kind = 0; kind < MEMORY_KIND_END; kind++)
		for (size_t i = l->last + 1; i < until; i++)
			l->most[kind][i] = l->now[kind];
	l->last = to;
}

static void line_set(struct memory_line *l, uint64_t ns, const uint64_t bytes[MEMORY_KIND_END])
{
	line_go_on(l, ns);
	for (size_t kind = 0; kind < MEMORY_KIND_END; kind++) {
		l->now[kind] = bytes[kind];
		l->most[kind][l->last] = num_max(l->most[kind][l->last], bytes[kind]);
	}
}

struct memory_line *memory_book_line(const struct memory_book *b, uint64_t close_ns)
{
	struct memory_line *l = b->line ? malloc(sizeof(*l)) : NULL;

	errno = b->line ? ENOMEM : ENOENT;
	if (!l)
		return NULL;
	*l = *b->line;
	line_set(l, num_max(close_ns, l->start_ns + 1) - 1, l->now);
	return l;
}

struct memory_book *memory_book_new(struct memory_room *room, uint64_t begin_ns)
{
	struct memory_book *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	b->room = room;
	b->begin_ns = begin_ns;
	b->line = room->keeps_lines ? line_new(begin_ns) : NULL;
	if (!room->keeps_lines || b->line)
		return b;
	free(b);
	return NULL;
}

void memory_book_free(struct memory_book *b)
{
	if (!b)
		return;
	b->room->left += b->live.n;
	VEC_FREE(&b->waiting);
	VEC_FREE(&b->resets);
	VEC_FREE(&b->allocs);
	VEC_FREE(&b->unused);
	rows_free(&b->groups);
	map_free(&b->live);
	free(b->line);
	free(b);
}

/* ---- groups ---------------------------------------------------------------------------------- */

static struct group *find_group(struct memory_book *b, const struct memory_key *key,
				struct group *parent)
{
	struct group *g = rows_get(&b->groups, &groups_type, key, NULL);

	if (g)
		g->parent = parent;
	return g;
}

/* The group of the stack, whose parent is that of device and kind. NULL: out of memory. */
static struct group *group_of(struct memory_book *b, uint32_t device, uint8_t kind, uint64_t stack)
{
	struct memory_key key = { .device = device, .kind = kind };
	struct group *parent = find_group(b, &key, NULL);

	if (!parent || !stack || b->groups.n >= MEMORY_GROUPS_MAX)
		return parent;
	key.by_stack = 1;
	key.stack = stack;
	return find_group(b, &key, parent);
}

/* ---- calls and records ----------------------------------------------------------------------- */

/* Each source is in order, so a record is of the first call that fits if neither source misses
 * anything, however uncertain the clocks are; else of the nearest. */

/* When it took effect, as well as is known. */
static uint64_t moment_of(const struct memory_act *a)
{
	return a->op == MEMORY_ALLOC ? a->end_ns : a->start_ns;
}

static int by_moment(const void *a, const void *b)
{
	const struct memory_act *x = a, *y = b;
	int order = num_compare(moment_of(x), moment_of(y));

	return order ? order : num_compare(x->address, y->address);
}

static int by_address(const void *a, const void *b)
{
	const struct memory_act *x = a, *y = b;
	int order = num_compare(x->address, y->address);

	return order ? order : num_compare(moment_of(x), moment_of(y));
}

static bool is_same(const struct memory_act *call, const struct memory_act *record)
{
	return !call->is_record && call->op == record->op &&
	       record->start_ns + MEMORY_SLACK_NS >= call->start_ns &&
	       record->start_ns <= num_add(call->end_ns, MEMORY_SLACK_NS);
}

/* The record is more exact, but for the allocating call. */
static void merge(struct memory_act *call, struct memory_act *record)
{
	record->stack = record->stack ? record->stack : call->stack;
	if (!record->has_bytes && call->has_bytes) {
		record->bytes = call->bytes;
		record->has_bytes = true;
	}
	record->has_call = true;
	call->op = MEMORY_OP_END;
}

/* Of one address, in the order of time. Each source's own are in order, so the first call that fits
 * is the record's. */
static void pair_run(struct memory_act *run, size_t n)
{
	size_t from = 0;

	for (size_t i = 0; i < n; i++) {
		if (!run[i].is_record)
			continue;
		while (from < n && num_add(run[from].end_ns, 2 * MEMORY_SLACK_NS) < run[i].start_ns)
			from++;
		for (size_t k = from;
		     k < n && moment_of(&run[k]) <= num_add(run[i].start_ns,
							    num_add(run[k].end_ns - run[k].start_ns,
								    2 * MEMORY_SLACK_NS));
		     k++)
			if (run[k].op != MEMORY_OP_END && is_same(&run[k], &run[i])) {
				merge(&run[k], &run[i]);
				break;
			}
	}
}

/* Are there as many calls as records of each? Or none at all of either. */
static bool is_whole(const struct memory_act *run, size_t n)
{
	size_t calls[MEMORY_OP_END] = { 0 }, records[MEMORY_OP_END] = { 0 };

	for (size_t i = 0; i < n; i++)
		(run[i].is_record ? records : calls)[run[i].op]++;
	return calls[MEMORY_ALLOC] == records[MEMORY_ALLOC] &&
	       calls[MEMORY_FREE] == records[MEMORY_FREE];
}

static uint64_t apart(const struct memory_act *call, const struct memory_act *record)
{
	uint64_t at = record->start_ns;

	return at < call->start_ns ? call->start_ns - at :
	       at > call->end_ns   ? at - call->end_ns :
				     0;
}

/* Calls of one address do not overlap, so it is the next or the one before, of those that have
 * none. */
static struct memory_act *nearest(struct memory_act *run, size_t n, size_t at)
{
	struct memory_act *best = NULL;

	for (size_t k = at, steps = 0; k-- > 0 && !best && steps < NEAR_STEPS; steps++)
		best = is_same(&run[k], &run[at]) ? &run[k] : NULL;
	for (size_t k = at + 1; k < n && k - at <= NEAR_STEPS; k++) {
		if (!is_same(&run[k], &run[at]))
			continue;
		return best && apart(best, &run[at]) <= apart(&run[k], &run[at]) ? best : &run[k];
	}
	return best;
}

static void pair_nearest(struct memory_act *run, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct memory_act *call = run[i].is_record ? nearest(run, n, i) : NULL;

		if (call)
			merge(call, &run[i]);
	}
}

/* Drops calls that records report too, and sorts by moment. Returns how many are left. */
static size_t merge_sources(struct memory_act *acts, size_t n)
{
	size_t kept = 0, run;

	qsort(acts, n, sizeof(*acts), by_address);
	for (size_t i = 0; i < n; i += run) {
		for (run = 1; i + run < n && acts[i + run].address == acts[i].address; run++)
			;
		(is_whole(&acts[i], run) ? pair_run : pair_nearest)(&acts[i], run);
	}
	for (size_t i = 0; i < n; i++)
		if (acts[i].op != MEMORY_OP_END)
			acts[kept++] = acts[i];
	qsort(acts, kept, sizeof(*acts), by_moment);
	return kept;
}

/* ---- one after the other --------------------------------------------------------------------- */

/* An unknown kind may have any number. */
static uint64_t *live_of_kind(struct memory_book *b, uint8_t kind)
{
	return &b->live_bytes[kind < MEMORY_KIND_END ? kind : MEMORY_KIND_UNKNOWN];
}

static void release(struct memory_book *b, const struct alloc *a, bool count)
{
	*live_of_kind(b, a->group->sums.key.kind) -= a->bytes;
	for (struct group *g = a->group; g; g = g->parent) {
		g->sums.live_bytes -= a->bytes;
		g->sums.live--;
		g->sums.frees += count;
	}
}

static void forget(struct memory_book *b, uint64_t address, uint64_t index)
{
	uint64_t *slot = VEC_PUSH(&b->unused);

	if (slot)
		*slot = index;	/* else its place is not used again */
	map_del(&b->live, address);
	b->room->left++;
}

static struct alloc *take_place(struct memory_book *b, uint64_t address)
{
	struct map_slot *slot = map_put(&b->live, address, NULL);
	struct alloc *a = NULL;

	if (slot && b->unused.n) {
		slot->value = b->unused.v[--b->unused.n];
		a = &b->allocs.v[slot->value];
	} else if (slot) {
		a = VEC_PUSH(&b->allocs);
		slot->value = b->allocs.n - 1;
	}
	if (a)
		b->room->left--;
	else if (slot)
		map_del(&b->live, address);
	return a;
}

static int apply_alloc(struct memory_book *b, const struct memory_act *act)
{
	const struct map_slot *slot = map_find(&b->live, act->address);
	struct group *group = group_of(b, act->device, act->kind, act->stack);
	uint64_t bytes = act->has_bytes ? act->bytes : 0;
	struct alloc *a;
	bool tracked;

	if (!group)
		return -ENOMEM;
	if (slot) {
		uint64_t index = slot->value;

		b->counts.unseen_frees++;
		release(b, &b->allocs.v[index], false);
		forget(b, act->address, index);
	}
	tracked = b->room->left > 0;
	a = tracked ? take_place(b, act->address) : NULL;
	if (tracked && !a)
		return -ENOMEM;
	if (a)
		*a = (struct alloc){ bytes, act->end_ns, group };
	*live_of_kind(b, act->kind) += a ? bytes : 0;
	for (struct group *g = group; g; g = g->parent) {
		struct memory_sums *sums = &g->sums;

		sums->allocs += !act->again;
		sums->unsized += !act->has_bytes;
		sums->untracked += !tracked;
		sums->live_bytes += tracked ? bytes : 0;
		sums->live += tracked;
		sums->peak_bytes = num_max(sums->peak_bytes, sums->live_bytes);
	}
	return 0;
}

static int apply_free(struct memory_book *b, const struct memory_act *act)
{
	const struct map_slot *slot = map_find(&b->live, act->address);
	struct group *group;

	if (slot) {
		uint64_t index = slot->value;

		release(b, &b->allocs.v[index], true);
		forget(b, act->address, index);
		return 0;
	}
	group = group_of(b, act->device, act->kind, 0);
	if (group)
		group->sums.frees_before++;
	return group ? 0 : -ENOMEM;
}

static int apply(struct memory_book *b, const struct memory_act *act)
{
	const int err = (act->op == MEMORY_ALLOC ? apply_alloc : apply_free)(b, act);

	if (b->line)
		line_set(b->line, moment_of(act), b->live_bytes);
	return err;
}

/* ---- settling -------------------------------------------------------------------------------- */

/* No later than horizon, and where no call is cut in two: the record of one may lie behind. They
 * came nearly in order, so that from the last one on few readings are enough. */
static uint64_t find_cut(const struct memory_book *b, uint64_t horizon)
{
	uint64_t cut = horizon, before;

	do {
		before = cut;
		for (size_t i = b->waiting.n; i-- > 0;) {
			const struct memory_act *a = &b->waiting.v[i];

			if (a->start_ns < cut && num_add(a->end_ns, MEMORY_SLACK_NS) >= cut)
				cut = a->start_ns;
		}
	} while (cut != before);
	return cut;
}

/* Everything before until_ns is applied. Once the session's begin is passed counts start at 0, and
 * the peak at what lives. */
static void pass_begin(struct memory_book *b, uint64_t until_ns)
{
	if (b->has_begun || until_ns < b->begin_ns)
		return;
	b->has_begun = true;
	for (size_t i = 0; i < b->groups.n; i++) {
		struct memory_sums *s = &((struct group *)b->groups.v[i])->sums;

		s->peak_bytes = s->live_bytes;
		s->allocs = s->untracked;
		s->frees = s->frees_before = 0;
		s->leaked_bytes = s->leaked = s->unsized = 0;
	}
}

static void pass_resets(struct memory_book *b, uint64_t until_ns)
{
	size_t n = 0;

	for (; n < b->resets.n && b->resets.v[n] < until_ns; n++)
		b->counts.resets += b->live.n != 0;
	VEC_DROP_FIRST(&b->resets, n);
}

static int settle_before(struct memory_book *b, uint64_t cut)
{
	size_t n = 0, kept = 0;
	struct memory_act *acts;
	int err = 0;

	for (size_t i = 0; i < b->waiting.n; i++)
		n += b->waiting.v[i].start_ns < cut;
	if (!n)
		return 0;
	acts = malloc(n * sizeof(*acts));
	if (!acts)
		return -ENOMEM;
	n = 0;
	for (size_t i = 0; i < b->waiting.n; i++)
		if (b->waiting.v[i].start_ns < cut)
			acts[n++] = b->waiting.v[i];
		else
			b->waiting.v[kept++] = b->waiting.v[i];
	b->waiting.n = kept;
	n = merge_sources(acts, n);
	for (size_t i = 0; i < n; i++)
		b->counts.alone += acts[i].is_record && !acts[i].has_call && !acts[i].again;
	for (size_t i = 0; i < n && !err; i++) {
		pass_begin(b, moment_of(&acts[i]));
		pass_resets(b, moment_of(&acts[i]));
		err = apply(b, &acts[i]);
	}
	free(acts);
	b->settled_ns = num_max(b->settled_ns, cut);
	return err;
}

int memory_book_settle(struct memory_book *b, uint64_t horizon_ns)
{
	uint64_t cut = find_cut(b, horizon_ns);
	int err = settle_before(b, cut);

	pass_begin(b, cut);
	pass_resets(b, cut);
	return err;
}

int memory_book_reset(struct memory_book *b, uint64_t ns)
{
	uint64_t *slot = VEC_PUSH(&b->resets);

	if (slot)
		*slot = ns;
	return slot ? 0 : -ENOMEM;
}

/* If two sources report the process, the other one has reported this, and that is settled. */
static int push_late(struct memory_book *b, const struct memory_act *act)
{
	const struct map_slot *slot = map_find(&b->live, act->address);
	const struct alloc *a = slot ? &b->allocs.v[slot->value] : NULL;

	b->counts.late++;
	if (b->seen[!act->is_record])
		return 0;
	if (act->op == MEMORY_ALLOC)
		return a ? 0 : apply(b, act);
	return a && a->since_ns <= moment_of(act) ? apply(b, act) : 0;
}

/* The older half is settled, whatever may still come before. */
static int make_room(struct memory_book *b)
{
	uint64_t least = UINT64_MAX, most = 0;

	for (size_t i = 0; i < b->waiting.n; i++) {
		least = num_min(least, b->waiting.v[i].start_ns);
		most = num_max(most, b->waiting.v[i].end_ns);
	}
	return settle_before(b, least + (most - least) / 2 + 1);
}

int memory_book_push(struct memory_book *b, const struct memory_act *act)
{
	struct memory_act *slot;
	int err = 0;

	b->seen[act->is_record] = true;
	if (act->start_ns < b->settled_ns)
		return push_late(b, act);
	if (b->waiting.n >= MEMORY_WAITING_MAX)
		err = make_room(b);
	slot = err ? NULL : VEC_PUSH(&b->waiting);
	if (!slot)
		return err ? err : -ENOMEM;
	*slot = *act;
	return 0;
}

int memory_book_fail(struct memory_book *b, uint8_t kind, uint64_t stack)
{
	struct group *group = group_of(b, MEMORY_NO_DEVICE, kind, stack);

	for (struct group *g = group; g; g = g->parent)
		g->sums.failed++;
	return group ? 0 : -ENOMEM;
}

int memory_book_untracked(struct memory_book *b, uint8_t kind, uint64_t stack)
{
	struct group *group = group_of(b, MEMORY_NO_DEVICE, kind, stack);

	for (struct group *g = group; g; g = g->parent) {
		g->sums.allocs++;
		g->sums.untracked++;
	}
	return group ? 0 : -ENOMEM;
}

void memory_book_end(struct memory_book *b)
{
	for (size_t i = 0; i < b->live.cap; i++) {
		const struct map_slot *slot = &b->live.slot[i];
		const struct alloc *a = slot->used ? &b->allocs.v[slot->value] : NULL;

		for (struct group *g = a ? a->group : NULL; g; g = g->parent) {
			g->sums.leaked_bytes += a->bytes;
			g->sums.live_bytes -= a->bytes;
			g->sums.leaked++;
			g->sums.live--;
		}
	}
	memset(b->live_bytes, 0, sizeof(b->live_bytes));
	if (b->line)
		line_set(b->line, b->settled_ns, b->live_bytes);
	b->room->left += b->live.n;
	map_free(&b->live);
	b->unused.n = b->allocs.n = 0;
}

static void add_sums(struct memory_sums *to, const struct memory_sums *from)
{
	to->live_bytes = num_add(to->live_bytes, from->live_bytes);
	to->live += from->live;
	to->peak_bytes = num_add(to->peak_bytes, from->peak_bytes);
	to->allocs += from->allocs;
	to->frees += from->frees;
	to->failed += from->failed;
	to->leaked_bytes = num_add(to->leaked_bytes, from->leaked_bytes);
	to->leaked += from->leaked;
	to->frees_before += from->frees_before;
	to->unsized += from->unsized;
	to->untracked += from->untracked;
}

int memory_book_add(struct memory_book *b, const struct memory_sums *from)
{
	const struct memory_key *key = &from->key;
	struct group *group = group_of(b, key->device, key->kind, key->by_stack ? key->stack : 0);

	b->has_begun = true;	/* those counts are of their books' beginnings */
	/* If there are too many stacks, its parent has it already. */
	if (group && group->sums.key.by_stack == key->by_stack)
		add_sums(&group->sums, from);
	return group ? 0 : -ENOMEM;
}

void memory_book_trim(struct memory_book *b)
{
	VEC_TRIM(&b->waiting);
	VEC_TRIM(&b->unused);
	rows_trim(&b->groups);
}

size_t memory_book_bytes(const struct memory_book *b)
{
	return sizeof(*b) + b->waiting.cap * sizeof(b->waiting.v[0]) +
	       b->allocs.cap * sizeof(b->allocs.v[0]) + rows_bytes(&b->groups) +
	       b->live.cap * sizeof(struct map_slot);
}

/* ---- reading --------------------------------------------------------------------------------- */

size_t memory_book_rows(const struct memory_book *b)
{
	return b->groups.n;
}

const struct memory_sums *memory_book_row(const struct memory_book *b, size_t i)
{
	return b->groups.v[i];
}

static bool is_same_row(const struct memory_key *a, const struct memory_key *b)
{
	return a->stack == b->stack && a->device == b->device && a->kind == b->kind &&
	       a->by_stack == b->by_stack;
}

void memory_sums_subtract(struct memory_sums *from, size_t n, const struct memory_sums *earlier,
			  size_t n_earlier)
{
	for (size_t i = 0; i < n_earlier; i++) {
		const struct memory_sums *less = &earlier[i];
		size_t at = i;

		/* Rows stay where they are, but those of an ended process. */
		if (at >= n || !is_same_row(&from[at].key, &less->key))
			for (at = 0; at < n && !is_same_row(&from[at].key, &less->key);)
				at++;
		if (at == n)
			continue;
		if (from[at].peak_bytes <= less->peak_bytes)
			from[at].peak_bytes = num_max(from[at].live_bytes, less->live_bytes);
		from[at].allocs = num_sub(from[at].allocs, less->allocs);
		from[at].frees = num_sub(from[at].frees, less->frees);
		from[at].failed = num_sub(from[at].failed, less->failed);
		from[at].frees_before = num_sub(from[at].frees_before, less->frees_before);
		from[at].unsized = num_sub(from[at].unsized, less->unsized);
		from[at].untracked = num_sub(from[at].untracked, less->untracked);
	}
}

void memory_book_counts(const struct memory_book *b, struct memory_counts *out)
{
	*out = b->counts;
}
