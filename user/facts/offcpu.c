// SPDX-License-Identifier: BSD-3-Clause
/* One table of rows; a text is its hash in the key and copied once for the row. */
#include "facts/offcpu.h"

#include <errno.h>
#include <string.h>

#include "base/num.h"

#define TEXT_MAX 63	/* no real one is longer */

_Static_assert(sizeof(struct offcpu_key) == 56, "no padding");

static void more_key(void *key)
{
	struct offcpu_key *k = key;

	*k = (struct offcpu_key){ .process = k->process, .pid = k->pid, .reason = k->reason,
				  .more = 1 };
}

static int add_longest(void *to, const void *from)
{
	struct offcpu_row *row = to;

	row->max_ns = num_max(row->max_ns, ((const struct offcpu_row *)from)->max_ns);
	return 0;
}

static void bound_longest(void *from, const void *earlier)
{
	struct offcpu_row *row = from;

	if (row->max_ns <= ((const struct offcpu_row *)earlier)->max_ns)
		row->max_ns = num_min(row->max_ns, row->blocked_ns + row->runqueue_ns);
}

static int copy_text(char **to, const char *text)
{
	*to = text ? strndup(text, TEXT_MAX) : NULL;
	return text && !*to ? -ENOMEM : 0;
}

static const struct rows_type type = {
	ROWS_OF(struct offcpu_row), ROWS_SUMS(struct offcpu_row, count, runqueue_ns),
	ROWS_TEXTS(struct offcpu_row, what, waker), .drops_empty = true, .max = OFFCPU_MAX,
	.other = more_key, .add = add_longest, .subtract = bound_longest,
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

int offcpu_copy_stackless(struct offcpu *to, const struct offcpu *from)
{
	to->more = from->more;
	to->no_end = from->no_end;
	to->no_end_ns = from->no_end_ns;
	for (size_t i = 0; i < from->rows.n; i++) {
		const struct offcpu_row *row = from->rows.v[i];
		struct offcpu_key key = row->key;
		struct offcpu_row *at;
		bool is_new;

		key.stack = 0;
		at = rows_get(&to->rows, &type, &key, &is_new);
		if (!at || rows_add(&type, at, row) ||
		    (is_new && !at->key.more &&
		     (copy_text(&at->waker, row->waker) || copy_text(&at->what, row->what))))
			return -ENOMEM;
	}
	return 0;
}

static bool is_of_another(void *process, void *row)
{
	return ((const struct offcpu_row *)row)->key.process != *(const uint32_t *)process;
}

int offcpu_fold(struct offcpu *o, uint32_t process, uint32_t into)
{
	for (size_t i = 0, n = o->rows.n; i < n; i++) {
		const struct offcpu_row *row = o->rows.v[i];
		const struct offcpu_key key = { .process = into, .pid = into,
						.reason = row->key.reason, .more = 1 };
		void *to;

		if (row->key.process != process)
			continue;
		to = rows_get(&o->rows, &type, &key, NULL);
		if (!to)
			return -ENOMEM;
		rows_add(&type, to, row);
	}
	rows_keep(&o->rows, is_of_another, &process);
	return 0;
}
