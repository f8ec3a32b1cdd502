// SPDX-License-Identifier: BSD-3-Clause
/* When a process ended, and what its helper had not told by then, from the head of its ring. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "source/helper/helper_end.h"

static const struct gp_ring_head ended = { .state = GP_HELPER_ENDED, .state_ns = 105 };
static const struct gp_ring_head awake = { .state = GP_HELPER_AWAKE, .state_ns = 55 };
static const struct gp_ring_head virgin = { .state = GP_HELPER_VIRGIN, .state_ns = 15 };
static const struct gp_ring_head liar = { .state = GP_HELPER_ENDED, .state_ns = 900 };

static struct helper_end end_of(const struct gp_ring_head *head, uint64_t last_ns, uint64_t told_ns)
{
	return (struct helper_end){ .head = head, .offset_ns = 5, .alive_ns = 90, .found_ns = 110,
				    .last_ns = last_ns, .told_ns = told_ns };
}

static void a_process_ended_when_its_helper_did_but_not_before_its_last_record(void **state)
{
	(void)state;
	assert_int_equal(helper_end_ns(end_of(&ended, 70, 80)), 100);
	assert_int_equal(helper_end_ns(end_of(&ended, 103, 80)), 103);
	assert_int_equal(helper_end_ns(end_of(&ended, 5000, 80)), 110);
}

static void one_that_was_killed_ended_when_it_was_seen_last(void **state)
{
	(void)state;
	assert_int_equal(helper_end_ns(end_of(&awake, 70, 80)), 90);
	assert_int_equal(helper_end_ns(end_of(&virgin, 0, 0)), 90);
	assert_int_equal(helper_end_ns(end_of(&liar, 70, 80)), 90);
}

/* Our lease ran out at 95 or 110 of the helper's clock, which ended at 105. */
static void who_was_late_when_it_ended_was_not_told_its_last_words(void **state)
{
	struct helper_end late = end_of(&ended, 70, 80);

	(void)state;
	late.lapse_ns = 95;
	assert_int_equal(helper_end_untold_since(late), 80);
	late.told_ns = 0;
	assert_int_equal(helper_end_untold_since(late), 90);
	late.told_ns = 101;		/* it did not look meanwhile */
	assert_int_equal(helper_end_untold_since(late), 0);
	late.told_ns = 80;
	late.lapse_ns = 110;
	assert_int_equal(helper_end_untold_since(late), 0);
}

static void what_a_helper_did_not_tell_is_known_but_where_it_ended_in_order(void **state)
{
	struct helper_end broken = end_of(&ended, 70, 80);

	(void)state;
	broken.broken = true;
	assert_int_equal(helper_end_untold_since(end_of(&ended, 70, 80)), 0);
	assert_int_equal(helper_end_untold_since(end_of(&virgin, 0, 0)), 0);
	assert_int_equal(helper_end_untold_since(end_of(&awake, 70, 80)), 80);
	assert_int_equal(helper_end_untold_since(end_of(&awake, 0, 0)), 50);
	assert_int_equal(helper_end_untold_since(broken), 80);
}

struct taken {
	uint64_t recorded_ns, ended_ns;
};

static int take(void *ctx, const struct event *ev)
{
	struct taken *t = ctx;
	bool is_end = !strcmp(ev->text, EVENT_ENDED_NS);

	assert_int_equal(ev->kind, EVENT_IDENTITY);
	assert_int_equal(ev->pid, 7);
	assert_false(t->ended_ns);
	if (!is_end)
		assert_string_equal(ev->text, EVENT_RECORDED_NS);
	*(is_end ? &t->ended_ns : &t->recorded_ns) = strtoull(ev->text2, NULL, 10);
	return 0;
}

static struct taken tell(struct helper_end e)
{
	struct taken t = { 0 };

	assert_int_equal(helper_end_tell(e, 7, &(struct event_sink){ take, &t }), 0);
	return t;
}

static void the_end_is_told_as_a_fact_about_the_process_after_that_of_recording(void **state)
{
	struct taken t = tell(end_of(&ended, 70, 80));

	(void)state;
	assert_int_equal(t.recorded_ns, 100);
	assert_int_equal(t.ended_ns, 100);
	t = tell(end_of(&ended, 103, 80));
	assert_int_equal(t.recorded_ns, 100);
	assert_int_equal(t.ended_ns, 103);
}

static void until_when_it_recorded_is_not_told_of_one_that_did_not_end_in_order(void **state)
{
	struct helper_end broken = end_of(&ended, 70, 80);

	(void)state;
	broken.broken = true;
	assert_int_equal(tell(broken).recorded_ns, 0);
	assert_int_equal(tell(end_of(&awake, 70, 80)).recorded_ns, 0);
	assert_int_equal(tell(end_of(&awake, 70, 80)).ended_ns, 90);
	assert_int_equal(tell(end_of(&liar, 70, 80)).recorded_ns, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_process_ended_when_its_helper_did_but_not_before_its_last_record),
		cmocka_unit_test(one_that_was_killed_ended_when_it_was_seen_last),
		cmocka_unit_test(who_was_late_when_it_ended_was_not_told_its_last_words),
		cmocka_unit_test(what_a_helper_did_not_tell_is_known_but_where_it_ended_in_order),
		cmocka_unit_test(the_end_is_told_as_a_fact_about_the_process_after_that_of_recording),
		cmocka_unit_test(until_when_it_recorded_is_not_told_of_one_that_did_not_end_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
