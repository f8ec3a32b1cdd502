// SPDX-License-Identifier: BSD-3-Clause
/* See the header. What one process needs is helper_process.c's. */
#include "source/helper/helpers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/map.h"
#include "base/num.h"
#include "base/time.h"
#include "base/vec.h"
#include "source/helper/helper_process.h"
#include "host/proc.h"

#define END_NS 500000000ull
#define END_LOOK_US 2000
#define SEEK_MAX 512		/* descriptors looked at in a pump, of all processes */

struct helpers {
	uint32_t wants;			/* GP_RING_WANT_*, beside kinds and calls */
	struct api_rows *rows;		/* NULL: calls are not told */
	VEC(struct helper_process *) all;	/* that live, as far as is known */
	struct map by_pid;		/* of these, the newest -> struct helper_process */
	VEC(struct helpers_status) ended;	/* those that had a helper */
	struct map told;		/* pids of whose helpers any record came */
	struct helpers_totals totals;	/* of those that ended */
	size_t seek_at;			/* whose turn it is */
};

struct helpers *helpers_new(enum helpers_calls calls)
{
	struct helpers *h = calloc(1, sizeof(*h));

	if (!h)
		return NULL;
	h->wants = GP_RING_WANT_NODES;
	if (calls != HELPERS_WORKS_ONLY)
		h->rows = api_rows_new();
	if (h->rows && calls == HELPERS_TELL_UNPROBED)
		api_rows_probed(h->rows);
	if (h->rows || calls == HELPERS_WORKS_ONLY)
		return h;
	free(h);
	return NULL;
}

void helpers_leave_out(struct helpers *h, unsigned int row)
{
	api_rows_leave_out(h->rows, row);
}

void helpers_want(struct helpers *h, uint32_t wants)
{
	h->wants = wants;
}

void helpers_free(struct helpers *h)
{
	if (!h)
		return;
	for (size_t i = 0; i < h->all.n; i++)
		helper_process_free(h->all.v[i]);
	VEC_FREE(&h->all);
	VEC_FREE(&h->ended);
	map_free(&h->by_pid);
	map_free(&h->told);
	api_rows_free(h->rows);
	free(h);
}

/* One of which it is known that it has ended is no more: its number may be another's. */
static struct helper_process *known(const struct helpers *h, pid_t pid)
{
	const struct map_slot *slot = map_find(&h->by_pid, (uint64_t)pid);
	struct helper_process *p = slot ? (void *)(uintptr_t)slot->value : NULL;

	return p && !helper_process_is_gone(p) ? p : NULL;
}

bool helpers_know(const struct helpers *h, pid_t pid)
{
	return known(h, pid) != NULL;
}

static int add(struct helpers *h, const struct helpers_process *who)
{
	struct helper_process *p = helper_process_new(who, h->rows, h->wants);
	struct helper_process **at = p ? VEC_PUSH(&h->all) : NULL;
	struct map_slot *slot = at ? map_put(&h->by_pid, (uint64_t)who->pid, NULL) : NULL;

	if (!slot) {
		h->all.n -= at != NULL;
		helper_process_free(p);
		return -ENOMEM;
	}
	*at = p;
	slot->value = (uintptr_t)p;
	return 0;
}

/* It is there only because its parent has not asked for its status. A leader that has ended may have
 * threads that go on. */
static bool is_zombie(pid_t pid)
{
	struct proc_stat stat;

	return proc_stat_of(pid, &stat) && strchr("ZX", stat.state) && stat.threads <= 1;
}

int helpers_add(struct helpers *h, const struct helpers_process *who)
{
	struct helper_process *p = known(h, who->pid);

	if (!p)
		return is_zombie(who->pid) ? 0 : add(h, who);
	helper_process_meet(p, who);
	return 0;
}

int helpers_tell_thread(struct helpers *h, pid_t pid, uint32_t tid, uint32_t own_tid)
{
	struct helper_process *p = known(h, pid);

	if (!p)
		return 0;
	helper_process_hurry(p);
	return helper_process_tell_thread(p, tid, own_tid);
}

void helpers_look_again(struct helpers *h, pid_t pid)
{
	struct helper_process *p = known(h, pid);

	if (p)
		helper_process_look_again(p);
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

	helper_process_status(p, &st);
	if (!st.head.tag)
		return 0;
	sum_up(&h->totals, &st);
	if (st.counts.received && !map_put(&h->told, (uint64_t)st.pid, NULL))
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

static int drop_ended(struct helpers *h)
{
	size_t kept = 0;
	int err = 0;

	for (size_t i = 0; i < h->all.n; i++) {
		struct helper_process *p = h->all.v[i];
		uint64_t pid = (uint64_t)helper_process_who(p)->pid;
		const struct map_slot *slot = map_find(&h->by_pid, pid);

		if (err || !helper_process_has_ended(p)) {
			h->all.v[kept++] = p;
			continue;
		}
		err = remember(h, p);
		if (slot && slot->value == (uintptr_t)p)
			map_del(&h->by_pid, pid);
		helper_process_free(p);
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
	int err = 0;

	while (!err && left && idle < h->all.n) {
		struct helper_process *p = h->all.v[h->seek_at++ % h->all.n];

		if (!helper_process_is_sought(p, now_ns)) {
			idle++;
			continue;
		}
		idle = 0;
		err = helper_process_seek(p, now_ns, &left, sink);
	}
	return err;
}

static int pump(struct helpers *h, struct helper_process *p, uint64_t now_ns,
		const struct event_sink *sink)
{
	struct helpers_process now_who;
	int err = helper_process_follow(p, now_ns, sink, &now_who);

	if (!err && now_who.pid)
		err = add(h, &now_who);
	return err ? err : helper_process_pump(p, now_ns, sink);
}

int helpers_pump(struct helpers *h, uint64_t now_ns, const struct event_sink *sink)
{
	int err = seek(h, now_ns, sink);

	for (size_t i = 0; i < h->all.n && !err; i++)
		err = pump(h, h->all.v[i], now_ns, sink);
	return err ? err : drop_ended(h);
}

static bool any_awaited(const struct helpers *h, uint64_t ns)
{
	for (size_t i = 0; i < h->all.n; i++)
		if (helper_process_is_awaited(h->all.v[i], ns))
			return true;
	return false;
}

int helpers_end(struct helpers *h, uint64_t now_ns, const struct event_sink *sink)
{
	int err = helpers_pump(h, now_ns, sink);

	for (size_t i = 0; i < h->all.n; i++)
		if (helper_process_is_awaited(h->all.v[i], now_ns))
			helper_process_wake(h->all.v[i]);
	while (!err && any_awaited(h, now_ns) && time_now_ns() < now_ns + END_NS) {
		usleep(END_LOOK_US);
		err = helpers_pump(h, time_now_ns(), sink);
	}
	for (size_t i = 0; i < h->all.n && !err; i++)
		err = helper_process_end(h->all.v[i], now_ns, sink);
	return err;
}

/* ---- what is said of them ------------------------------------------------------------------- */

uint64_t helpers_told_ns(const struct helpers *h, uint64_t now_ns)
{
	uint64_t told_ns = now_ns;

	for (size_t i = 0; i < h->all.n; i++)
		told_ns = num_min(told_ns, helper_process_told_ns(h->all.v[i]));
	return num_max(told_ns, now_ns > HELPERS_LATE_NS ? now_ns - HELPERS_LATE_NS : 0);
}

bool helpers_find(const struct helpers *h, pid_t pid, struct helpers_status *out)
{
	const struct map_slot *slot = map_find(&h->by_pid, (uint64_t)pid);
	size_t i = h->ended.n;

	if (slot)
		helper_process_status((void *)(uintptr_t)slot->value, out);
	while (!slot && i > 0 && h->ended.v[i - 1].pid != pid)
		i--;
	if (!slot && i)
		*out = h->ended.v[i - 1];
	return slot || i;
}

bool helpers_has_told(const struct helpers *h, pid_t pid)
{
	const struct helper_process *p = known(h, pid);
	struct helpers_status st = { 0 };

	if (p)
		helper_process_status(p, &st);
	return st.counts.received || map_find(&h->told, (uint64_t)pid);
}

void helpers_totals(const struct helpers *h, struct helpers_totals *out)
{
	struct helpers_status st;

	*out = h->totals;
	for (size_t i = 0; i < h->all.n; i++) {
		helper_process_status(h->all.v[i], &st);
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
		helper_process_status(h->all.v[i - h->ended.n], out);
}
