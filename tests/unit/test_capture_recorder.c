// SPDX-License-Identifier: BSD-3-Clause
/*
 * The last stretch of a session, kept in memory until it is wanted: it can be read alone, what was lost in
 * the file says so, and memory is bounded.
 */
#include "keep_play.h"

#include <errno.h>

#include "event/event.h"
#include "lib/test.h"

static struct capture_sink *new_hold(uint64_t before_ns, uint64_t max_bytes)
{
	struct capture_sink *k = capture_recorder_new(&(struct capture_sink_plan){
		.before_ns = before_ns, .max_bytes = max_bytes, .on = ON_EXIT },
		lib_path, &lib_funcs);

	assert_non_null(k);
	return k;
}

static struct got end_and_read(struct play *p)
{
	stderr_hide();
	end(p, NULL);
	stderr_show();
	return read_file(lib_path);
}

TEST(only_the_last_stretch_is_written)
{
	struct play p = { .keep = new_hold(SEC, 64 << 20) };
	struct got got;

	begin(&p);
	for (int i = 0; i < 10000; i++)
		call(&p, (uint32_t)i % 3, MS);
	got = end_and_read(&p);
	assert_true(got.complete && got.has_host);
	assert_in_range(got.calls, 999, 1001);
	assert_int_equal(got.stop_ns - got.start_ns, SEC);
	assert_int_equal(got.first_seq[0], 1);
	assert_int_equal(got.lost, 0);
}

/* Lost without a number in any thread: only the kernel's counters know of them. */
struct counting {
	struct play play;
	uint64_t received, lost;
};

static void push_counted(void *ctx)
{
	const struct counting *c = ctx;

	assert_int_equal(capture_sink_push(c->play.keep, &(struct event){ .kind = EVENT_COUNT,
									  .count.source = "uprobe",
		.count.kind = "call", .count.hits = c->received + c->lost,
		.count.received = c->received, .count.lost = c->lost }), 0);
}

static void count_on(struct counting *c, int calls)
{
	for (int i = 0; i < calls; i++, c->received++)
		call(&c->play, 0, MS);
}

static struct counting new_counting(uint64_t before_ns)
{
	return (struct counting){ .play = { .keep = new_hold(before_ns, 64 << 20) } };
}

static void count_from(struct counting *c)
{
	c->play.keep->on_cut = push_counted;
	c->play.keep->cut_ctx = c;
	begin(&c->play);
}

static struct got end_counting(struct counting *c)
{
	push_counted(c);
	return end_and_read(&c->play);
}

TEST(losses_in_the_held_span_are_in_it_and_earlier_ones_are_not)
{
	struct counting c = new_counting(SEC);
	struct got got;

	count_from(&c);
	count_on(&c, 3000);
	c.lost += 100;
	count_on(&c, 5000);
	c.lost += 7;
	count_on(&c, 300);
	got = end_counting(&c);
	assert_int_equal(got.counted_lost, 7);
	assert_int_equal(got.counted_hits, got.counted_received + 7);
	assert_in_range(got.counted_received, got.calls, got.calls + 1000 / 16 + 2);
	assert_int_equal(got.stop_ns - got.start_ns, SEC);
}

/* A sixteenth of the stretch before it is as near as counters are read. */
TEST(losses_possibly_in_the_held_span_are_in_it)
{
	struct got got;

	for (int at = 0; at < 1000; at += 37) {
		struct counting c = new_counting(SEC);

		count_from(&c);
		count_on(&c, 5000);
		c.lost++;
		count_on(&c, at);
		got = end_counting(&c);
		assert_int_equal(got.counted_lost, 1);
	}
}

/* Nothing came for long, since all was lost. */
TEST(losses_during_silence_are_in_it)
{
	struct counting c = new_counting(SEC);
	struct got got;

	count_from(&c);
	count_on(&c, 3000);
	c.lost += 50;
	c.play.now_ns += 10 * SEC;
	count_on(&c, 10);
	got = end_counting(&c);
	assert_int_equal(got.counted_lost, 50);
}

TEST(losses_are_in_the_file_written_next)
{
	struct counting c = new_counting(60 * SEC);
	struct got one, two;
	char path[128];

	count_from(&c);
	count_on(&c, 100);
	c.lost += 3;
	stderr_hide();
	assert_non_null(capture_sink_fire(c.play.keep));
	stderr_show();
	one = read_file(lib_path);
	c.lost += 5;
	count_on(&c, 50);
	stderr_hide();
	push_counted(&c);
	end(&c.play, NULL);
	stderr_show();
	name(path, 2);
	two = read_file(path);
	assert_int_equal(one.counted_lost, 3);
	assert_int_equal(one.counted_received, 100);
	assert_int_equal(two.counted_lost, 5);
	assert_int_equal(two.counted_received, 50);
}

/* An allocation whose free may have been lost may live in the stretch, or not. */
TEST(memory_whose_records_were_lost_before_is_not_sure_in_it)
{
	static const struct {
		uint16_t of;
		uint8_t why;	/* 0: nothing was lost */
		bool unsure;
	} cases[] = {
		{ 0, 0, false }, { UNSEEN_OF_WORKS, UNSEEN_LOST, false }, { UNSEEN_OF_MEMORY, UNSEEN_LOST, true },
		{ 0, UNSEEN_LOST, true }, { 0, UNSEEN_UNKNOWN, false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct play p = { .keep = new_hold(SEC, 64 << 20) };

		begin(&p);
		call(&p, 0, MS);
		push(&p, (struct event){ .kind = EVENT_MEMORY, .pid = 10, .memory.op = MEMORY_ALLOC,
					 .has = HAS_BYTES,
					 .memory.kind = MEMORY_KIND_DEVICE, .memory.address = 4096,
					 .memory.bytes = 64, .start_ns = p.now_ns });
		if (cases[i].why)
			push(&p, (struct event){ .kind = EVENT_UNSEEN, .pid = 10,
						 .unseen.why = cases[i].why,
						 .unseen.of = cases[i].of, .start_ns = p.now_ns,
						 .end_ns = p.now_ns + MS });
		for (int k = 0; k < 3000; k++)
			call(&p, 0, MS);
		assert_int_equal(end_and_read(&p).memory_unsure, cases[i].unsure);
	}
}

TEST(a_session_shorter_than_the_stretch_is_written_whole)
{
	struct play p = { .keep = new_hold(60 * SEC, 64 << 20) };
	struct got got;

	begin(&p);
	for (int i = 0; i < 100; i++)
		call(&p, 0, MS);
	got = end_and_read(&p);
	assert_int_equal(got.calls, 100);
	assert_int_equal(got.stop_ns - got.start_ns, 100 * MS);
}

TEST(a_call_open_since_long_is_in_it)
{
	struct play p = { .keep = new_hold(SEC, 64 << 20) };
	struct got got;

	begin(&p);
	call(&p, 2, MS);
	enter(&p, 2);
	for (int i = 0; i < 10000; i++)
		call(&p, 0, MS);
	got = end_and_read(&p);
	assert_int_equal(got.enters, 1);
	assert_int_equal(got.first_seq[2], 1);
	assert_int_equal(got.lost, 0);
}

TEST(memory_is_bounded_with_a_message)
{
	struct play p = { .keep = new_hold(1000 * SEC, 64 << 10) };
	struct got got;

	begin(&p);
	for (int i = 0; i < 200000; i++) {
		call(&p, 0, 1000);
		assert_true(capture_recorder_bytes(p.keep) <= (64 << 10));
		if (i % 1000 == 0)
			assert_int_equal(capture_sink_flush(p.keep), 0);
	}
	stderr_hide();
	end(&p, NULL);
	assert_non_null(strstr(stderr_show(), "--max-size"));
	got = read_file(lib_path);
	assert_true(got.complete);
	assert_in_range(got.calls, 1, 199999);
	assert_int_equal(got.lost, 0);
}

TEST(the_second_file_begins_where_the_first_ended)
{
	struct play p = { .keep = new_hold(60 * SEC, 64 << 20) };
	struct got one, two;
	char path[128];

	begin(&p);
	for (int i = 0; i < 100; i++)
		call(&p, 0, MS);
	stderr_hide();
	assert_non_null(capture_sink_fire(p.keep));
	for (int i = 0; i < 50; i++)
		call(&p, 0, MS);
	end(&p, NULL);
	stderr_show();
	one = read_file(lib_path);
	name(path, 2);
	two = read_file(path);
	assert_int_equal(one.calls, 100);
	assert_int_equal(two.calls, 50);
	assert_int_equal(two.start_ns, one.stop_ns);
	unlink(path);
}

TEST(a_folder_that_is_not_there_is_refused_at_once)
{
	struct capture_sink_plan plan = { .before_ns = SEC, .max_bytes = 1 << 20 };

	stderr_hide();
	assert_null(capture_recorder_new(&plan, "/nowhere/at/all.gpr", &lib_funcs));
	assert_int_equal(errno, ENOENT);
	assert_non_null(strstr(stderr_show(), "/nowhere"));
}

TEST_GROUP(lib_setup, lib_teardown);
