// SPDX-License-Identifier: BSD-3-Clause
/* What calls' rows count as an error. */
#include "facts/call_stats.h"
#include "lib/test.h"

static uint64_t errors_of(int32_t result)
{
	const struct event call = { .kind = EVENT_CALL, .has = HAS_END | HAS_RESULT,
				    .call.result = result, .end_ns = 1 };
	struct call_stats cs = { 0 };
	struct call_stat *s = call_stats_find(&cs, &call);
	uint64_t errors;

	assert_non_null(s);
	assert_int_equal(call_stat_add(s, &call), 0);
	assert_int_equal(s->count, 1);
	assert_int_equal(s->results_known, 1);
	errors = s->errors;
	call_stat_add_before(s, &call);
	assert_int_equal(s->errors, 2 * errors);
	rows_free(&cs.rows);
	return errors;
}

TEST(a_poll_that_finds_work_not_done_is_no_error)
{
	assert_int_equal(errors_of(0), 0);
	assert_int_equal(errors_of(600), 0);
	assert_int_equal(errors_of(2), 1);
	assert_int_equal(errors_of(601), 1);
	assert_int_equal(errors_of(700), 1);
}

TEST_GROUP(NULL, NULL);
