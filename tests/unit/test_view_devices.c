// SPDX-License-Identifier: BSD-3-Clause
/*
 * The table of devices where the whole host is watched: also those that no watched process uses, as far
 * as they report of themselves. What watched processes had is test_host_devices's and check_devices.py's.
 */
#include <stdio.h>
#include <string.h>

#include "base/time.h"
#include "event/device_number.h"
#include "event/event.h"
#include "view/render.c"
#include "view_of.h"
#include "model_each.h"

/* The columns, by their names: "4 unwatched 1.000 s 3.000 s samples 12; ". */
static const char *rows_of(void)
{
	static const char *const names[] = { "device", "owner", "ns", "wall_ns", "source", "users" };
	static char text[1000];
	struct table *t = view_at(&view_devices, m, 10 * NS_PER_SEC);
	struct strbuf out = STRBUF_INIT;

	assert_non_null(t);
	for (size_t i = 0; i < t->n_rows; i++) {
		for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++) {
			int at = table_column(t, names[k]);

			strbuf_addstr(&out, k ? " " : "");
			format_cell(&out, &table_cells(t, i)[at], t->columns[at].type);
		}
		strbuf_addstr(&out, "; ");
	}
	snprintf(text, sizeof(text), "%s", out.s);
	strbuf_free(&out);
	table_free(t);
	return text;
}

BEFORE_EACH
{
	restart(0);
	push(m, (struct event){ .kind = EVENT_FACT, .fact.key = "whole_host",
				.fact.value = "yes" });
}

/* A second that ends at `end`; busy or users < 0: it does not say. */
static void sample(uint64_t end, int busy, int users)
{
	struct device_sample s = { .has = (busy >= 0) << SAMPLE_BUSY | (users >= 0) << SAMPLE_USERS };

	s.v[SAMPLE_BUSY] = (uint64_t)busy;
	s.v[SAMPLE_USERS] = (uint64_t)users;
	push(m, (struct event){ .kind = EVENT_SAMPLE, .sample.uuid = "GPU-b", .sample.number = 4,
				.sample.values = s,
				.start_ns = (end - 1) * NS_PER_SEC, .end_ns = end * NS_PER_SEC });
}

static void user(uint32_t pid, uint64_t end)
{
	push(m, (struct event){ .kind = EVENT_USER, .user.uuid = "GPU-b", .user.number = 4,
				.pid = pid, .start_ns = end * NS_PER_SEC });
}

TEST(an_unused_device_is_shown_by_its_samples)
{
	for (uint64_t end = 2; end <= 4; end++)
		sample(end, 0, 0);
	for (uint64_t end = 5; end <= 6; end++) {
		user(12, end);
		sample(end, 50, 1);
	}
	assert_string_equal(rows_of(), "4 idle 3.000 s 5.000 s samples 12; 4 unwatched 2.000 s "
			    "5.000 s samples 12; ");
	sample(7, 50, -1);
	assert_string_equal(rows_of(), "4 idle 3.000 s 6.000 s samples -; 4 unwatched 2.000 s "
			    "6.000 s samples -; 4 unknown 1.000 s 6.000 s samples -; ");
}

TEST(a_possibly_watched_user_is_not_unwatched)
{
	push(m, (struct event){ .kind = EVENT_PROCESS, .pid = 12, .tid = 12,
				.task.comm = "train" });
	user(12, 2);
	sample(2, 50, 1);
	assert_string_equal(rows_of(), "4 unknown 1.000 s 1.000 s samples 12; ");
}

/* As a MIG instance: a process that stays has it, where none is at either end it is idle, else nothing is known. */
TEST(without_activity_samples_users_present_own_the_time)
{
	sample(1, -1, 0);
	sample(2, -1, 0);
	user(12, 3);
	sample(3, -1, 1);
	user(12, 4);
	sample(4, -1, 1);
	assert_string_equal(rows_of(), "4 unknown 2.000 s 4.000 s samples 12; 4 unwatched 1.000 s "
			    "4.000 s samples 12; 4 idle 1.000 s 4.000 s samples 12; ");
}

TEST(unknown_and_unrequested_values_are_left_out)
{
	sample(2, -1, -1);
	assert_string_equal(rows_of(), "");
	restart(0);
	sample(2, 0, 0);
	assert_string_equal(rows_of(), "");
}

TEST(a_device_of_a_watched_process_is_not_there_twice)
{
	const struct device_facts facts = { .uuid = "GPU-b" };

	push(m, (struct event){ .kind = EVENT_DEVICE, .pid = 7, .tid = 7, .device.facts = facts });
	sample(2, 0, 0);
	assert_string_equal(rows_of(), "4 idle 10.00 s 10.00 s works -; ");
}
