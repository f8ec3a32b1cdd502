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

	return exit_ns ? num_max(exit_ns, device_book_last(m->book)) : UINT64_MAX;
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
	struct host_device *new = calloc(1, sizeof(*new)), **at;

	if (!new)
		return NULL;
	snprintf(new->uuid, sizeof(new->uuid), "%s", uuid);
	new->book = share_book_new(open_ns);
	at = new->book ? VEC_PUSH(&h->all) : NULL;
	if (!at) {
		host_free(new);
		return NULL;
	}
	*at = new;
	return new;
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
	return 0;
}

static void forget_host(struct host_devices *h, const struct host_device *host)
{
	size_t kept = 0;

	for (size_t i = 0; i < h->all.n; i++)
		if (h->all.v[i] != host)
			h->all.v[kept++] = h->all.v[i];
	h->all.n = kept;
}

static void forget_member(struct host_devices *h, struct host_member *s)
{
	struct host_device *host = s->host;

	for (size_t i = s->number; i + 1 < host->members.n; i++) {
		host->members.v[i] = host->members.v[i + 1];
		host->members.v[i]->number = i;
	}
	host->members.n--;
	s->host = NULL;
	if (host->members.n)
		return;
	h->late_ns = num_add(h->late_ns, share_book_late_ns(host->book));
	forget_host(h, host);
	host_free(host);
}

void host_devices_leave(struct host_devices *h, struct host_member *s)
{
	if (!s->host)
		return;
	share_book_leave(s->host->book, s->number);
	forget_member(h, s);
}

void host_devices_leave_to(struct host_devices *h, struct host_member *s,
			   const struct host_member *successor)
{
	share_book_leave_to(s->host->book, s->number, successor->number);
	forget_member(h, s);
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
	share_book_settle_others(h->book, wait && any ? d->last_ns : UINT64_MAX);
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
};

static int report(const struct reporter *t, uint64_t start_ns, uint64_t end_ns,
		  enum share_state state)
{
	const struct share_span span = { start_ns, end_ns, (uint8_t)state };

	return start_ns < end_ns ? share_book_add(t->book, t->member, &span) : 0;
}

static int report_gap(struct reporter *t, const struct device_gap *gap, uint64_t queued_ns,
		    const struct unseen *unseen)
{
	int err = report(t, t->reported_ns, gap->start_ns, SHARE_RUNS);
	uint64_t at = num_max(gap->start_ns, t->reported_ns);
	struct interval hit;

	t->reported_ns = gap->end_ns;
	for (; !err && unseen_next(unseen, at, gap->end_ns, &hit); at = hit.end)
		err = report(t, hit.start, hit.end, SHARE_UNSEEN);
	return err ? err :
		     report(t, num_max(at, gap->end_ns - queued_ns), gap->end_ns, SHARE_WAITS);
}

static const struct unseen *unseen_by(const struct devices_divide *by, uint32_t process)
{
	return by && by->unseen ? by->unseen(by->ctx, process) : NULL;
}

static struct reporter reporter_of(const struct host_member *s)
{
	return (struct reporter){ s->host->book, s->number, s->reported_ns };
}

int host_device_gap(struct host_member *s, const struct device_gap *gap, uint64_t queued_ns,
		    const struct devices_divide *by)
{
	struct reporter t = reporter_of(s);
	int err = report_gap(&t, gap, queued_ns, unseen_by(by, s->process));

	s->reported_ns = t.reported_ns;
	return err;
}

int host_device_idle(struct host_member *s, uint64_t until_ns, const struct devices_divide *by)
{
	const struct reporter t = reporter_of(s);
	uint64_t at = s->reported_ns;
	struct interval hit;
	int err = 0;

	for (; !err && unseen_next(unseen_by(by, s->process), at, until_ns, &hit); at = hit.end)
		err = report(&t, hit.start, hit.end, SHARE_UNSEEN);
	s->reported_ns = num_max(s->reported_ns, until_ns);
	return err;
}

int host_device_settled(struct host_member *s)
{
	const struct reporter t = reporter_of(s);
	uint64_t until = device_book_idle_since(s->book);
	int err = report(&t, s->reported_ns, until, SHARE_RUNS);

	if (until > s->reported_ns)
		s->reported_ns = until;
	/* How long what ends a gap was queued is known when the gap ends. */
	share_book_settle(s->host->book, s->number, until);
	return err;
}

/* A work that ends a gap may have run for all of it: a collective whose peer hangs, for example.
 * A waiting process delays all that share the device, and those that exit are not folded
 * meanwhile. */
static uint64_t host_horizon(const struct host_device *h, uint64_t horizon_ns,
			     const struct devices_divide *by)
{
	bool waits = by && by->waits && h->members.n <= AWAITED_MEMBERS &&
		     share_book_waiting(h->book) < AWAITED_SPANS;

	for (size_t i = 0; waits && i < h->members.n; i++) {
		const struct host_member *s = h->members.v[i];

		if (s->book && host_member_end(s, by) == UINT64_MAX)
			horizon_ns = num_min(horizon_ns, device_book_idle_since(s->book));
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
			err = host_device_idle(s, num_min(horizon_ns, device_book_settled(s->book)),
					       by);
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
		r->err = report_gap(&r->to, gap, ns[IDLE_QUEUED], unseen_by(r->by, r->process));
}

static int read_member(struct share_book *book, const struct host_member *s, uint64_t now_ns,
		       const struct devices_divide *by)
{
	struct reading r = { { book, s->number, s->reported_ns }, by, s->process, 0 };
	struct device_sum sum;
	int err = device_book_read(s->book, num_min(now_ns, host_member_end(s, by)), &sum, on_gap,
				   &r);

	err = err ? err : r.err;
	return err ? err : report(&r.to, r.to.reported_ns, sum.close_ns, SHARE_RUNS);
}

struct share_book *host_device_read(const struct host_device *h, uint64_t now_ns,
				    const struct devices_divide *by)
{
	struct share_book *copy = share_book_copy(h->book);
	int err = 0;

	if (!copy)
		return NULL;
	for (size_t i = 0; i < h->members.n && !err; i++)
		err = !h->members.v[i]->book ? 0 : read_member(copy, h->members.v[i], now_ns, by);
	if (!err) {
		share_book_settle_all(copy, now_ns);
		return copy;
	}
	share_book_free(copy);
	errno = -err;
	return NULL;
}
