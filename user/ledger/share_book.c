// SPDX-License-Identifier: BSD-3-Clause
/*
 * A sweep over time up to the horizon of the slowest member. Each member's spans wait in a queue
 * of its own; between two changes one owner has all of the time. A sweep cannot go back: time
 * before a book that had begun is a book of its own with the same members, until it is settled.
 */
#include "ledger/share_book.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/vec.h"

struct member {
	VEC(struct share_span) spans;	/* those before `first` are over */
	size_t first;
	uint64_t horizon_ns;
	struct share_member sums;
};

struct change {
	uint64_t at_ns, until_ns;	/* unknown later */
	bool present;
};

struct share_book {
	struct share_book *before;	/* up to where it opened; NULL: all of that is settled */
	bool is_cut;
	uint64_t cursor;		/* settled up to here */
	VEC(struct member) members;
	VEC(struct change) others;	/* in order; the first of several has come to pass */
	size_t past;			/* this many have, at least */
	uint64_t others_ns;		/* known up to here; UINT64_MAX: not sampled */
	struct share_sum sum;
	uint64_t late_ns;
};

struct share_book *share_book_new(uint64_t open_ns)
{
	struct share_book *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	b->cursor = b->sum.open_ns = open_ns;
	b->others_ns = UINT64_MAX;
	return b;
}

void share_book_free(struct share_book *b)
{
	if (!b)
		return;
	for (size_t i = 0; i < b->members.n; i++)
		VEC_FREE(&b->members.v[i].spans);
	VEC_FREE(&b->members);
	VEC_FREE(&b->others);
	share_book_free(b->before);
	free(b);
}

static int copy_member(struct share_book *to, const struct member *from)
{
	struct member *m = VEC_PUSH(&to->members);
	size_t n = from->spans.n - from->first;

	if (!m)
		return -ENOMEM;
	*m = (struct member){ .horizon_ns = from->horizon_ns, .sums = from->sums };
	if (!n)
		return 0;
	m->spans.v = malloc(n * sizeof(*m->spans.v));
	if (!m->spans.v)
		return -ENOMEM;
	memcpy(m->spans.v, from->spans.v + from->first, n * sizeof(*m->spans.v));
	m->spans.n = m->spans.cap = n;
	return 0;
}

struct share_book *share_book_copy(const struct share_book *b)
{
	struct share_book *to = share_book_new(b->sum.open_ns);
	int err = to ? 0 : -ENOMEM;

	if (to) {
		to->cursor = b->cursor;
		to->sum = b->sum;
		to->late_ns = b->late_ns;
		to->others_ns = b->others_ns;
		to->is_cut = b->is_cut;
		to->before = b->before ? share_book_copy(b->before) : NULL;
		err = b->before && !to->before ? -ENOMEM : 0;
	}
	for (size_t i = 0; !err && i < b->members.n; i++)
		err = copy_member(to, &b->members.v[i]);
	for (size_t i = 0; !err && i < b->others.n; i++)
		err = share_book_others(to, b->others.v[i].at_ns, b->others.v[i].present,
					b->others.v[i].until_ns);
	if (!err)
		return to;
	share_book_free(to);
	errno = -err;
	return NULL;
}

/* A member has joined that settled up to horizon_ns. */
static int join_at(struct share_book *b, uint64_t horizon_ns)
{
	struct member *m = VEC_PUSH(&b->members);

	if (!m)
		return -ENOMEM;
	m->horizon_ns = horizon_ns;
	return (int)b->members.n - 1;
}

int share_book_join(struct share_book *b)
{
	int member = b->before ? share_book_join(b->before) : 0;

	if (member < 0)
		return member;
	member = join_at(b, b->cursor);
	if (member < 0 && b->before)
		share_book_leave(b->before, b->members.n);
	return member;
}

/* Its members so far opened when it did, or later: they do nothing there. */
static struct share_book *new_before(const struct share_book *b, uint64_t open_ns)
{
	struct share_book *before = share_book_new(open_ns);
	int err = before ? 0 : -ENOMEM;

	for (size_t i = 0; i < b->members.n && err >= 0; i++)
		err = join_at(before, b->sum.open_ns);
	if (err >= 0)
		return before;
	share_book_free(before);
	return NULL;
}

int share_book_open(struct share_book *b, uint64_t open_ns)
{
	if (b->is_cut || open_ns >= b->sum.open_ns)
		return 0;
	if (b->before)
		return share_book_open(b->before, open_ns);
	if (b->cursor == b->sum.open_ns) {
		b->cursor = b->sum.open_ns = open_ns;
		return 0;
	}
	b->before = new_before(b, open_ns);
	return b->before ? 0 : -ENOMEM;
}

void share_book_leave(struct share_book *b, size_t member)
{
	if (b->before)
		share_book_leave(b->before, member);
	VEC_FREE(&b->members.v[member].spans);
	b->members.n--;
	memmove(&b->members.v[member], &b->members.v[member + 1],
		(b->members.n - member) * sizeof(*b->members.v));
}

bool share_book_is_over(const struct share_book *b, size_t member)
{
	const struct member *m = &b->members.v[member];

	if (b->before && !share_book_is_over(b->before, member))
		return false;
	return m->first == m->spans.n || m->spans.v[m->spans.n - 1].end_ns <= b->cursor;
}

static void add_sums(struct share_member *to, const struct share_member *from)
{
	to->owned_ns += from->owned_ns;
	to->waited_ns += from->waited_ns;
}

void share_book_leave_to(struct share_book *b, size_t member, size_t successor)
{
	if (b->before)
		add_sums(&b->before->members.v[successor].sums, &b->before->members.v[member].sums);
	add_sums(&b->members.v[successor].sums, &b->members.v[member].sums);
	share_book_leave(b, member);
}

/* The part before it, when that is settled. */
static void take_before(struct share_book *b)
{
	struct share_book *before = b->before;

	if (before->before || before->cursor < b->sum.open_ns)
		return;
	b->before = NULL;
	b->sum.open_ns = before->sum.open_ns;
	b->sum.shared_ns += before->sum.shared_ns;
	b->sum.unknown_ns += before->sum.unknown_ns;
	b->sum.unwatched_ns += before->sum.unwatched_ns;
	b->sum.idle_ns += before->sum.idle_ns;
	b->late_ns += before->late_ns;
	for (size_t i = 0; i < b->members.n; i++)
		add_sums(&b->members.v[i].sums, &before->members.v[i].sums);
	share_book_free(before);
}

void share_book_cut(struct share_book *b)
{
	if (b->before) {
		share_book_settle_all(b->before, b->sum.open_ns);
		take_before(b);
	}
	b->is_cut = true;
	b->sum = (struct share_sum){ .open_ns = b->cursor };
	for (size_t i = 0; i < b->members.n; i++)
		b->members.v[i].sums = (struct share_member){ 0 };
}

/* ---- the sweep ------------------------------------------------------------------------------ */

/* The member's state at the cursor, or NULL; *until: when that may change. */
static const struct share_span *now_of(struct member *m, uint64_t cursor, uint64_t *until)
{
	const struct share_span *s;

	while (m->first < m->spans.n && m->spans.v[m->first].end_ns <= cursor)
		m->first++;
	if (m->first == m->spans.n) {
		m->first = m->spans.n = 0;
		return NULL;
	}
	s = &m->spans.v[m->first];
	*until = num_min(*until, s->start_ns > cursor ? s->start_ns : s->end_ns);
	return s->start_ns > cursor ? NULL : s;
}

/* Are others on the device at the cursor? *until: when that may change. */
static bool others_at(struct share_book *b, uint64_t *until)
{
	const struct change *last;

	while (b->past < b->others.n && b->others.v[b->past].at_ns <= b->cursor)
		b->past++;
	if (b->past < b->others.n)
		*until = num_min(*until, b->others.v[b->past].at_ns);
	last = b->past ? &b->others.v[b->past - 1] : NULL;
	if (!last || !last->present || b->cursor >= last->until_ns)
		return false;
	*until = num_min(*until, last->until_ns);
	return true;
}

/* From the cursor to where anything changes, at most to the horizon. */
static void step(struct share_book *b, uint64_t horizon)
{
	uint64_t until = horizon, ns;
	size_t running = 0, waiting = 0, unseen = 0;
	struct member *owner = NULL;
	bool unwatched;

	for (size_t i = 0; i < b->members.n; i++) {
		const struct share_span *s = now_of(&b->members.v[i], b->cursor, &until);

		if (s && s->state == SHARE_RUNS) {
			owner = &b->members.v[i];
			running++;
		}
		waiting += s && s->state == SHARE_WAITS;
		unseen += s && s->state == SHARE_UNSEEN;
	}
	unwatched = !running && !unseen && others_at(b, &until);
	ns = until - b->cursor;
	*(running > 1 ? &b->sum.shared_ns : running ? &owner->sums.owned_ns :
	  unseen ? &b->sum.unknown_ns : unwatched ? &b->sum.unwatched_ns : &b->sum.idle_ns) += ns;
	for (size_t i = 0; running && waiting && i < b->members.n; i++) {
		const struct share_span *s = now_of(&b->members.v[i], b->cursor, &until);

		if (s && s->state == SHARE_WAITS)
			b->members.v[i].sums.waited_ns += ns;
	}
	b->cursor = until;
}

static void forget_changes(struct share_book *b)
{
	size_t past = 0;

	while (past + 1 < b->others.n && b->others.v[past + 1].at_ns <= b->cursor)
		past++;
	b->past -= num_min(b->past, past);
	VEC_DROP_FIRST(&b->others, past);
}

static void sweep_to(struct share_book *b, uint64_t horizon)
{
	while (b->cursor < horizon)
		step(b, horizon);
	forget_changes(b);
}

static void sweep(struct share_book *b)
{
	uint64_t horizon = b->others_ns;

	for (size_t i = 0; i < b->members.n; i++)
		horizon = num_min(horizon, b->members.v[i].horizon_ns);
	if (horizon != UINT64_MAX)	/* else no member is waited for */
		sweep_to(b, horizon);
}

/* ---- input ---------------------------------------------------------------------------------- */

/* The same state goes on where the last span ended. */
static bool extend_last(struct member *m, const struct share_span *s)
{
	struct share_span *last;

	if (m->first == m->spans.n)
		return false;
	last = &m->spans.v[m->spans.n - 1];
	if (last->state != s->state || last->end_ns != s->start_ns)
		return false;
	last->end_ns = s->end_ns;
	return true;
}

/* The queue is an array that begins anew where half of it is over. */
static void forget_past(struct member *m)
{
	if (m->first < 32 || m->first < m->spans.n / 2)
		return;
	VEC_DROP_FIRST(&m->spans, m->first);
	m->first = 0;
}

int share_book_add(struct share_book *b, size_t member, const struct share_span *span)
{
	struct member *m = &b->members.v[member];
	struct share_span s = *span, *slot;

	if (b->before && s.start_ns < b->sum.open_ns) {
		const struct share_span part = { s.start_ns, num_min(s.end_ns, b->sum.open_ns),
						 s.state };
		int err = share_book_add(b->before, member, &part);

		if (err)
			return err;
	}
	if (s.start_ns < b->cursor) {
		uint64_t until = num_max(num_min(s.end_ns, b->cursor), s.start_ns);

		b->late_ns += until - num_max(s.start_ns, num_min(b->sum.open_ns, until));
		s.start_ns = b->cursor;
	}
	if (s.start_ns >= s.end_ns || extend_last(m, &s))
		return 0;
	if (m->spans.n - m->first >= SHARE_WAITING_MAX)
		share_book_settle_all(b, m->spans.v[m->spans.n - 1].start_ns);
	forget_past(m);
	slot = VEC_PUSH(&m->spans);
	if (!slot)
		return -ENOMEM;
	*slot = s;
	return 0;
}

int share_book_others(struct share_book *b, uint64_t at_ns, bool present, uint64_t until_ns)
{
	struct change *last = b->others.n ? &b->others.v[b->others.n - 1] : NULL;

	if (last ? last->present == present && (!present || at_ns <= last->until_ns) : !present) {
		if (last)
			last->until_ns = num_max(last->until_ns, until_ns);
		return 0;
	}
	if (last)
		at_ns = num_max(at_ns, last->at_ns);
	last = VEC_PUSH(&b->others);
	if (!last)
		return -ENOMEM;
	*last = (struct change){ at_ns, until_ns, present };
	return 0;
}

void share_book_settle(struct share_book *b, size_t member, uint64_t horizon_ns)
{
	struct member *m = &b->members.v[member];

	if (b->before) {
		share_book_settle(b->before, member, num_min(horizon_ns, b->sum.open_ns));
		take_before(b);
	}
	if (horizon_ns <= m->horizon_ns)
		return;
	m->horizon_ns = horizon_ns;
	sweep(b);
}

void share_book_settle_others(struct share_book *b, uint64_t horizon_ns)
{
	b->others_ns = horizon_ns;
	sweep(b);
}

void share_book_settle_all(struct share_book *b, uint64_t horizon_ns)
{
	if (b->before) {
		share_book_settle_all(b->before, num_min(horizon_ns, b->sum.open_ns));
		take_before(b);
	}
	for (size_t i = 0; i < b->members.n; i++)
		b->members.v[i].horizon_ns = num_max(b->members.v[i].horizon_ns, horizon_ns);
	sweep_to(b, horizon_ns);
}

/* ---- reading -------------------------------------------------------------------------------- */

void share_book_sum(const struct share_book *b, struct share_sum *sum)
{
	*sum = b->sum;
	sum->close_ns = b->cursor;
}

size_t share_book_members(const struct share_book *b)
{
	return b->members.n;
}

size_t share_book_waiting(const struct share_book *b)
{
	size_t n = 0;

	for (size_t i = 0; i < b->members.n; i++)
		n += b->members.v[i].spans.n - b->members.v[i].first;
	return n;
}

struct share_member share_book_member(const struct share_book *b, size_t member)
{
	return b->members.v[member].sums;
}

uint64_t share_book_late_ns(const struct share_book *b)
{
	return b->late_ns + (b->before ? share_book_late_ns(b->before) : 0);
}
