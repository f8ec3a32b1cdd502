// SPDX-License-Identifier: BSD-3-Clause
/* What counts since a session began counts in each of its files since that began. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "capture/roster.h"

static int ignore(void *ctx, const struct event *ev)
{
	(void)ctx, (void)ev;
	return 0;
}

static const struct event_sink nowhere = { ignore, NULL };

/* What a file's fact says when the session's counter stands at value. */
static void fact_becomes(struct roster *r, const char *key, const char *value, const char *said)
{
	const struct event ev = { .kind = EVENT_FACT, .text = key, .text2 = value };
	struct event out;

	assert_int_equal(roster_take(r, &ev, &out), 0);
	assert_string_equal(out.text2, said);
}

static void counters_begin_anew(void **state)
{
	static const char *const counters[] = { "nested", "reached", "abandoned", "foreign",
						"unfollowed" };

	(void)state;
	for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++) {
		struct roster *r = roster_new();

		assert_non_null(r);
		fact_becomes(r, counters[i], "1000", "1000");
		assert_int_equal(roster_begin(r, 1, &nowhere), 0);
		fact_becomes(r, counters[i], "1007", "7");
		roster_free(r);
	}
}

static void other_facts_stay(void **state)
{
	struct roster *r = roster_new();

	(void)state;
	assert_non_null(r);
	fact_becomes(r, "cost_per_hit_ns", "1000", "1000");
	assert_int_equal(roster_begin(r, 1, &nowhere), 0);
	fact_becomes(r, "cost_per_hit_ns", "1000", "1000");
	roster_free(r);
}

static void records_begin_anew(void **state)
{
	struct event ev = { .kind = EVENT_COUNT, .text = "uprobe", .text2 = "call" }, out;
	struct roster *r = roster_new();

	(void)state;
	assert_non_null(r);
	EVENT_HITS(&ev) = 100;
	EVENT_RECEIVED(&ev) = 90;
	EVENT_LOST(&ev) = 10;
	assert_int_equal(roster_take(r, &ev, &out), 0);
	assert_int_equal(roster_begin(r, 1, &nowhere), 0);
	EVENT_HITS(&ev) = 150;
	EVENT_RECEIVED(&ev) = 139;
	EVENT_LOST(&ev) = 11;
	assert_int_equal(roster_take(r, &ev, &out), 0);
	assert_int_equal(EVENT_HITS(&out), 50);
	assert_int_equal(EVENT_RECEIVED(&out), 49);
	assert_int_equal(EVENT_LOST(&out), 1);
	roster_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{ "roster: every counter of a session begins anew with a file", counters_begin_anew,
		  NULL, NULL, NULL },
		{ "roster: facts that are no counters stay as they are", other_facts_stay, NULL, NULL,
		  NULL },
		{ "roster: received + lost is what was hit since the file began", records_begin_anew,
		  NULL, NULL, NULL },
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
