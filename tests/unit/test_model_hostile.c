// SPDX-License-Identifier: BSD-3-Clause
/*
 * The model under streams that contradict themselves: books balance and counts agree all the
 * same. TEST_SEED repeats a run.
 */
#include <stdlib.h>

#include "event/schema.h"
#include "lib/random.h"
#include "lib/test.h"
#include "unit/model_room.h"
#include "view_of.h"
#include "snap_of.h"

/* Each member may be anything. */
static void draw_payload(struct event *ev)
{
	static const char *const texts[] = { NULL, "", "a", "call", "something longer than a comm" };
	const struct event_schema *s = event_schema(ev->kind);

	for (uint32_t i = 0; s && i < s->n; i++) {
		const struct event_field *f = &s->fields[i];
		uint64_t v = below(2) ? below(9) : below(2) ? UINT64_MAX : below(100);

		if (f->coding == FIELD_TEXT)
			*(const char **)event_field_at(ev, f) = texts[below(5)];
		else if (f->coding == FIELD_NUMBER || f->coding == FIELD_SIGNED)
			memcpy(event_field_at(ev, f), &v, f->size);
	}
}

static struct event draw_event(uint64_t now)
{
	struct event ev = {
		.kind = (uint8_t)below(EVENT_KIND_END + 2), .has = (uint8_t)below(128),
		.func = (uint16_t)below(5),
		.pid = (uint32_t)below(3), .tid = (uint32_t)below(4), .seq = (uint32_t)below(12),
		.start_ns = now + below(100 * NS_PER_MS), .end_ns = now + below(100 * NS_PER_MS),
	};

	if (below(3))
		ev.kind = EVENT_CALL + (uint8_t)below(2);
	if (ev.kind == EVENT_STOP && below(9))
		ev.kind = EVENT_EXIT;
	if (!below(50))
		ev.end_ns = UINT64_MAX - below(3);
	if (!below(50))
		ev.start_ns = below(3);
	draw_payload(&ev);
	return ev;
}

static void assert_books_balance(const struct model *m, uint64_t now)
{
	const struct snapshot *snap = snap_at(m, now);

	for (size_t i = 0; i < snap->threads.n; i++) {
		const struct snapshot_thread t = snap->threads.v[i];
		uint64_t sum = 0;

		for (int b = 0; b < BUCKET_END; b++)
			sum += t.book.ns[b];
		assert_int_equal(sum, t.book.close_ns - t.book.open_ns);
		for (int c = 0; c < CLASS_END; c++)
			assert_true(t.book.blocked_ns[c] <= t.book.ns[c]);
	}
}

/* calls: that came and are of the session; one that returned after its end is open. */
static void assert_counts_agree(const struct model *m, uint64_t calls)
{
	bool has_ended = snap_of(m)->session.stop_ns;

	for (int by = CALLS_BY_FUNCTION; by <= CALLS_BY_RESULT; by++) {
		struct table *t = view_by(&view_calls, m, 0, (enum calls_by)by);
		uint64_t sum = 0;

		assert_non_null(t);
		for (size_t i = 0; i < t->n_rows; i++)
			sum += table_cells(t, i)[table_column(t, "count")].u;
		assert_true(has_ended ? sum <= calls : sum == calls);
		table_free(t);
	}
}
/* In statistics, of all processes. */
static uint64_t calls_counted(const struct model *m)
{
	uint64_t n = 0;

	for (size_t i = 0; i < model_processes(m); i++)
		for (size_t k = 0; k < call_stats_count(&model_process(m, i)->calls); k++)
			n += call_stats_at(&model_process(m, i)->calls, k)->count;
	return n;
}

TEST(test_hostile_streams)
{
	for (int round = 0; round < random_rounds(400); round++) {
		struct model *m = round % 3 ? session(NS_PER_SEC) : model_new(&funcs);
		struct model_counts c;
		uint64_t got = 0;	/* wraps as the table's counts do */
		bool cuts = round % 2;

		for (int i = 0; i < 300; i++) {
			uint64_t now = NS_PER_SEC + (uint64_t)i * 10 * NS_PER_MS;

			struct event ev = draw_event(now);

			/* One that CUPTI records may be one that was seen. */
			if (ev.kind == EVENT_CUPTI_CALL)
				got -= calls_counted(m);
			push(m, ev);
			if (ev.kind == EVENT_CUPTI_CALL)
				got += calls_counted(m);
			if (cuts && !below(40))
				snap_cut(m, now);
		}
		assert_books_balance(m, snap_of(m)->now_ns);
		model_counts(m, &c);
		if (!cuts)
			assert_counts_agree(m, c.received[EVENT_CALL] - c.invalid[EVENT_CALL] -
					    c.late[EVENT_CALL] + got);
		table_free(view_now(&view_threads, m));
		table_free(view_now(&view_events, m));
		snap_end(m);
	}
}

TEST_GROUP(random_seed, NULL);
