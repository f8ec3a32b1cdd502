// SPDX-License-Identifier: BSD-3-Clause
/*
 * Several files of one session: each can be read alone, all together hold every call once, and the limits
 * hold.
 */
#include "keep_play.h"

#include <errno.h>
#include <inttypes.h>

#include "capture/capture_sink.h"
#include "lib/test.h"

/* ---- several files -------------------------------------------------------------------------- */

#define FILE_BYTES (64u << 10)

static void play_much(struct play *p, unsigned int n)
{
	begin(p);
	for (unsigned int i = 0; i < n; i++) {
		call(p, i % 3, 1000);
		if (i % 64 == 0)
			push(p, (struct event){ .kind = EVENT_WATERMARK, .end_ns = p->now_ns });
	}
}

static struct capture_sink *new_set(uint64_t max_files)
{
	struct capture_sink *k = capture_set_new(&(struct capture_sink_plan){
		.max_bytes = FILE_BYTES, .max_files = max_files }, lib_path, &lib_funcs);

	assert_non_null(k);
	return k;
}

static uint64_t check_files(uint64_t first, uint64_t last)
{
	uint64_t calls = 0, before_ns = 0;
	char path[128];
	struct got reported;
	struct stat st;

	for (uint64_t i = first; i <= last; i++) {
		name(path, i);
		assert_int_equal(stat(path, &st), 0);
		assert_true(st.st_size <= FILE_BYTES);
		reported = read_file(path);
		assert_true(reported.complete && reported.has_host);
		assert_int_equal(reported.lost, 0);
		assert_true(reported.start_ns >= before_ns && reported.stop_ns >= reported.start_ns);
		before_ns = reported.stop_ns;
		calls += reported.calls;
	}
	return calls;
}

TEST(files_together_hold_every_call_once_and_each_reads_alone)
{
	struct play p = { .keep = new_set(0) };
	struct capture_sink_stats stats;

	play_much(&p, 60000);
	end(&p, &stats);
	assert_true(stats.files > 3 && !stats.removed);
	assert_int_equal(check_files(1, stats.files), p.calls);
}

TEST(only_the_newest_files_are_left)
{
	struct play p = { .keep = new_set(2) };
	struct capture_sink_stats stats;
	char path[128];

	play_much(&p, 60000);
	end(&p, &stats);
	assert_int_equal(stats.removed, stats.files - 2);
	name(path, stats.files - 2);
	assert_int_equal(access(path, F_OK), -1);
	name(path, stats.files - 1);
	assert_string_equal(stats.first_path, path);
	assert_true(check_files(stats.files - 1, stats.files) < p.calls);
}

/* A queue whose other end is slow. */
struct queue {
	struct capture_sink *keep;
	struct capture_block *block[256];
	size_t n;
};

static void drain_queue(struct queue *q)
{
	for (size_t i = 0; i < q->n; i++)
		assert_int_equal(capture_sink_store(q->keep, q->block[i]), 0);
	q->n = 0;
}

static void queue_block(void *ctx, struct capture_block *b)
{
	struct queue *q = ctx;

	q->block[q->n++] = b;
	if (q->n == 20)
		drain_queue(q);
}

TEST(blocks_that_wait_count_for_the_limit)
{
	struct play p = { .keep = new_set(0) };
	struct queue q = { .keep = p.keep };
	struct capture_sink_stats stats;

	capture_sink_defer(p.keep, queue_block, &q);
	play_much(&p, 60000);
	push(&p, (struct event){ .kind = EVENT_STOP, .end_ns = p.now_ns });
	drain_queue(&q);
	p.keep->full = NULL;
	assert_int_equal(capture_sink_close(p.keep, &stats), 0);
	assert_int_equal(check_files(1, stats.files), p.calls);
}

TEST(a_call_that_lasts_begins_every_file_it_is_open_in)
{
	struct play p = { .keep = new_set(0) };
	struct capture_sink_stats stats;
	char path[128];

	begin(&p);
	call(&p, 3, 10);
	enter(&p, 3);
	for (int i = 0; i < 60000; i++)
		call(&p, 0, 1000);
	end(&p, &stats);
	assert_true(stats.files > 2);
	for (uint64_t i = 1; i <= stats.files; i++) {
		struct got reported;

		name(path, i);
		reported = read_file(path);
		assert_int_equal(reported.enters, 1);
		assert_int_equal(reported.first_seq[3], 1);
		assert_int_equal(reported.first_seq[0], 1);
		assert_int_equal(reported.lost, 0);
		unlink(path);
	}
}

TEST(losses_stay_in_the_file_they_happened_in)
{
	struct play p = { .keep = new_set(0) };
	struct capture_sink_stats stats;
	uint64_t lost = 0, files_with_loss = 0;
	char path[128];

	begin(&p);
	for (int i = 0; i < 60000; i++) {
		p.seq[0] += i == 30000 ? 7 : 0;
		call(&p, 0, 1000);
	}
	end(&p, &stats);
	for (uint64_t i = 1; i <= stats.files; i++) {
		struct got reported;

		name(path, i);
		reported = read_file(path);
		lost += reported.lost;
		files_with_loss += reported.lost > 0;
		unlink(path);
	}
	assert_int_equal(lost, 7);
	assert_int_equal(files_with_loss, 1);
}

TEST(without_a_limit_it_is_one_file_as_it_came)
{
	struct capture_sink_plan plan = { .max_bytes = 0 };
	struct events e = { .at = { .n = 0 } }, got = { .at = { .n = 0 } };
	struct capture_sink *k = capture_set_new(&plan, lib_path, &lib_funcs);
	struct capture_reader *r;

	events_random(&e, 2000);
	for (size_t i = 0; i < e.at.n; i++)
		assert_int_equal(capture_sink_push(k, &e.at.v[i]), 0);
	assert_int_equal(capture_sink_close(k, NULL), 0);
	r = capture_open(lib_path);
	assert_int_equal(capture_read(r, &(struct event_sink){ events_add, &got }), 0);
	assert_int_equal(got.at.n, e.at.n);
	for (size_t i = 0; i < e.at.n; i++)
		assert_int_equal(got.at.v[i].seq, e.at.v[i].seq);
	capture_free(r);
	unlink(lib_path);
	events_free(&e);
	events_free(&got);
}

static int count_calls(void *n, const struct event *ev)
{
	*(uint64_t *)n += ev->kind == EVENT_CALL;
	return 0;
}

TEST(any_events_are_survived_and_no_call_is_lost)
{
	struct events e = { .at = { .n = 0 } };
	struct capture_sink *k = new_set(0);
	struct capture_sink_stats stats;
	uint64_t pushed = 0, read = 0;
	char path[128];

	events_random(&e, 20000);
	for (size_t i = 0; i < e.at.n; i++) {
		assert_int_equal(capture_sink_push(k, &e.at.v[i]), 0);
		count_calls(&pushed, &e.at.v[i]);
	}
	assert_int_equal(capture_sink_close(k, &stats), 0);
	for (uint64_t i = 1; i <= stats.files; i++) {
		struct capture_reader *r;

		name(path, i);
		r = capture_open(path);
		assert_int_equal(capture_read(r, &(struct event_sink){ count_calls, &read }), 0);
		assert_int_equal(capture_state(r), CAPTURE_COMPLETE);
		capture_free(r);
		unlink(path);
	}
	assert_int_equal(read, pushed);
	events_free(&e);
}

TEST_GROUP(lib_setup, lib_teardown);
