// SPDX-License-Identifier: BSD-3-Clause
/* When a process ended, and since when its records are missing, from the head of its ring. */
#include <stdlib.h>
#include <string.h>

#include "source/helper/helpers.c"

#include "lib/test.h"

static const struct gp_ring_head ended = { .state = GP_HELPER_ENDED, .state_ns = 105 };
static const struct gp_ring_head awake = { .state = GP_HELPER_AWAKE, .state_ns = 55 };
static const struct gp_ring_head virgin = { .state = GP_HELPER_VIRGIN, .state_ns = 15 };
static const struct gp_ring_head liar = { .state = GP_HELPER_ENDED, .state_ns = 900 };

static struct helper_exit end_of(const struct gp_ring_head *head, uint64_t last_ns, uint64_t known_ns)
{
	return (struct helper_exit){ .head = head, .offset_ns = 5, .alive_ns = 90, .found_ns = 110,
				    .last_ns = last_ns, .known_ns = known_ns };
}

struct times {
	uint64_t ended_ns, recorded_ns;
};

static int take(void *ctx, const struct event *ev)
{
	struct times *t = ctx;
	bool is_end = !strcmp(ev->fact.key, EVENT_ENDED_NS);

	assert_int_equal(ev->kind, EVENT_IDENTITY);
	assert_int_equal(ev->pid, 7);
	assert_false(t->ended_ns);
	assert_true(is_end || !strcmp(ev->fact.key, EVENT_RECORDED_NS));
	*(is_end ? &t->ended_ns : &t->recorded_ns) = strtoull(ev->fact.value, NULL, 10);
	return 0;
}

static struct times pushed(struct helper_exit e)
{
	struct times t = { 0 };

	assert_int_equal(helper_exit_push(e, 7, &(struct event_sink){ take, &t }), 0);
	return t;
}

static uint64_t pushed_end(struct helper_exit e)
{
	return pushed(e).ended_ns;
}

TEST(a_process_ended_when_its_helper_did_but_not_before_its_last_record)
{
	assert_int_equal(pushed_end(end_of(&ended, 70, 80)), 100);
	assert_int_equal(pushed_end(end_of(&ended, 103, 80)), 103);
	assert_int_equal(pushed_end(end_of(&ended, 5000, 80)), 110);
}

TEST(works_are_recorded_until_a_helper_ends_in_order)
{
	struct helper_exit late = end_of(&ended, 70, 80), longer = end_of(&ended, 103, 80);

	late.lapse_ns = 95;
	longer.last_call_ns = 102;
	assert_int_equal(pushed(end_of(&ended, 103, 80)).recorded_ns, 100);
	assert_int_equal(pushed(longer).recorded_ns, 102);
	assert_int_equal(pushed(late).recorded_ns, 0);
	assert_int_equal(pushed(end_of(&awake, 70, 80)).recorded_ns, 0);
	assert_int_equal(pushed(end_of(&liar, 70, 80)).recorded_ns, 0);
}

TEST(one_that_was_killed_ended_when_it_was_seen_last)
{
	assert_int_equal(pushed_end(end_of(&awake, 70, 80)), 90);
	assert_int_equal(pushed_end(end_of(&virgin, 0, 0)), 90);
	assert_int_equal(pushed_end(end_of(&liar, 70, 80)), 90);
}

/* Our lease ran out at 95 or 110 of the helper's clock, which ended at 105. */
TEST(a_late_reader_at_the_end_missed_the_last_records)
{
	struct helper_exit late = end_of(&ended, 70, 80);

	late.lapse_ns = 95;
	assert_int_equal(helper_exit_unknown_since(late), 80);
	late.known_ns = 0;
	assert_int_equal(helper_exit_unknown_since(late), 90);
	late.known_ns = 101;		/* it did not look meanwhile */
	assert_int_equal(helper_exit_unknown_since(late), 0);
	late.known_ns = 80;
	late.lapse_ns = 110;
	assert_int_equal(helper_exit_unknown_since(late), 0);
}

TEST(missing_records_are_known_unless_it_ended_in_order)
{
	struct helper_exit broken = end_of(&ended, 70, 80);

	broken.broken = true;
	assert_int_equal(helper_exit_unknown_since(end_of(&ended, 70, 80)), 0);
	assert_int_equal(helper_exit_unknown_since(end_of(&virgin, 0, 0)), 0);
	assert_int_equal(helper_exit_unknown_since(end_of(&awake, 70, 80)), 80);
	assert_int_equal(helper_exit_unknown_since(end_of(&awake, 0, 0)), 50);
	assert_int_equal(helper_exit_unknown_since(broken), 80);
}
