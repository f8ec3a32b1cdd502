// SPDX-License-Identifier: BSD-3-Clause
/* What counts since a session began counts in each of its files since that began. */
#include <string.h>

#include "capture/capture_state.h"
#include "lib/test.h"

static int ignore(void *ctx, const struct event *ev)
{
	(void)ctx, (void)ev;
	return 0;
}

static const struct event_sink nowhere = { ignore, NULL };

/* What a file's fact says when the session's counter stands at value. */
static void fact_becomes(struct start_state *r, const char *key, const char *value, const char *said)
{
	const struct event ev = { .kind = EVENT_FACT, .fact.key = key, .fact.value = value };
	struct event out;

	assert_int_equal(start_state_take(r, &ev, &out), 0);
	assert_string_equal(out.fact.value, said);
}

TEST_TITLED("capture: every counter of a session begins anew with a file", counters_begin_anew)
{
	static const char *const counters[] = { "nested", "reached", "abandoned", "foreign",
						"unfollowed", "silent" };

	for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++) {
		struct start_state *r = start_state_new();

		assert_non_null(r);
		fact_becomes(r, counters[i], "1000", "1000");
		assert_int_equal(start_state_put(r, 1, &nowhere), 0);
		fact_becomes(r, counters[i], "1007", "7");
		start_state_free(r);
	}
}

TEST_TITLED("capture: facts that are no counters stay as they are", other_facts_stay)
{
	struct start_state *r = start_state_new();

	assert_non_null(r);
	fact_becomes(r, "cost_per_hit_ns", "1000", "1000");
	assert_int_equal(start_state_put(r, 1, &nowhere), 0);
	fact_becomes(r, "cost_per_hit_ns", "1000", "1000");
	start_state_free(r);
}

TEST_TITLED("capture: received + lost is what was hit since the file began", records_begin_anew)
{
	struct event ev = { .kind = EVENT_COUNT, .count.source = "uprobe",
			    .count.kind = "call" }, out;
	struct start_state *r = start_state_new();

	assert_non_null(r);
	ev.count.hits = 100;
	ev.count.received = 90;
	ev.count.lost = 10;
	assert_int_equal(start_state_take(r, &ev, &out), 0);
	assert_int_equal(start_state_put(r, 1, &nowhere), 0);
	ev.count.hits = 150;
	ev.count.received = 139;
	ev.count.lost = 11;
	assert_int_equal(start_state_take(r, &ev, &out), 0);
	assert_int_equal(out.count.hits, 50);
	assert_int_equal(out.count.received, 49);
	assert_int_equal(out.count.lost, 1);
	start_state_free(r);
}
