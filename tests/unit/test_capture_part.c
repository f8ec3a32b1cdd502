// SPDX-License-Identifier: BSD-3-Clause
/* A part of a capture: which time it is of, and what of the capture is in its books and tables. */
#include "capture/capture_part.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "lib/capture_lib.h"
#include "lib/work_named.h"
#include "model_each.h"

#define BASE 1000000000000ull
#define MS 1000000ull

BEFORE_EACH
{
	m = model_new(&funcs);
	assert_non_null(m);
}

static int push_model(void *ctx, const struct event *ev)
{
	push(ctx, *ev);
	return 0;
}

/* The part [from, to) in ms of what follows. */
static struct capture_part part(uint64_t from, uint64_t to)
{
	return (struct capture_part){ .from_ns = BASE + from * MS, .to_ns = BASE + to * MS,
				      .part = "a part", .to = { push_model, m } };
}

static void push_part(struct capture_part *p, struct event ev)
{
	assert_int_equal(capture_part_push(p, &ev), 0);
}

static void begin(struct capture_part *p)
{
	push_part(p, (struct event){ .kind = EVENT_START, .start_ns = BASE });
	push_part(p, (struct event){ .kind = EVENT_PROCESS, .pid = 7, .tid = 7, .start_ns = BASE - MS,
				.task.comm = "mix" });
}

static void call(struct capture_part *p, uint32_t seq, uint16_t func, uint64_t from, uint64_t to)
{
	push_part(p, (struct event){ .kind = EVENT_CALL, .pid = 7, .tid = 7, .seq = seq, .func = func,
				.start_ns = BASE + from * MS, .end_ns = BASE + to * MS });
}

static void kernel(struct capture_part *p, uint64_t from, uint64_t to)
{
	const struct work w = { .kind = WORK_KIND_KERNEL, .has = WORK_HAS_NO_LAUNCH };

	push_part(p, (struct event){ .kind = EVENT_WORK, .pid = 7, .work = work_named(w, "sgemm"),
				.start_ns = BASE + from * MS, .end_ns = BASE + to * MS });
}

static const struct snapshot *end(struct capture_part *p)
{
	push_part(p, (struct event){ .kind = EVENT_STOP, .end_ns = BASE + 100 * MS });
	assert_int_equal(model_finish(m), 0);
	return snap_of(m);
}

TEST(a_threads_book_is_of_the_part_and_a_call_counts_where_it_returns)
{
	struct capture_part p = part(20, 60);
	const struct snapshot *s;

	begin(&p);
	call(&p, 1, C, 1, 5);
	call(&p, 2, C, 10, 30);
	call(&p, 3, C, 40, 50);
	call(&p, 4, C, 55, 70);
	call(&p, 5, C, 80, 90);
	s = end(&p);
	assert_int_equal(s->since_ns, BASE + 20 * MS);
	assert_int_equal(s->now_ns, BASE + 60 * MS);
	assert_int_equal(s->threads.n, 1);
	assert_int_equal(s->threads.v[0].book.ns[CLASS_COPY], 25 * MS);
	assert_int_equal(s->threads.v[0].book.ns[CLASS_OTHER], 15 * MS);
	assert_int_equal(s->threads.v[0].book.calls[CLASS_COPY], 3);
	assert_true(s->threads.v[0].open);
	assert_int_equal(call_stats_at(&s->processes.v[0].calls, 0)->count, 2);
}

TEST(a_devices_book_is_of_the_part_and_a_kernel_is_whole)
{
	struct capture_part p = part(20, 60);
	const struct snapshot *s;

	begin(&p);
	kernel(&p, 5, 9);
	kernel(&p, 10, 30);
	kernel(&p, 70, 80);
	s = end(&p);
	assert_int_equal(s->devices.n, 1);
	assert_int_equal(s->devices.v[0].sum.close_ns - s->devices.v[0].sum.open_ns, 40 * MS);
	assert_int_equal(s->devices.v[0].sum.idle_ns, 30 * MS);
	assert_int_equal(s->devices.v[0].kernels.rows.n, 1);
}

TEST(processes_of_before_and_after_are_in_no_table)
{
	struct capture_part p = part(20, 60);
	const struct snapshot *s;

	begin(&p);
	call(&p, 1, C, 1, 5);
	push_part(&p, (struct event){ .kind = EVENT_EXIT, .pid = 7, .tid = 7, .seq = 2,
				 .end_ns = BASE + 10 * MS });
	push_part(&p, (struct event){ .kind = EVENT_PROCESS, .pid = 8, .tid = 8,
				 .start_ns = BASE + 61 * MS, .task.comm = "later" });
	push_part(&p, (struct event){ .kind = EVENT_CALL, .pid = 8, .tid = 8, .seq = 1, .func = C,
				 .start_ns = BASE + 62 * MS, .end_ns = BASE + 63 * MS });
	push_part(&p, (struct event){ .kind = EVENT_PROCESS, .pid = 9, .tid = 9, .start_ns = BASE,
				 .task.comm = "stays" });
	push_part(&p, (struct event){ .kind = EVENT_CALL, .pid = 9, .tid = 9, .seq = 1, .func = C,
				 .start_ns = BASE + 30 * MS, .end_ns = BASE + 31 * MS });
	push_part(&p, (struct event){ .kind = EVENT_EXIT, .pid = 9, .tid = 9, .seq = 2,
				 .end_ns = BASE + 70 * MS });
	s = end(&p);
	assert_int_equal(s->processes.n, 1);
	assert_int_equal(s->processes.v[0].pid, 9);
	assert_false(s->processes.v[0].has_ended);
	assert_int_equal(s->threads.n, 1);
	assert_int_equal(s->threads.v[0].book.close_ns - s->threads.v[0].book.open_ns, 40 * MS);
}

/* A hung collective that was launched before the part. */
TEST(what_was_launched_before_may_be_running)
{
	struct capture_part p = part(20, 60);
	const struct snapshot *s;
	uint64_t unknown_ns;

	begin(&p);
	push_part(&p, (struct event){ .kind = EVENT_DEVICE, .pid = 7, .start_ns = BASE, .end_ns = BASE,
				 .device.name = "H100" });
	push_part(&p, (struct event){ .kind = EVENT_API, .pid = 7, .tid = 7, .start_ns = BASE + 5 * MS,
				 .end_ns = BASE + 6 * MS,
				 .api = { .cbid = 211, .correlation = 9, .domain = 5 } });
	s = end(&p);
	assert_int_equal(s->devices.n, 1);
	unknown_ns = s->devices.v[0].idle_ns[IDLE_UNKNOWN];
	assert_int_equal(unknown_ns, 40 * MS);
}

/* ---- which time ------------------------------------------------------------------------------ */

static const struct capture_span span = { BASE, BASE + 100 * MS, .wall_offset_ns = 0 };

static struct time_moment at(const char *text)
{
	struct time_moment moment = { .is_given = false };

	if (text)
		assert_int_equal(time_parse_moment(text, &moment), 0);
	return moment;
}

static int choose(struct capture_part *p, const struct capture_span *of, const char *from,
		  const char *to)
{
	const struct time_moment a = at(from), b = at(to);

	return capture_part_choose(p, of, &a, &b);
}

TEST(times_are_from_the_beginning_and_end_with_the_capture)
{
	struct capture_part p;

	assert_int_equal(choose(&p, &span, "20ms", "60ms"), 0);
	assert_int_equal(p.from_ns, BASE + 20 * MS);
	assert_int_equal(p.to_ns, BASE + 60 * MS);
	assert_string_equal(p.part, "20.00 ms to 60.00 ms");
	assert_string_equal(p.options, "--from 20ms --to 60ms");
	assert_int_equal(choose(&p, &span, "20ms", NULL), 0);
	assert_int_equal(p.to_ns, span.stop_ns);
	assert_string_equal(p.options, "--from 20ms");
	assert_int_equal(choose(&p, &span, NULL, "1h"), 0);
	assert_int_equal(p.from_ns, BASE);
	assert_int_equal(p.to_ns, span.stop_ns);
}

TEST(times_of_day_are_those_of_the_capture)
{
	/* It begins at 1970-01-02 23:59:59.950. */
	const struct capture_span late = { BASE, BASE + 100 * MS, 172799950 * MS - BASE };
	struct capture_part p;

	setenv("TZ", "UTC", 1);
	tzset();
	assert_int_equal(choose(&p, &late, "23:59:59.970", "00:00:00.01"), 0);
	assert_int_equal(p.from_ns, BASE + 20 * MS);
	assert_int_equal(p.to_ns, BASE + 60 * MS);
	assert_int_equal(choose(&p, &late, "23:00", NULL), 0);	/* earlier: all of it */
	assert_int_equal(p.from_ns, BASE);
}

TEST(a_part_that_is_empty_or_of_unknown_time_is_refused)
{
	struct capture_part p;

	assert_int_equal(choose(&p, &span, "60ms", "20ms"), -EINVAL);
	assert_int_equal(choose(&p, &span, "20ms", "20ms"), -EINVAL);
	assert_int_equal(choose(&p, &span, "1s", NULL), -EINVAL);
	assert_int_equal(choose(&p, &span, NULL, "0s"), -EINVAL);
	assert_int_equal(choose(&p, &span, "09:15", NULL), -EINVAL);
}
