// SPDX-License-Identifier: BSD-3-Clause
/*
 * What waits is an array. To settle is to take the part of it that nothing to come can change, to
 * find the call of each record in it, and to apply what is left in the order of time to the
 * allocations that live.
 */
#include "facts/memory_book.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/num.h"
#include "base/vec.h"
#include "facts/memory_pair.h"

#define NO_PARENT SIZE_MAX

struct group {
	struct memory_sums sums;
	size_t parent;			/* NO_PARENT: it is of a device and kind */
};

struct alloc {			/* one that lives */
	uint64_t bytes;		/* 0: not known either */
	uint64_t since_ns;
	size_t group;
};

struct memory_book {
	struct memory_room *room;
	VEC(struct memory_act) waiting;
	VEC(uint64_t) resets;		/* that wait as well, in their order */
	struct map live;		/* address -> index of struct alloc */
	VEC(struct alloc) allocs;
	VEC(uint64_t) unused;		/* indices of allocs */
	VEC(struct group) groups;
	struct map by_key;		/* hash -> index of groups; chains go on by adding 1 */
	uint64_t settled_ns;
	bool seen[2];			/* calls, records: the source has said something */
	struct memory_counts counts;
};

struct memory_book *memory_book_new(struct memory_room *room)
{
	struct memory_book *b = calloc(1, sizeof(*b));

	if (b)
		b->room = room;
	return b;
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
	VEC_FREE(&b->groups);
	map_free(&b->live);
	map_free(&b->by_key);
	free(b);
}

/* ---- groups ---------------------------------------------------------------------------------- */

static bool is_group(const struct group *g, const struct memory_sums *key)
{
	return g->sums.device == key->device && g->sums.kind == key->kind &&
	       g->sums.by_stack == key->by_stack && g->sums.stack == key->stack;
}

/* Found or made; NO_PARENT: no memory. */
static size_t find_group(struct memory_book *b, const struct memory_sums *key, size_t parent)
{
	uint64_t hash = map_hash(key->stack + key->by_stack) ^ (uint64_t)key->device << 8 ^ key->kind;
	struct map_slot *slot;
	struct group *g;

	for (; (slot = map_find(&b->by_key, hash)); hash++)
		if (is_group(&b->groups.v[slot->value], key))
			return slot->value;
	slot = map_put(&b->by_key, hash, NULL);
	g = slot ? VEC_PUSH(&b->groups) : NULL;
	if (!g) {
		if (slot)
			map_del(&b->by_key, hash);
		return NO_PARENT;
	}
	*g = (struct group){ *key, parent };
	slot->value = b->groups.n - 1;
	return slot->value;
}

/* The group of the stack, whose parent is that of device and kind. */
static size_t group_of(struct memory_book *b, uint32_t device, uint8_t kind, uint64_t stack)
{
	struct memory_sums key = { .device = device, .kind = kind };
	size_t parent = find_group(b, &key, NO_PARENT);

	if (parent == NO_PARENT || !stack || b->groups.n >= MEMORY_GROUPS_MAX)
		return parent;
	key.by_stack = true;
	key.stack = stack;
	return find_group(b, &key, parent);
}

/* The sums of a group, then of its parent, then NULL. */
static struct memory_sums *next_sums(struct memory_book *b, size_t *group)
{
	size_t at = *group;

	if (at == NO_PARENT)
		return NULL;
	*group = b->groups.v[at].parent;
	return &b->groups.v[at].sums;
}

/* ---- one after the other ---------------------------------------------------------------------- */

static void release(struct memory_book *b, const struct alloc *a, bool count)
{
	size_t group = a->group;
	struct memory_sums *sums;

	while ((sums = next_sums(b, &group))) {
		sums->live_bytes -= a->bytes;
		sums->live--;
		sums->frees += count;
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
	size_t group = group_of(b, act->device, act->kind, act->stack), at = group;
	uint64_t bytes = act->has_bytes ? act->bytes : 0;
	struct memory_sums *sums;
	struct alloc *a;
	bool tracked;

	if (group == NO_PARENT)
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
	while ((sums = next_sums(b, &at))) {
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
	struct memory_sums *sums;
	size_t at;

	if (slot) {
		uint64_t index = slot->value;

		release(b, &b->allocs.v[index], true);
		forget(b, act->address, index);
		return 0;
	}
	at = group_of(b, act->device, act->kind, 0);
	if (at == NO_PARENT)
		return -ENOMEM;
	while ((sums = next_sums(b, &at)))
		sums->frees_before++;
	return 0;
}

/* ---- settling --------------------------------------------------------------------------------- */

/* No later than horizon, and where no call is cut in two: the record of one may lie behind. They came
 * nearly in order, so that from the last one on few readings are enough. */
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

static void pass_resets(struct memory_book *b, uint64_t until_ns)
{
	size_t n = 0;

	for (; n < b->resets.n && b->resets.v[n] < until_ns; n++)
		b->counts.resets += b->live.n != 0;
	VEC_DROP_FIRST(&b->resets, n);
}

static int apply(struct memory_book *b, const struct memory_act *act)
{
	pass_resets(b, memory_moment(act));
	return act->op == MEMORY_ALLOC ? apply_alloc(b, act) : apply_free(b, act);
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
	n = memory_pair(acts, n);
	for (size_t i = 0; i < n; i++)
		b->counts.alone += acts[i].is_record && !acts[i].told && !acts[i].again;
	for (size_t i = 0; i < n && !err; i++)
		err = apply(b, &acts[i]);
	free(acts);
	b->settled_ns = num_max(b->settled_ns, cut);
	return err;
}

int memory_book_settle(struct memory_book *b, uint64_t horizon_ns)
{
	uint64_t cut = find_cut(b, horizon_ns);
	int err = settle_before(b, cut);

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

/* Where two sources tell of one process, the other has said it, and that is settled. */
static int push_late(struct memory_book *b, const struct memory_act *act)
{
	const struct map_slot *slot = map_find(&b->live, act->address);
	const struct alloc *a = slot ? &b->allocs.v[slot->value] : NULL;

	b->counts.late++;
	if (b->seen[!act->is_record])
		return 0;
	if (act->op == MEMORY_ALLOC)
		return a ? 0 : apply_alloc(b, act);
	return a && a->since_ns <= memory_moment(act) ? apply_free(b, act) : 0;
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
	size_t at = group_of(b, MEMORY_NO_DEVICE, kind, stack);
	struct memory_sums *sums;

	if (at == NO_PARENT)
		return -ENOMEM;
	while ((sums = next_sums(b, &at)))
		sums->failed++;
	return 0;
}

int memory_book_untracked(struct memory_book *b, uint8_t kind, uint64_t stack)
{
	size_t at = group_of(b, MEMORY_NO_DEVICE, kind, stack);
	struct memory_sums *sums;

	if (at == NO_PARENT)
		return -ENOMEM;
	while ((sums = next_sums(b, &at))) {
		sums->allocs++;
		sums->untracked++;
	}
	return 0;
}

void memory_book_end(struct memory_book *b)
{
	for (size_t i = 0; i < b->live.cap; i++) {
		const struct map_slot *slot = &b->live.slot[i];
		size_t group = slot->used ? b->allocs.v[slot->value].group : NO_PARENT;
		struct memory_sums *sums;

		while ((sums = next_sums(b, &group))) {
			sums->leaked_bytes += b->allocs.v[slot->value].bytes;
			sums->live_bytes -= b->allocs.v[slot->value].bytes;
			sums->leaked++;
			sums->live--;
		}
	}
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
	size_t at = group_of(b, from->device, from->kind, from->by_stack ? from->stack : 0);

	/* Where there are too many stacks, its parent has it already. */
	if (at != NO_PARENT && b->groups.v[at].sums.by_stack == from->by_stack)
		add_sums(&b->groups.v[at].sums, from);
	return at == NO_PARENT ? -ENOMEM : 0;
}

void memory_book_trim(struct memory_book *b)
{
	VEC_TRIM(&b->waiting);
	VEC_TRIM(&b->unused);
	VEC_TRIM(&b->groups);
}

size_t memory_book_bytes(const struct memory_book *b)
{
	return sizeof(*b) + b->waiting.cap * sizeof(b->waiting.v[0]) +
	       b->allocs.cap * sizeof(b->allocs.v[0]) + b->groups.cap * sizeof(b->groups.v[0]) +
	       (b->live.cap + b->by_key.cap) * sizeof(struct map_slot);
}

/* ---- reading ---------------------------------------------------------------------------------- */

void memory_book_cut(struct memory_book *b)
{
	for (size_t i = 0; i < b->groups.n; i++) {
		struct memory_sums *s = &b->groups.v[i].sums;

		s->peak_bytes = s->live_bytes;
		s->allocs = s->frees = s->failed = 0;
		s->frees_before = s->unsized = s->untracked = 0;
	}
}

size_t memory_book_rows(const struct memory_book *b)
{
	return b->groups.n;
}

const struct memory_sums *memory_book_row(const struct memory_book *b, size_t i)
{
	return &b->groups.v[i].sums;
}

void memory_book_counts(const struct memory_book *b, struct memory_counts *out)
{
	*out = b->counts;
}
