// SPDX-License-Identifier: BSD-3-Clause
/*
 * Readers that have a slot of a helper's ring one after another, however soon: each gets a record that it begins,
 * and all that was said before was for another.
 */
#include "helper_ring_room.h"
#include "lib/test.h"

#include <pthread.h>
#include <stdbool.h>

#define KERNEL (1u << GP_RING_KERNEL)

static void open_room(struct helper_ring *r)
{
	assert_int_equal(helper_ring_open(r, RING, 1), 0);
}

static uint64_t read_all(struct ring_reader *s)
{
	struct got got = { .in_order = true };

	assert_int_equal(ring_reader_read(s, take, &got), 1);
	assert_true(got.in_order);
	return got.n;
}

/* A reader has begun, and has gone. */
static void open_left(struct helper_ring *r)
{
	ring_reader_close(open_read(r));
}

static void close_room(struct helper_ring *r, struct ring_reader *s)
{
	ring_reader_close(s);
	helper_ring_close(r);
}

/* The helper knows of it; it looks no more. */
static void check_has_begun(struct helper_ring *r, struct ring_reader *s)
{
	send_numbers(r, 1, 3);
	assert_int_equal(read_all(s), 3);
	close_room(r, s);
}

TEST(a_reader_that_comes_before_the_helper_looks_is_new)
{
	struct ring_reader *first, *second;
	struct helper_ring r;

	first = open_read(&r);
	assert_int_equal(look(&r), 0);
	ring_reader_close(first);
	second = reader(&r, ALL);
	assert_int_equal(look(&r), 1);
	assert_int_equal(look(&r), 0);
	check_has_begun(&r, second);
}

TEST(a_reader_that_comes_after_the_helper_looked_is_new)
{
	struct ring_reader *second;
	struct helper_ring r;

	open_left(&r);
	assert_int_equal(look(&r), 0);
	second = reader(&r, ALL);
	assert_int_equal(look(&r), 1);
	check_has_begun(&r, second);
}

/* The helper does not know yet that it is another: its records refer to names that were sent to the first. */
TEST(records_for_the_earlier_reader_do_not_reach_the_next)
{
	struct ring_reader *second;
	struct helper_ring r;
	uint32_t fresh;
	uint64_t name = 100;

	open_left(&r);
	second = reader(&r, ALL);
	send_numbers(&r, 1, 5);
	assert_int_equal(read_all(second), 0);
	send_numbers(&r, 6, 5);		/* which it has not read when the helper looks */
	helper_ring_look(&r, time_now_ns(), &fresh);
	send_numbers(&r, 11, 5);	/* not admitted yet */
	helper_ring_send_to(&r, fresh, GP_RING_NAME_IS, &name, sizeof(name));
	helper_ring_admit(&r);
	send_numbers(&r, 101, 5);
	assert_int_equal(read_all(second), 6);
	assert_int_equal(ring_reader_lost(second, KERNEL), 0);
	close_room(&r, second);
}

/* A thread was stopped in it, and the ring may come round until it goes on: it would write into another. */
TEST(late_writes_for_the_earlier_reader_are_awaited)
{
	struct got got = { .in_order = true };
	struct ring_reader *first, *second;
	struct gp_ring_record *late;
	struct helper_ring r;
	uint64_t at;

	first = open_read(&r);
	send_numbers(&r, 1, 3);
	assert_int_equal(read_all(first), 3);
	at = r.head->slot[0].written;
	r.head->slot[0].written += sizeof(*late);
	ring_reader_close(first);
	send_numbers(&r, 4, 3);
	second = reader(&r, ALL);
	assert_int_equal(look(&r), 1);
	send_numbers(&r, 7, 3);
	assert_int_equal(ring_reader_read(second, take, &got), 0);
	late = (void *)((char *)r.head + r.data_offset + at);
	*late = (struct gp_ring_record){ .units = 1, .kind = GP_RING_KERNEL };
	__atomic_store_n(&late->stamp, gp_ring_stamp(at), __ATOMIC_RELEASE);
	assert_int_equal(read_all(second), 3);
	close_room(&r, second);
}

/* The thread has gone for ever. */
TEST(a_reader_that_times_out_leaves_later_records_to_the_next)
{
	struct got got = { .in_order = true };
	struct ring_reader *first, *second;
	struct helper_ring r;

	first = open_read(&r);
	assert_int_equal(read_all(first), 0);
	r.head->slot[0].written += sizeof(struct gp_ring_record);
	ring_reader_close(first);
	second = reader(&r, ALL);
	assert_int_equal(look(&r), 1);
	assert_int_equal(ring_reader_read(second, take, &got), 0);
	ring_reader_close(second);
	second = reader(&r, ALL);
	assert_int_equal(look(&r), 1);
	check_has_begun(&r, second);
}

TEST(a_reader_late_to_renew_goes_on_and_is_notified)
{
	struct got got = { .in_order = true };
	uint64_t now = time_now_ns();
	struct ring_reader *s;
	struct helper_ring r;
	uint32_t fresh;

	s = open_read(&r);
	send_numbers(&r, 1, 2);
	assert_int_equal(read_all(s), 2);
	now += 2 * GP_RING_LEASE_NS;
	assert_int_equal(helper_ring_look(&r, now, &fresh), 0);
	assert_int_equal(ring_reader_lapse_ns(s, now - 2 * GP_RING_LEASE_NS), 0);
	assert_in_range(ring_reader_lapse_ns(s, now), now - 2 * GP_RING_LEASE_NS, now);
	assert_int_equal(ring_reader_renew(s, now), 0);
	assert_in_range(ring_reader_lapse_ns(s, now), now - 2 * GP_RING_LEASE_NS, now);
	assert_int_equal(helper_ring_look(&r, now, &fresh), ALL);
	assert_int_equal(fresh, 1);
	helper_ring_admit(&r);
	send_numbers(&r, 3, 2);
	assert_int_equal(ring_reader_read(s, take, &got), 1);
	assert_int_equal(got.n, 2);
	assert_int_equal(got.begun_again, 1);
	assert_int_equal(ring_reader_lapse_ns(s, now), 0);
	close_room(&r, s);
}

/* Its first records are read after that: they do not show that the helper began again. */
TEST(a_reader_late_before_its_first_records_knows_it)
{
	struct ring_reader *s;
	struct helper_ring r;
	uint64_t now;

	s = open_read(&r);		/* renewed, and the helper has begun */
	now = time_now_ns() + 2 * GP_RING_LEASE_NS;
	send_numbers(&r, 1, 2);
	assert_int_equal(ring_reader_renew(s, now), 0);
	assert_int_equal(read_all(s), 2);
	assert_true(ring_reader_lapse_ns(s, now) && ring_reader_lapse_ns(s, now) < now);
	close_room(&r, s);
}

TEST(with_a_full_ring_it_begins_later)
{
	struct ring_reader *second;
	struct helper_ring r;
	uint32_t fresh;

	open_left(&r);
	second = reader(&r, ALL);
	r.head->slot[0].written += RING;	/* for the first, all of it */
	assert_int_equal(helper_ring_look(&r, time_now_ns(), &fresh), ALL);
	assert_int_equal(fresh, 0);
	for (int kind = 0; kind < GP_RING_KINDS; kind++)
		assert_int_equal(r.wanted[kind], 0);
	r.head->slot[0].written -= RING;
	assert_int_equal(look(&r), 1);
	check_has_begun(&r, second);
}

TEST(one_that_lost_its_slot_does_not_end_the_lease_of_the_next)
{
	uint64_t now = time_now_ns() + GP_RING_LEASE_NS + GP_RING_ABANDONED_NS + NS_PER_SEC;
	struct ring_reader *late, *next;
	struct helper_ring r;

	open_room(&r);
	late = reader(&r, ALL);
	assert_non_null(next = ring_reader_open(dup(r.fd), getpid(), ALL, now));
	assert_int_equal(ring_reader_renew(next, now), 0);
	assert_int_equal(r.head->slot[1].owner, 0);
	ring_reader_close(late);
	assert_int_equal(r.head->slot[0].lease_ns, now + GP_RING_LEASE_NS);
	ring_reader_close(next);
	assert_int_equal(r.head->slot[0].owner, 0);
	helper_ring_close(&r);
}

/* A number of another, or half of one, or none: it is as silent as without. */
TEST(another_readers_begin_is_not_ours)
{
	struct gp_ring_begin other;
	struct ring_reader *s;
	struct helper_ring r;

	open_room(&r);
	s = reader(&r, ALL);
	other = (struct gp_ring_begin){ .owner = r.head->slot[0].owner + 1 };
	helper_ring_send_to(&r, 1, GP_RING_BEGIN, &other, sizeof(other));
	helper_ring_send_to(&r, 1, GP_RING_BEGIN, &other, 0);
	helper_ring_send_to(&r, 1, GP_RING_KERNEL, &(uint64_t){ 1 }, 8);
	assert_int_equal(read_all(s), 0);
	other.owner--;
	helper_ring_send_to(&r, 1, GP_RING_BEGIN, &other, sizeof(other));
	helper_ring_send_to(&r, 1, GP_RING_KERNEL, &(uint64_t){ 2 }, 8);
	assert_int_equal(read_all(s), 1);
	close_room(&r, s);
}

/* ---- while threads write -------------------------------------------------------------------- */

#define WRITERS 2
#define TURNS 100

struct writer {
	struct helper_ring *ring;
	pthread_t thread;
	uint64_t id, n;		/* n: the record that it writes now, or has written last */
	bool end;
};

static void *write_on(void *ctx)
{
	struct writer *w = ctx;

	while (!__atomic_load_n(&w->end, __ATOMIC_ACQUIRE)) {
		uint64_t payload[2] = { w->id, __atomic_add_fetch(&w->n, 1, __ATOMIC_SEQ_CST) };

		helper_ring_send(w->ring, GP_RING_KERNEL, payload, sizeof(payload));
	}
	return NULL;
}

struct turn {
	uint64_t since[WRITERS], n;
	bool old;
};

static int take_turn(void *ctx, uint16_t kind, const void *payload, size_t len)
{
	const uint64_t *p = payload;
	struct turn *t = ctx;

	assert_int_equal(kind, GP_RING_KERNEL);
	assert_int_equal(len, 16);
	t->old |= p[1] < t->since[p[0]];
	t->n++;
	return 0;
}

static void take_a_turn(struct helper_ring *r, const struct writer *writers)
{
	struct ring_reader *s = reader(r, ALL);
	uint64_t end_ns = time_now_ns() + 20 * NS_PER_SEC;
	struct turn turn = { .n = 0 };

	assert_non_null(s);
	for (int i = 0; i < WRITERS; i++)
		turn.since[i] = __atomic_load_n(&writers[i].n, __ATOMIC_SEQ_CST);
	while (!turn.n && time_now_ns() < end_ns) {
		assert_int_equal(ring_reader_renew(s, time_now_ns()), 0);
		look(r);
		assert_true(ring_reader_read(s, take_turn, &turn) >= 0);
	}
	assert_true(turn.n);
	assert_false(turn.old);
	ring_reader_close(s);
}

/* Records are being written when the slot changes hands. */
TEST(each_of_many_readers_gets_later_records_however_busy_the_ring_is)
{
	static struct writer writers[WRITERS];	/* where a check fails they go on */
	static struct helper_ring r;

	open_room(&r);
	for (uint64_t i = 0; i < WRITERS; i++) {
		writers[i] = (struct writer){ .ring = &r, .id = i };
		assert_int_equal(pthread_create(&writers[i].thread, NULL, write_on, &writers[i]), 0);
	}
	for (int i = 0; i < TURNS; i++)
		take_a_turn(&r, writers);
	for (int i = 0; i < WRITERS; i++) {
		__atomic_store_n(&writers[i].end, true, __ATOMIC_RELEASE);
		pthread_join(writers[i].thread, NULL);
	}
	helper_ring_close(&r);
}
