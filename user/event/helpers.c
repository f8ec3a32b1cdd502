// SPDX-License-Identifier: BSD-3-Clause
/* See the header. What one process needs is helper_process.c's. */
#include "event/helpers.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/num.h"
#include "base/time.h"
#include "base/vec.h"
#include "event/helper_process.h"

#define END_NS 500000000ull
#define END_LOOK_US 2000

struct helpers {
	bool whole_graphs;
	struct api_rows *rows;		/* NULL: calls are not told */
	VEC(struct helper_process *) all;
};

struct helpers *helpers_new(enum helpers_calls calls)
{
	struct helpers *h = calloc(1, sizeof(*h));

	if (!h)
		return NULL;
	if (calls == HELPERS_TELL_CALLS)
		h->rows = api_rows_new();
	if (h->rows || calls != HELPERS_TELL_CALLS)
		return h;
	free(h);
	return NULL;
}

void helpers_whole_graphs(struct helpers *h)
{
	h->whole_graphs = true;
}

void helpers_free(struct helpers *h)
{
	if (!h)
		return;
	for (size_t i = 0; i < h->all.n; i++)
		helper_process_free(h->all.v[i]);
	VEC_FREE(&h->all);
	api_rows_free(h->rows);
	free(h);
}

static struct helper_process *known(const struct helpers *h, pid_t pid)
{
	for (size_t i = 0; i < h->all.n; i++)
		if (helper_process_who(h->all.v[i])->pid == pid && !helper_process_has_ended(h->all.v[i]))
			return h->all.v[i];
	return NULL;
}

bool helpers_know(const struct helpers *h, pid_t pid)
{
	return known(h, pid) != NULL;
}

int helpers_add(struct helpers *h, const struct helpers_process *who)
{
	struct helper_process *p = known(h, who->pid), **at;

	if (p) {
		helper_process_find_soon(p);
		return 0;
	}
	p = helper_process_new(who, h->rows, h->whole_graphs);
	at = p ? VEC_PUSH(&h->all) : NULL;
	if (!at) {
		helper_process_free(p);
		return -ENOMEM;
	}
	*at = p;
	return 0;
}

int helpers_tell_thread(struct helpers *h, pid_t pid, uint32_t tid, uint32_t own_tid)
{
	struct helper_process *p = known(h, pid);

	return p ? helper_process_tell_thread(p, tid, own_tid) : 0;
}

void helpers_look_again(struct helpers *h, pid_t pid)
{
	struct helper_process *p = known(h, pid);

	if (p)
		helper_process_look_again(p);
}

/* ---- reading -------------------------------------------------------------------------------- */

static int pump(struct helpers *h, struct helper_process *p, uint64_t now_ns,
		const struct event_sink *sink)
{
	bool is_another;
	int err = helper_process_follow(p, now_ns, sink, &is_another);

	if (!err && is_another)
		err = helpers_add(h, helper_process_who(p));
	return err ? err : helper_process_pump(p, now_ns, sink);
}

int helpers_pump(struct helpers *h, uint64_t now_ns, const struct event_sink *sink)
{
	int err = 0;

	for (size_t i = 0; i < h->all.n && !err; i++)
		err = pump(h, h->all.v[i], now_ns, sink);
	return err;
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
	for (size_t i = 0; i < h->all.n; i++)
		now_ns = num_min(now_ns, helper_process_told_ns(h->all.v[i]));
	return now_ns;
}

size_t helpers_count(const struct helpers *h)
{
	return h->all.n;
}

void helpers_status(const struct helpers *h, size_t i, struct helpers_status *out)
{
	helper_process_status(h->all.v[i], out);
}
