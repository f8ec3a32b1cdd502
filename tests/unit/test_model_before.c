// SPDX-License-Identifier: BSD-3-Clause
/*
 * A call that began before the session, in the tables and in captures: it is open, or it has
 * returned and how long it took is not known; a capture that begins while it lasts says so too.
 */

#include <string.h>

#include "capture/capture_state.h"
#include "view_of.h"
#include "model_each.h"

BEFORE_EACH
{
	restart(1000);
}

static struct event of_call(uint8_t kind, uint32_t seq, uint64_t end)
{
	return (struct event){ .kind = kind, .pid = 100, .tid = 101, .func = S, .seq = seq,
			       .start_ns = 1000, .end_ns = end };
}

static struct event inside(uint64_t end, bool watched)
{
	struct event ev = of_call(EVENT_INSIDE, 0, end);

	ev.has = watched ? HAS_END : 0;
	return ev;
}

static struct event left(uint32_t seq, uint64_t end, int32_t result)
{
	struct event ev = of_call(EVENT_LEFT, seq, end);

	ev.has = HAS_END | HAS_RESULT;
	ev.call.result = result;
	return ev;
}

/* The only row of the calls of `sync`, and what it must say; -1: unknown. */
static void assert_sync(int count, int errors, int open, int before)
{
	struct table *t = view_now(&view_calls, m);
	const struct { const char *name; int value; } cells[] = {
		{ "count", count }, { "errors", errors }, { "open", open },
		{ "begun_before", before }, { "total_ns", -1 }, { "max_ns", -1 },
	};

	assert_non_null(t);
	for (size_t row = 0; row < t->n_rows; row++) {
		const struct cell *c = table_cells(t, row);

		if (strcmp(c[table_column(t, "class")].s, "sync") != 0)
			continue;
		for (size_t i = 0; i < sizeof(cells) / sizeof(cells[0]); i++) {
			const struct cell *cell = &c[table_column(t, cells[i].name)];

			assert_int_equal(cell->known, cells[i].value >= 0);
			if (cell->known)
				assert_int_equal(cell->u, cells[i].value);
		}
		table_free(t);
		return;
	}
	fail_msg("there is no row of class sync");
}

static uint64_t ns_of(unsigned int bucket)
{
	struct snapshot_thread t;

	assert_int_equal(snap_of(m)->threads.n, 1);
	t = snap_at(m, snap_of(m)->now_ns)->threads.v[0];
	assert_true(t.has_book);
	return t.book.ns[bucket];
}

TEST(test_a_thread_that_hangs_is_in_its_call_from_the_start)
{
	struct event open = of_call(EVENT_OPEN, 0, 1100);

	push(m, inside(1010, true));
	push(m, (struct event){ .kind = EVENT_STOP, .end_ns = 1100 });
	push(m, open);
	assert_sync(0, -1, 1, 1);
	assert_int_equal(ns_of(CLASS_SYNC), 100);
}

TEST(test_its_return_has_a_result_and_no_duration)
{
	push(m, inside(1010, true));
	push(m, left(1, 1040, 700));
	push(m, (struct event){ .kind = EVENT_STOP, .end_ns = 1100 });
	assert_sync(0, 1, 0, 1);
	assert_int_equal(ns_of(CLASS_SYNC), 40);
	assert_int_equal(ns_of(CLASS_OTHER), 60);
}

TEST(test_an_end_that_was_not_seen_is_bounded)
{
	push(m, inside(1010, false));
	assert_sync(0, -1, 1, 1);
	push(m, of_call(EVENT_GONE, 0, 1030));
	assert_sync(0, -1, 0, 1);
	assert_int_equal(ns_of(CLASS_SYNC), 10);
	assert_int_equal(ns_of(BUCKET_UNKNOWN), 20);
	restart(1000);
	push(m, inside(1010, false));
	push(m, (struct event){ .kind = EVENT_CALL, .has = HAS_END, .pid = 100, .tid = 101,
				.func = L, .seq = 1, .start_ns = 1050, .end_ns = 1055 });
	assert_sync(0, -1, 0, 1);
	assert_int_equal(ns_of(BUCKET_UNKNOWN), 40);
	assert_int_equal(ns_of(CLASS_LAUNCH), 5);
}

TEST(test_intervals_count_it_while_it_lasts_and_when_it_ends)
{
	push(m, inside(1010, true));
	snap_cut(m, 1050);
	assert_sync(0, -1, 1, 1);
	assert_int_equal(ns_of(CLASS_SYNC), 0);
	push(m, left(1, 1080, 0));
	assert_sync(0, 0, 0, 1);
	assert_int_equal(ns_of(CLASS_SYNC), 30);
	snap_cut(m, 1100);
	push(m, (struct event){ .kind = EVENT_CALL, .has = HAS_END, .pid = 100, .tid = 101,
				.func = L, .seq = 2, .start_ns = 1150, .end_ns = 1155 });
	assert_int_equal(ns_of(CLASS_OTHER), 50);
}

/* ---- captures ----------------------------------------------------------------------------- */

struct begun {
	unsigned int insides;
	struct event last;
};

static int note_begun(void *ctx, const struct event *ev)
{
	struct begun *b = ctx;

	b->insides += ev->kind == EVENT_INSIDE;
	if (ev->kind == EVENT_INSIDE)
		b->last = *ev;
	return 0;
}

static struct begun begin(struct start_state *r, uint64_t ns)
{
	struct begun b = { 0 };

	assert_int_equal(start_state_put(r, ns, &(struct event_sink){ note_begun, &b }), 0);
	return b;
}

static void take(struct start_state *r, struct event ev, uint32_t seq)
{
	struct event out;

	assert_int_equal(start_state_take(r, &ev, &out), 0);
	assert_int_equal(out.seq, seq);
}

TEST(test_a_capture_that_begins_in_a_call_is_marked)
{
	struct start_state *r = start_state_new();
	struct begun b;

	assert_non_null(r);
	take(r, inside(1010, false), 0);
	take(r, inside(1030, true), 0);
	b = begin(r, 1050);
	assert_int_equal(b.insides, 1);
	assert_int_equal(b.last.end_ns, 1030);
	assert_true(b.last.has & HAS_END);
	assert_int_equal(b.last.seq, 0);
	take(r, left(1, 1060, 0), 1);
	assert_int_equal(begin(r, 1070).insides, 0);
	take(r, inside(1080, true), 0);		/* late news */
	assert_int_equal(begin(r, 1090).insides, 0);
	start_state_free(r);
}

TEST(test_a_call_that_is_gone_is_not_reported)
{
	struct start_state *r = start_state_new();

	assert_non_null(r);
	take(r, inside(1010, false), 0);
	take(r, of_call(EVENT_GONE, 0, 1020), 0);
	assert_int_equal(begin(r, 1050).insides, 0);
	start_state_free(r);
}
