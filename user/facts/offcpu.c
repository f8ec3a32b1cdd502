// SPDX-License-Identifier: BSD-3-Clause
/* One table of rows; a text is its hash in the key and copied once for the row. */
#include "facts/offcpu.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"

#define TEXT_MAX 63	/* no real one is longer */

_Static_assert(sizeof(struct offcpu_key) == 56, "no padding");

static void more_key(void *key)
{
	struct offcpu_key *k = key;

	*k = (struct offcpu_key){ .process = k->process, .pid = k->pid, .tid = k->tid,
				  .reason = k->reason, .more = 1 };
}

static void release_row(void *row)
{
	free(((struct offcpu_row *)row)->what);
	free(((struct offcpu_row *)row)->waker);
}

static int copy_text(char **to, const char *text)
{
	*to = text ? strndup(text, TEXT_MAX) : NULL;
	return text && !*to ? -ENOMEM : 0;
}

static int own_row(void *row)
{
	struct offcpu_row *r = row;
	int err = copy_text(&r->what, r->what);

	return copy_text(&r->waker, r->waker) || err ? -ENOMEM : 0;
}

static const struct rows_type type = {
	ROWS_OF(struct offcpu_row), .max = OFFCPU_MAX, .other = more_key, .own = own_row,
	.release = release_row,
};

/* A thread that was ready all the time waited in nothing and was woken by nothing. */
static struct offcpu_row *find_row(struct offcpu *o, const struct event *ev)
{
	struct offcpu_key key = { .process = ev->process, .pid = ev->pid, .tid = ev->tid,
				  .reason = ev->off.reason };
	const bool was_ready = ev->off.reason == OFF_RUNQUEUE;
	struct offcpu_row *row;
	bool is_new;

	if (!was_ready) {
		key.waker_id = ev->off.waker;
		key.stack = ev->off.stack;
		key.waker = event_text_hash(ev->off.waker_name);
		key.what = event_text_hash(ev->off.syscall);
	}
	row = rows_get(&o->rows, &type, &key, &is_new);
	if (row && row->key.more)
		o->more++;
	else if (row && is_new && !was_ready &&
		 (copy_text(&row->waker, ev->off.waker_name) ||
		  copy_text(&row->what, ev->off.syscall)))
		return NULL;
	return row;
}

int offcpu_add(struct offcpu *o, const struct event *ev, uint64_t from_ns)
{
	uint64_t start = num_min(num_max(ev->start_ns, from_ns), ev->end_ns);
	uint64_t woken = num_max(ev->end_ns - ev->off.woken_ns, start);
	struct offcpu_row *row;

	if (ev->off.reason == OFF_NO_END) {
		o->no_end++;
		o->no_end_ns += ev->end_ns - start;
		return 0;
	}
	row = find_row(o, ev);
	if (!row)
		return -ENOMEM;
	if (ev->off.reason == OFF_RUNQUEUE)
		woken = start;
	*(ev->has & HAS_END ? &row->count : &row->open) += 1;
	row->blocked_ns += woken - start;
	row->runqueue_ns += ev->end_ns - woken;
	row->max_ns = num_max(row->max_ns, ev->end_ns - start);
	return 0;
}
