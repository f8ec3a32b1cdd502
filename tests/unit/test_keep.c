// SPDX-License-Identifier: BSD-3-Clause
/*
 * Several files of one session, and the last stretch of one: each file can be read alone, all
 * together hold every call once, and the limits hold.
 */
#include "lib/capture_lib.h"

#include <errno.h>
#include <inttypes.h>

#include "event/capture_file.h"
#include "event/capture_hold.h"
#include "event/capture_set.h"
#include "ledger/model.h"

#define SEC 1000000000ull
#define MS 1000000ull

/* ---- a session: threads that launch (function 1: one record) and sync (3: two) -------------- */

struct play {
	struct keep *keep;
	uint64_t now_ns;
	uint32_t seq[4];
	uint64_t calls;
};

static void push(struct play *p, struct event ev)
{
	assert_int_equal(keep_push(p->keep, &ev), 0);
}

static void begin(struct play *p)
{
	p->now_ns = 100 * SEC;
	push(p, (struct event){ .kind = EVENT_FACT, .text = "host", .text2 = "somewhere" });
	push(p, (struct event){ .kind = EVENT_START, .start_ns = p->now_ns });
	push(p, (struct event){ .kind = EVENT_PROCESS, .pid = 10, .tid = 10, .start_ns = 5 * SEC,
				.text = "train", .text2 = "./train --fast" });
	push(p, (struct event){ .kind = EVENT_IDENTITY, .pid = 10, .tid = 10, .text = "rank",
				.text2 = "3" });
	for (uint32_t t = 0; t < 4; t++)
		push(p, (struct event){ .kind = EVENT_THREAD, .pid = 10, .tid = 10 + t,
					.start_ns = 5 * SEC, .text = "thread" });
}

static void call(struct play *p, uint32_t t, uint64_t ns)
{
	push(p, (struct event){ .kind = EVENT_CALL, .pid = 10, .tid = 10 + t, .seq = ++p->seq[t],
				.func = 6, .has = HAS_ENTITY, .entity = lib_below(1u << 20),
				.start_ns = p->now_ns, .end_ns = p->now_ns + ns });
	p->now_ns += ns;
	p->calls++;
}

static void enter(struct play *p, uint32_t t)
{
	push(p, (struct event){ .kind = EVENT_ENTER, .pid = 10, .tid = 10 + t, .seq = ++p->seq[t],
				.func = 1, .start_ns = p->now_ns });
}

static void end(struct play *p, struct keep_stats *stats)
{
	push(p, (struct event){ .kind = EVENT_STOP, .end_ns = p->now_ns });
	assert_int_equal(keep_close(p->keep, stats), 0);
}

/* ---- what a file says ----------------------------------------------------------------------- */

struct told {
	uint64_t calls, enters, lost, start_ns, stop_ns;
	uint64_t first_seq[4];
	bool complete, has_host;
};

struct reading {
	struct told *told;
	struct model *model;
};

static int hear(void *ctx, const struct event *ev)
{
	struct reading *r = ctx;

	r->told->calls += ev->kind == EVENT_CALL;
	r->told->enters += ev->kind == EVENT_ENTER;
	if ((ev->kind == EVENT_CALL || ev->kind == EVENT_ENTER) && !r->told->first_seq[ev->tid - 10])
		r->told->first_seq[ev->tid - 10] = ev->seq;
	if (ev->kind == EVENT_START)
		r->told->start_ns = ev->start_ns;
	if (ev->kind == EVENT_STOP)
		r->told->stop_ns = ev->end_ns;
	return model_push(r->model, ev);
}

static struct told read_file(const char *path)
{
	struct capture_reader *c = capture_open(path);
	struct told told = { 0 };
	struct model_counts counts;
	struct reading r = { .told = &told };

	assert_non_null(c);
	r.model = model_new(capture_funcs(c));
	assert_int_equal(capture_read(c, &(struct event_sink){ hear, &r }), 0);
	model_counts(r.model, &counts);
	told.lost = counts.lost;
	told.complete = capture_state(c) == CAPTURE_COMPLETE;
	told.has_host = model_fact(r.model, "host") != NULL;
	assert_int_equal(model_processes(r.model), 1);
	assert_string_equal(model_process(r.model, 0)->cmdline, "./train --fast");
	assert_string_equal(model_identity(r.model, 0, "rank"), "3");
	model_free(r.model);
	capture_free(c);
	unlink(path);	/* for the next test */
	return told;
}

static void name(char *out, uint64_t number)
{
	struct strbuf sb = STRBUF_INIT;

	capture_file_number(&sb, lib_path, number);
	snprintf(out, 128, "%s", sb.s);
	strbuf_free(&sb);
}

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

static struct keep *new_set(uint64_t max_files)
{
	struct keep *k = capture_set_new(&(struct capture_set_plan){
		.path = lib_path, .max_bytes = FILE_BYTES, .max_files = max_files }, &lib_funcs);

	assert_non_null(k);
	return k;
}

static uint64_t check_files(uint64_t first, uint64_t last)
{
	uint64_t calls = 0, before_ns = 0;
	char path[128];
	struct told told;
	struct stat st;

	for (uint64_t i = first; i <= last; i++) {
		name(path, i);
		assert_int_equal(stat(path, &st), 0);
		assert_true(st.st_size <= FILE_BYTES);
		told = read_file(path);
		assert_true(told.complete && told.has_host);
		assert_int_equal(told.lost, 0);
		assert_true(told.start_ns >= before_ns && told.stop_ns >= told.start_ns);
		before_ns = told.stop_ns;
		calls += told.calls;
	}
	return calls;
}

static void files_together_hold_every_call_once_and_each_reads_alone(void **state)
{
	struct play p = { .keep = new_set(0) };
	struct keep_stats stats;

	(void)state;
	play_much(&p, 60000);
	end(&p, &stats);
	assert_true(stats.files > 3 && !stats.removed);
	assert_int_equal(check_files(1, stats.files), p.calls);
}

static void only_the_newest_files_are_left(void **state)
{
	struct play p = { .keep = new_set(2) };
	struct keep_stats stats;
	char path[128];

	(void)state;
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
	struct keep *keep;
	struct capture_block *block[256];
	size_t n;
};

static void drain_queue(struct queue *q)
{
	for (size_t i = 0; i < q->n; i++)
		assert_int_equal(keep_store(q->keep, q->block[i]), 0);
	q->n = 0;
}

static void queue_block(void *ctx, struct capture_block *b)
{
	struct queue *q = ctx;

	q->block[q->n++] = b;
	if (q->n == 20)
		drain_queue(q);
}

static void blocks_that_wait_count_for_the_limit(void **state)
{
	struct play p = { .keep = new_set(0) };
	struct queue q = { .keep = p.keep };
	struct keep_stats stats;

	(void)state;
	keep_defer(p.keep, queue_block, &q);
	play_much(&p, 60000);
	push(&p, (struct event){ .kind = EVENT_STOP, .end_ns = p.now_ns });
	drain_queue(&q);
	p.keep->full = NULL;
	assert_int_equal(keep_close(p.keep, &stats), 0);
	assert_int_equal(check_files(1, stats.files), p.calls);
}

static void a_call_that_lasts_begins_every_file_it_is_open_in(void **state)
{
	struct play p = { .keep = new_set(0) };
	struct keep_stats stats;
	char path[128];

	(void)state;
	begin(&p);
	call(&p, 3, 10);
	enter(&p, 3);
	for (int i = 0; i < 60000; i++)
		call(&p, 0, 1000);
	end(&p, &stats);
	assert_true(stats.files > 2);
	for (uint64_t i = 1; i <= stats.files; i++) {
		struct told told;

		name(path, i);
		told = read_file(path);
		assert_int_equal(told.enters, 1);
		assert_int_equal(told.first_seq[3], 1);
		assert_int_equal(told.first_seq[0], 1);
		assert_int_equal(told.lost, 0);
		unlink(path);
	}
}

static void losses_stay_in_the_file_they_happened_in(void **state)
{
	struct play p = { .keep = new_set(0) };
	struct keep_stats stats;
	uint64_t lost = 0, files_with_loss = 0;
	char path[128];

	(void)state;
	begin(&p);
	for (int i = 0; i < 60000; i++) {
		p.seq[0] += i == 30000 ? 7 : 0;
		call(&p, 0, 1000);
	}
	end(&p, &stats);
	for (uint64_t i = 1; i <= stats.files; i++) {
		struct told told;

		name(path, i);
		told = read_file(path);
		lost += told.lost;
		files_with_loss += told.lost > 0;
		unlink(path);
	}
	assert_int_equal(lost, 7);
	assert_int_equal(files_with_loss, 1);
}

static void without_a_limit_it_is_one_file_as_it_came(void **state)
{
	struct capture_set_plan plan = { .path = lib_path };
	struct events e = { .texts = NULL }, got = { .texts = NULL };
	struct keep *k = capture_set_new(&plan, &lib_funcs);
	struct capture_reader *r;

	(void)state;
	events_random(&e, 2000);
	for (size_t i = 0; i < e.at.n; i++)
		assert_int_equal(keep_push(k, &e.at.v[i]), 0);
	assert_int_equal(keep_close(k, NULL), 0);
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

static void any_events_are_survived_and_no_call_is_lost(void **state)
{
	struct events e = { .texts = NULL };
	struct keep *k = new_set(0);
	struct keep_stats stats;
	uint64_t pushed = 0, read = 0;
	char path[128];

	(void)state;
	events_random(&e, 20000);
	for (size_t i = 0; i < e.at.n; i++) {
		assert_int_equal(keep_push(k, &e.at.v[i]), 0);
		count_calls(&pushed, &e.at.v[i]);
	}
	assert_int_equal(keep_close(k, &stats), 0);
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

/* ---- the last stretch ----------------------------------------------------------------------- */

static struct keep *new_hold(uint64_t before_ns, uint64_t max_bytes)
{
	struct keep *k = capture_hold_new(&(struct capture_hold_plan){
		.path = lib_path, .before_ns = before_ns, .max_bytes = max_bytes, .at_end = true },
		&lib_funcs);

	assert_non_null(k);
	return k;
}

static void only_the_last_stretch_is_written(void **state)
{
	struct play p = { .keep = new_hold(SEC, 64 << 20) };
	struct told told;

	(void)state;
	begin(&p);
	for (int i = 0; i < 10000; i++)
		call(&p, (uint32_t)i % 3, MS);
	stderr_hide();
	end(&p, NULL);
	stderr_show();
	told = read_file(lib_path);
	assert_true(told.complete && told.has_host);
	assert_in_range(told.calls, 999, 1001);
	assert_int_equal(told.stop_ns - told.start_ns, SEC);
	assert_int_equal(told.first_seq[0], 1);
	assert_int_equal(told.lost, 0);
}

static void a_session_shorter_than_the_stretch_is_written_whole(void **state)
{
	struct play p = { .keep = new_hold(60 * SEC, 64 << 20) };
	struct told told;

	(void)state;
	begin(&p);
	for (int i = 0; i < 100; i++)
		call(&p, 0, MS);
	stderr_hide();
	end(&p, NULL);
	stderr_show();
	told = read_file(lib_path);
	assert_int_equal(told.calls, 100);
	assert_int_equal(told.stop_ns - told.start_ns, 100 * MS);
}

static void a_call_open_since_long_is_in_it(void **state)
{
	struct play p = { .keep = new_hold(SEC, 64 << 20) };
	struct told told;

	(void)state;
	begin(&p);
	call(&p, 2, MS);
	enter(&p, 2);
	for (int i = 0; i < 10000; i++)
		call(&p, 0, MS);
	stderr_hide();
	end(&p, NULL);
	stderr_show();
	told = read_file(lib_path);
	assert_int_equal(told.enters, 1);
	assert_int_equal(told.first_seq[2], 1);
	assert_int_equal(told.lost, 0);
}

static void memory_is_bounded_and_it_says_so(void **state)
{
	struct play p = { .keep = new_hold(1000 * SEC, 64 << 10) };
	struct told told;

	(void)state;
	begin(&p);
	for (int i = 0; i < 200000; i++) {
		call(&p, 0, 1000);
		assert_true(capture_hold_bytes(p.keep) <= (64 << 10));
		if (i % 1000 == 0)
			assert_int_equal(keep_flush(p.keep), 0);
	}
	stderr_hide();
	end(&p, NULL);
	assert_non_null(strstr(stderr_show(), "--max-size"));
	told = read_file(lib_path);
	assert_true(told.complete);
	assert_in_range(told.calls, 1, 199999);
	assert_int_equal(told.lost, 0);
}

static void the_second_file_begins_where_the_first_ended(void **state)
{
	struct play p = { .keep = new_hold(60 * SEC, 64 << 20) };
	struct told one, two;
	char path[128];

	(void)state;
	begin(&p);
	for (int i = 0; i < 100; i++)
		call(&p, 0, MS);
	stderr_hide();
	assert_int_equal(keep_fire(p.keep), 0);
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

static void a_folder_that_is_not_there_is_refused_at_once(void **state)
{
	struct capture_hold_plan plan = { .path = "/nowhere/at/all.gpr", .before_ns = SEC,
					  .max_bytes = 1 << 20 };

	(void)state;
	stderr_hide();
	assert_null(capture_hold_new(&plan, &lib_funcs));
	assert_int_equal(errno, ENOENT);
	assert_non_null(strstr(stderr_show(), "/nowhere"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_together_hold_every_call_once_and_each_reads_alone),
		cmocka_unit_test(only_the_newest_files_are_left),
		cmocka_unit_test(blocks_that_wait_count_for_the_limit),
		cmocka_unit_test(a_call_that_lasts_begins_every_file_it_is_open_in),
		cmocka_unit_test(losses_stay_in_the_file_they_happened_in),
		cmocka_unit_test(without_a_limit_it_is_one_file_as_it_came),
		cmocka_unit_test(any_events_are_survived_and_no_call_is_lost),
		cmocka_unit_test(only_the_last_stretch_is_written),
		cmocka_unit_test(a_session_shorter_than_the_stretch_is_written_whole),
		cmocka_unit_test(a_call_open_since_long_is_in_it),
		cmocka_unit_test(memory_is_bounded_and_it_says_so),
		cmocka_unit_test(the_second_file_begins_where_the_first_ended),
		cmocka_unit_test(a_folder_that_is_not_there_is_refused_at_once),
	};

	lib_seed();
	return cmocka_run_group_tests(tests, lib_setup, lib_teardown);
}
