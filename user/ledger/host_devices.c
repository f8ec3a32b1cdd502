// SPDX-License-Identifier: BSD-3-Clause
/*
 * A process's book returns gaps; between two of them the process ran. A reading is done on a
 * copy, into which each member's own reading goes.
 */
#include "ledger/host_devices.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/time.h"

struct gap {
	uint64_t ns, idle_ns;		/* of it the device was idle */
};

struct member {
	VEC(struct share_span) spans;	/* those before `first` are over */
	size_t first;
	uint64_t horizon_ns;
	struct share_member sums;
	bool has_run;
	struct gap before, now;		/* before its first run; since its last one */
};

struct change {
	uint64_t at_ns, until_ns;	/* unknown later */
	bool present;
};

struct share_book {
	struct share_book *before;	/* up to where it opened; NULL: all of that is settled */
	uint64_t cursor;		/* settled up to here */
	VEC(struct member) members;
	VEC(struct change) others;	/* in order; the first of several has come to pass */
	size_t past;			/* this many have, at least */
	uint64_t others_ns;		/* known up to here; UINT64_MAX: not sampled */
	struct share_sum sum;
	uint64_t late_ns;
};

/* NULL + errno */
static struct share_book *share_book_new(uint64_t open_ns)
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

/* NULL + errno */
static struct share_book *share_book_copy(const struct share_book *b)
{
	struct share_book *to = malloc(sizeof(*to));
	bool ok;

	if (!to)
		return NULL;
	*to = *b;
	to->before = b->before ? share_book_copy(b->before) : NULL;
	ok = !b->before || to->before;
	ok = VEC_COPY(&to->others, &b->others) && ok;
	ok = VEC_COPY(&to->members, &b->members) && ok;
	for (size_t i = 0; i < to->members.n; i++)
		ok = VEC_COPY(&to->members.v[i].spans, &b->members.v[i].spans) && ok;
	if (ok)
		return to;
	share_book_free(to);
	errno = ENOMEM;
	return NULL;
}

/* The member is gone with its owned time, and its number is the next one's. */
static void share_book_leave(struct share_book *b, size_t member)
{
	if (b->before)
		share_book_leave(b->before, member);
	VEC_FREE(&b->members.v[member].spans);
	b->members.n--;
	memmove(&b->members.v[member], &b->members.v[member + 1],
		(b->members.n - member) * sizeof(*b->members.v));
}

/* A member has joined that settled up to horizon_ns. */
static int join_at(struct share_book *b, uint64_t horizon_ns)
{
	struct member *m = VEC_PUSH(&b->members);

	if (!m)
		return -ENOMEM;
	m->horizon_ns = horizon_ns;
	m->before = (struct gap){ b->cursor - b->sum.open_ns, b->sum.idle_ns };
	return (int)b->members.n - 1;
}

/* the new member's number: 0, 1, ...; or -ENOMEM */
static int share_book_join(struct share_book *b)
{
	int member = b->before ? share_book_join(b->before) : 0;

	if (member < 0)
		return member;
	member = join_at(b, b->cursor);
	if (member < 0 && b->before)
		share_book_leave(b->before, b->members.n);
	return member;
}

/* A member to come opened before it did: so does it, too. 0 or -ENOMEM. */
static int share_book_open(struct share_book *b, uint64_t open_ns)
{
	if (open_ns >= b->sum.open_ns)
		return 0;
	if (b->before)
		return share_book_open(b->before, open_ns);
	if (b->cursor == b->sum.open_ns) {
		b->cursor = b->sum.open_ns = open_ns;
		return 0;
	}
	b->before = share_book_new(open_ns);
	/* Its members so far opened when it did, or later: they do nothing there. */
	for (size_t i = 0; b->before && i < b->members.n; i++)
		if (join_at(b->before, b->sum.open_ns) < 0) {
			share_book_free(b->before);
			b->before = NULL;
		}
	return b->before ? 0 : -ENOMEM;
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
	to->gaps_ns += from->gaps_ns;
	to->gaps_idle_ns += from->gaps_idle_ns;
}

static void add_gap(struct gap *to, const struct gap *more)
{
	to->ns += more->ns;
	to->idle_ns += more->idle_ns;
}

/* The member runs: what came since its last run is a gap of it. */
static void end_gap(struct member *m)
{
	m->sums.gaps_ns += m->now.ns;
	m->sums.gaps_idle_ns += m->now.idle_ns;
	m->now = (struct gap){ 0 };
	m->has_run = true;
}

static void take_member(struct member *m, const struct member *earlier)
{
	struct gap between = earlier->now;

	add_sums(&m->sums, &earlier->sums);
	if (!earlier->has_run) {
		add_gap(&m->before, &earlier->before);
		return;
	}
	add_gap(&between, &m->before);
	m->before = earlier->before;
	if (m->has_run) {
		m->sums.gaps_ns += between.ns;
		m->sums.gaps_idle_ns += between.idle_ns;
	} else {
		m->now = between;
		m->has_run = true;
	}
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
		take_member(&b->members.v[i], &before->members.v[i]);
	share_book_free(before);
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
	size_t running = 0, unseen = 0;
	struct member *owner = NULL;
	bool unwatched;

	for (size_t i = 0; i < b->members.n; i++) {
		const struct share_span *s = now_of(&b->members.v[i], b->cursor, &until);

		if (s && s->state == SHARE_RUNS) {
			owner = &b->members.v[i];
			running++;
		}
		unseen += s && s->state == SHARE_UNSEEN;
	}
	unwatched = !running && !unseen && others_at(b, &until);
	ns = until - b->cursor;
	*(running > 1 ? &b->sum.shared_ns : running ? &owner->sums.owned_ns :
	  unseen ? &b->sum.unknown_ns : unwatched ? &b->sum.unwatched_ns : &b->sum.idle_ns) += ns;
	for (size_t i = 0; i < b->members.n; i++) {
		struct member *m = &b->members.v[i];
		const struct share_span *s = now_of(m, b->cursor, &until);
		struct gap part = { ns, running || unseen || unwatched ? 0 : ns };

		if (s && s->state == SHARE_RUNS)
			end_gap(m);
		else if (!s || s->state != SHARE_UNSEEN)
			add_gap(m->has_run ? &m->now : &m->before, &part);
		if (running && s && s->state == SHARE_WAITS)
			m->sums.waited_ns += ns;
	}
	b->cursor = until;
}

static void sweep_to(struct share_book *b, uint64_t horizon)
{
	size_t past = 0;

	while (b->cursor < horizon)
		step(b, horizon);
	while (past + 1 < b->others.n && b->others.v[past + 1].at_ns <= b->cursor)
		past++;
	b->past -= num_min(b->past, past);
	VEC_DROP_FIRST(&b->others, past);
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

/* All that the member did before horizon_ns has been added; UINT64_MAX: it is not waited for. */
static void share_book_settle(struct share_book *b, size_t member, uint64_t horizon_ns)
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

/* of every member */
static void share_book_settle_all(struct share_book *b, uint64_t horizon_ns)
{
	if (b->before) {
		share_book_settle_all(b->before, num_min(horizon_ns, b->sum.open_ns));
		take_before(b);
	}
	for (size_t i = 0; i < b->members.n; i++)
		b->members.v[i].horizon_ns = num_max(b->members.v[i].horizon_ns, horizon_ns);
	sweep_to(b, horizon_ns);
}

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

/* In order of time, and apart from each other. Time settled already is clipped and counted as
 * late. 0 or -ENOMEM. */
static int share_book_add(struct share_book *b, size_t member, const struct share_span *span)
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
	if (m->first >= 32 && m->first >= m->spans.n / 2) {
		VEC_DROP_FIRST(&m->spans, m->first);
		m->first = 0;
	}
	slot = VEC_PUSH(&m->spans);
	if (!slot)
		return -ENOMEM;
	*slot = s;
	return 0;
}

/* From at_ns on others are on the device, or are not; in order of time. They are until no sample
 * confirms it any more (until_ns). 0 or -ENOMEM. */
static int share_book_others(struct share_book *b, uint64_t at_ns, bool present, uint64_t until_ns)
{
	struct change *last;

	if (!b->others.n && !present)
		return 0;
	if (b->others.n) {
		last = &b->others.v[b->others.n - 1];
		if (last->present == present && (!present || at_ns <= last->until_ns)) {
			last->until_ns = num_max(last->until_ns, until_ns);
			return 0;
		}
		at_ns = num_max(at_ns, last->at_ns);
	}
	last = VEC_PUSH(&b->others);
	if (!last)
		return -ENOMEM;
	*last = (struct change){ at_ns, until_ns, present };
	return 0;
}

/* ---- reading -------------------------------------------------------------------------------- */

void share_book_sum(const struct share_book *b, struct share_sum *sum)
{
	*sum = b->sum;
	sum->close_ns = b->cursor;
}

struct share_member share_book_member(const struct share_book *b, size_t member)
{
	return b->members.v[member].sums;
}

static uint64_t share_book_late_ns(const struct share_book *b)
{
	return b->late_ns + (b->before ? share_book_late_ns(b->before) : 0);
}

/* ---- the host's devices -------------------------------------------------------------------- */

/* Members of a device with more, or with as many waiting spans, are not waited for. */
#define AWAITED_MEMBERS 8
#define AWAITED_SPANS 16384
#define TRUSTED_NS (2 * NS_PER_SEC)	/* a sample is for so long, if no other comes */

static void host_free(struct host_device *h)
{
	share_book_free(h->book);
	VEC_FREE(&h->members);
	free(h);
}

void host_devices_free(struct host_devices *h)
{
	for (size_t i = 0; i < h->all.n; i++)
		host_free(h->all.v[i]);
	VEC_FREE(&h->all);
}

uint64_t host_member_end(const struct host_member *m, const struct devices_divide *by)
{
	uint64_t exit_ns = by && by->exit_ns ? by->exit_ns(by->ctx, m->process) : 0;

	return exit_ns ? num_max(exit_ns, device_book_progress(m->book).last_ns) : UINT64_MAX;
}

static struct host_device *find(const struct host_devices *h, const char *uuid)
{
	for (size_t i = 0; *uuid && i < h->all.n; i++)
		if (!strcmp(h->all.v[i]->uuid, uuid))
			return h->all.v[i];
	return NULL;
}

static struct host_device *make(struct host_devices *h, const char *uuid, uint64_t open_ns)
{
	struct host_device *new = VEC_NEW(&h->all);

	if (!new)
		return NULL;
	snprintf(new->uuid, sizeof(new->uuid), "%s", uuid);
	new->book = share_book_new(open_ns);
	if (new->book)
		return new;
	h->all.n--;
	free(new);
	return NULL;
}

int host_devices_join(struct host_devices *h, struct host_member *s, const char *uuid,
		      uint64_t open_ns)
{
	struct host_device *host;
	struct host_member **at;
	int member;

	if (s->host) {
		/* Its activity while the device was unknown stays where it is. */
		if (uuid && !s->host->uuid[0] && !find(h, uuid))
			snprintf(s->host->uuid, sizeof(s->host->uuid), "%s", uuid);
		return 0;
	}
	host = find(h, uuid ? uuid : "");
	if (!host)
		host = make(h, uuid ? uuid : "", open_ns);
	at = host && !share_book_open(host->book, open_ns) ? VEC_PUSH(&host->members) : NULL;
	if (!at)
		return -ENOMEM;
	member = share_book_join(host->book);
	if (member < 0) {
		host->members.n--;
		return member;
	}
	*at = s;
	s->host = host;
	s->number = (size_t)member;
	s->reported_ns = open_ns;
	if (!s->book)	/* it will never do anything */
		share_book_settle(host->book, s->number, UINT64_MAX);
	return 0;
}

void host_devices_leave(struct host_devices *h, struct host_member *s,
			const struct host_member *successor)
{
	struct host_device *host = s->host;
	size_t kept = 0;

	if (!host)
		return;
	if (successor && successor->host == host)
		for (struct share_book *b = host->book; b; b = b->before)
			add_sums(&b->members.v[successor->number].sums,
				 &b->members.v[s->number].sums);
	share_book_leave(host->book, s->number);
	for (size_t i = s->number; i + 1 < host->members.n; i++) {
		host->members.v[i] = host->members.v[i + 1];
		host->members.v[i]->number = i;
	}
	host->members.n--;
	s->host = NULL;
	if (host->members.n)
		return;
	h->late_ns = num_add(h->late_ns, share_book_late_ns(host->book));
	for (size_t i = 0; i < h->all.n; i++)
		if (h->all.v[i] != host)
			h->all.v[kept++] = h->all.v[i];
	h->all.n = kept;
	host_free(host);
}

/* ---- who else is there ----------------------------------------------------------------------- */

static bool is_member(const struct host_device *h, uint32_t process)
{
	for (size_t i = 0; i < h->members.n; i++)
		if (h->members.v[i]->process == process)
			return true;
	return false;
}

static int apply_sample(struct host_device *h, const struct sampled_device *d, uint64_t from_ns,
			bool wait)
{
	bool any = d->has_users && d->nameless, stayed = any && d->nameless_before;
	bool ran = !d->has_busy || d->busy;
	int err;

	for (size_t i = 0; d->has_users && i < d->users.n; i++) {
		const struct sample_user *u = &d->users.v[i];

		if (u->seen_ns != d->last_ns || is_member(h, u->process))
			continue;
		any = true;
		stayed |= u->stayed;
	}
	err = share_book_others(h->book, from_ns, stayed && ran, num_add(d->last_ns, TRUSTED_NS));
	h->book->others_ns = wait && any ? d->last_ns : UINT64_MAX;
	sweep(h->book);
	return err;
}

int host_devices_sample(struct host_devices *h, const struct sampled_device *d, uint64_t from_ns,
			bool wait)
{
	int err = 0;

	for (size_t i = 0; i < h->all.n && !err; i++)
		if (sampled_device_is(d, h->all.v[i]->uuid))
			err = apply_sample(h->all.v[i], d, from_ns, wait);
	return err;
}

uint64_t host_devices_late_ns(const struct host_devices *h)
{
	uint64_t late_ns = h->late_ns;

	for (size_t i = 0; i < h->all.n; i++)
		late_ns = num_add(late_ns, share_book_late_ns(h->all.v[i]->book));
	return late_ns;
}

/* ---- spans of processes' books ------------------------------------------------------------- */

struct reporter {			/* a member, and the book that it reports to */
	struct share_book *book;
	size_t member;
	uint64_t reported_ns;		/* so far */
	const struct unseen *unseen;	/* of its process; NULL: nothing is */
};

static struct reporter reporter_of(const struct host_member *s, struct share_book *book,
				   const struct devices_divide *by)
{
	return (struct reporter){ book, s->number, s->reported_ns,
				  by && by->unseen ? by->unseen(by->ctx, s->process) : NULL };
}

static int report(const struct reporter *t, uint64_t start_ns, uint64_t end_ns,
		  enum share_state state)
{
	const struct share_span span = { start_ns, end_ns, (uint8_t)state };

	return start_ns < end_ns ? share_book_add(t->book, t->member, &span) : 0;
}

/* Nothing runs in [*at, until_ns). *at: where its last unseen part ends. */
static int report_unseen(const struct reporter *t, uint64_t *at, uint64_t until_ns)
{
	struct interval hit;
	int err = 0;

	for (; !err && unseen_next(t->unseen, *at, until_ns, &hit); *at = hit.end)
		err = report(t, hit.start, hit.end, SHARE_UNSEEN);
	return err;
}

static int report_gap(struct reporter *t, const struct device_gap *gap, uint64_t queued_ns)
{
	int err = report(t, t->reported_ns, gap->start_ns, SHARE_RUNS);
	uint64_t at = num_max(gap->start_ns, t->reported_ns);

	t->reported_ns = gap->end_ns;
	if (!err)
		err = report_unseen(t, &at, gap->end_ns);
	return err ? err :
		     report(t, num_max(at, gap->end_ns - queued_ns), gap->end_ns, SHARE_WAITS);
}

int host_device_gap(struct host_member *s, const struct device_gap *gap, uint64_t queued_ns,
		    const struct devices_divide *by)
{
	struct reporter t = reporter_of(s, s->host->book, by);
	int err = report_gap(&t, gap, queued_ns);

	s->reported_ns = t.reported_ns;
	return err;
}

/* Nothing ran since that was last reported: its unseen part up to until_ns is not left for the
 * gap's end. */
static int report_idle(struct host_member *s, uint64_t until_ns, const struct devices_divide *by)
{
	const struct reporter t = reporter_of(s, s->host->book, by);
	uint64_t at = s->reported_ns;

	s->reported_ns = num_max(s->reported_ns, until_ns);
	return report_unseen(&t, &at, until_ns);
}

int host_device_settled(struct host_member *s, const struct devices_divide *over)
{
	const struct reporter t = reporter_of(s, s->host->book, NULL);
	const struct device_progress own = device_book_progress(s->book);
	int err = report(&t, s->reported_ns, own.idle_since_ns, SHARE_RUNS);

	s->reported_ns = num_max(s->reported_ns, own.idle_since_ns);
	/* How long what ends a gap was queued is known when the gap ends. */
	share_book_settle(s->host->book, s->number, own.idle_since_ns);
	return err || !over ? err : report_idle(s, own.settled_ns, over);
}

/* A work that ends a gap may have run for all of it: a collective whose peer hangs, for example.
 * A waiting process delays all that share the device, and those that exit are not folded
 * meanwhile. */
static uint64_t host_horizon(const struct host_device *h, uint64_t horizon_ns,
			     const struct devices_divide *by)
{
	size_t spans = 0;

	if (!by || !by->waits || h->members.n > AWAITED_MEMBERS)
		return horizon_ns;
	for (size_t i = 0; i < h->book->members.n; i++)
		spans += h->book->members.v[i].spans.n - h->book->members.v[i].first;
	for (size_t i = 0; spans < AWAITED_SPANS && i < h->members.n; i++) {
		const struct host_member *s = h->members.v[i];

		if (s->book && host_member_end(s, by) == UINT64_MAX)
			horizon_ns = num_min(horizon_ns,
					     device_book_progress(s->book).idle_since_ns);
	}
	return horizon_ns;
}

/* Of gaps that have not ended, only unseen parts are reported so early. */
static int settle_host(struct host_device *h, uint64_t horizon_ns, const struct devices_divide *by)
{
	int err = 0;

	horizon_ns = host_horizon(h, horizon_ns, by);
	for (size_t i = 0; i < h->members.n && !err; i++) {
		struct host_member *s = h->members.v[i];

		if (s->book)
			err = report_idle(s, num_min(horizon_ns,
						     device_book_progress(s->book).settled_ns), by);
	}
	share_book_settle_all(h->book, horizon_ns);
	return err;
}

int host_devices_settle_all(struct host_devices *h, uint64_t horizon_ns,
			    const struct devices_divide *by)
{
	int err = 0;

	for (size_t i = 0; i < h->all.n && !err; i++)
		err = settle_host(h->all.v[i], horizon_ns, by);
	return err;
}

/* ---- reading -------------------------------------------------------------------------------- */

struct reading {
	struct reporter to;
	const struct devices_divide *by;
	uint32_t process;
	int err;
};

static void on_gap(void *ctx, const struct device_gap *gap)
{
	struct reading *r = ctx;
	uint64_t ns[IDLE_CAUSES] = { 0 };

	if (!r->err)
		r->err = r->by->divide(r->by->ctx, r->process, gap, ns, NULL);
	if (!r->err)
		r->err = report_gap(&r->to, gap, ns[IDLE_QUEUED]);
}

/* What its own book has beyond its reports goes into the copy. */
static int read_member(struct share_book *copy, const struct host_member *s, uint64_t now_ns,
		       const struct devices_divide *by)
{
	struct reading r = { reporter_of(s, copy, by), by, s->process, 0 };
	uint64_t until_ns, at = s->reported_ns;
	struct device_sum sum;
	int err;

	if (now_ns == DEVICE_BOOK_SETTLED) {
		until_ns = device_book_progress(s->book).read_until_ns;
		err = report_unseen(&r.to, &at, until_ns);
		share_book_settle(copy, s->number, until_ns);
		return err;
	}
	err = device_book_read_to(s->book, num_min(now_ns, host_member_end(s, by)), &sum,
				  &(struct device_sink){ on_gap, NULL, &r });
	err = err ? err : r.err;
	return err ? err : report(&r.to, r.to.reported_ns, sum.close_ns, SHARE_RUNS);
}

struct share_book *host_device_read(const struct host_device *h, uint64_t now_ns,
				    const struct devices_divide *by)
{
	struct share_book *copy = share_book_copy(h->book);
	int err = 0;

	for (size_t i = 0; copy && i < h->members.n && !err; i++)
		if (h->members.v[i]->book)
			err = read_member(copy, h->members.v[i], now_ns, by);
	if (err) {
		share_book_free(copy);
		errno = -err;
		return NULL;
	}
	if (copy && now_ns != DEVICE_BOOK_SETTLED)
		share_book_settle_all(copy, now_ns);
	return copy;
}
