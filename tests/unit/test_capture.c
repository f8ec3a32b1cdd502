// SPDX-License-Identifier: BSD-3-Clause
/* Captures that nothing has happened to: what is written is what is read. */
#include "lib/capture_lib.h"

#include <errno.h>
#include <pthread.h>
#include <sys/file.h>

#include "capture/capture_codec.h"
#include "base/varint.h"
#include "lib/test.h"

static void assert_reads(const struct events *want)
{
	struct capture_reader *r = capture_open(lib_path);
	struct events got = { .at = { .n = 0 } };
	struct event_sink sink = { events_add, &got };

	assert_non_null(r);
	assert_int_equal(capture_read(r, &sink), 0);
	assert_int_equal(capture_state(r), CAPTURE_COMPLETE);
	assert_int_equal(capture_counts(r).bad_blocks, 0);
	assert_int_equal(got.at.n, want->at.n);
	for (size_t i = 0; i < want->at.n; i++) {
		const char *diff = event_diff(&want->at.v[i], &lib_funcs, &got.at.v[i],
					      capture_funcs(r));

		if (diff)
			fail_msg("event %zu of %zu differs in %s", i, want->at.n, diff);
	}
	events_free(&got);
	capture_free(r);
}

static struct events e, got;
static struct capture_reader *r;

AFTER_EACH
{
	events_free(&e);
	events_free(&got);
	capture_free(r);
	r = NULL;
}

TEST(varints_of_all_sizes_come_back)
{
	uint8_t buf[2 * VARINT_SLACK + 8];
	uint64_t v;

	for (unsigned int bit = 0; bit < 64; bit++) {
		for (int off = -1; off <= 1; off++) {
			uint64_t want = (1ull << bit) + (uint64_t)off;
			uint8_t *end = varint_put(buf, want);

			memset(end, 0xff, 8);
			assert_ptr_equal(varint_get(buf, &v), end);
			assert_true(v == want);
			assert_true(varint_unzigzag(varint_zigzag((int64_t)want)) == (int64_t)want);
			assert_int_equal(end - buf, varint_size(want));
			assert_true(varint_size(want) <= VARINT_MAX);
		}
	}
}

TEST(all_events_of_all_kinds_come_back_in_order)
{
	for (int round = 0; round < 40; round++) {
		events_random(&e, lib_below(4000));
		events_record(&e, lib_below(3) ? lib_below(300) : 0);
		assert_reads(&e);
		events_free(&e);
	}
}

TEST(a_long_capture_has_many_blocks_and_comes_back)
{
	events_random(&e, 150000);
	events_record(&e, 0);
	assert_reads(&e);
	r = capture_open(lib_path);
	assert_int_equal(capture_read(r, &(struct event_sink){ events_add, &e }), 0);
	assert_true(capture_counts(r).blocks > 2);
}

static int look_at_progress(void *ctx, const struct event *ev)
{
	const double progress = capture_progress(r);
	double *before = ctx;

	(void)ev;
	assert_true(progress >= *before && progress > 0 && progress <= 1);
	*before = progress;
	return 0;
}

TEST(the_progress_of_reading_grows_to_all_of_the_file)
{
	double progress = 0;

	events_random(&e, 150000);
	events_record(&e, 0);
	r = capture_open(lib_path);
	assert_int_equal(capture_read(r, &(struct event_sink){ look_at_progress, &progress }), 0);
	assert_true(progress > 0.9 && capture_progress(r) == 1);
}

TEST(more_threads_and_shapes_than_a_block_defines_come_back)
{
	for (uint32_t i = 0; i < 20000; i++)
		events_add(&e, &(struct event){ .kind = EVENT_CALL, .pid = i / 9, .tid = i / 2,
						.start_ns = i, .end_ns = i + 1, .call.entity = i });
	events_record(&e, 0);
	assert_reads(&e);
}

/* Worked example: two launches that differ in their times only, and the end of the session. */
TEST(a_launch_like_the_one_before_takes_five_bytes)
{
	struct event ev = { .kind = EVENT_CALL, .has = HAS_RESULT | HAS_END | HAS_SHAPE,
			    .pid = 7, .tid = 8, .seq = 1, .start_ns = 1000000, .end_ns = 1004000,
			    .call.entity = 0x401000,
			    .call.shape = { { 10, 1, 1 }, { 256, 1, 1 }, 0 } };
	struct capture_encoder *enc = capture_encoder_new(&lib_funcs);
	struct capture_block *b;
	size_t first;
	/* tag, shape 0, gap 500, duration 4100 */
	const uint8_t row[] = { GP_ROW_CALL | GP_ROW_SHAPE, 0x01, 0xd2, 0x07, 0x12, 0x40 };

	assert_int_equal(capture_encode(enc, &ev), 0);
	b = capture_encoder_take(enc);
	first = b->raw_bytes;
	capture_encoder_give(enc, b);

	assert_int_equal(capture_encode(enc, &ev), 0);
	ev.seq++;
	ev.start_ns += 4500;
	ev.end_ns = ev.start_ns + 4100;
	assert_int_equal(capture_encode(enc, &ev), 0);
	/* The third time, what follows this shape is known. */
	ev.seq++;
	ev.start_ns += 4600;
	ev.end_ns = ev.start_ns + 4100;
	assert_int_equal(capture_encode(enc, &ev), 0);
	b = capture_encoder_take(enc);
	assert_int_equal(b->raw_bytes, first + 6 + 5);
	assert_memory_equal(b->raw + first, row, sizeof(row));
	assert_int_equal(b->raw[first + 6], GP_ROW_CALL);
	assert_int_equal(b->events, 3);
	assert_int_equal(b->start_ns, 1000000);
	assert_int_equal(b->end_ns, ev.end_ns);
	free(b);
	capture_encoder_free(enc);
}

TEST(a_long_text_is_cut_between_characters)
{
	char text[6001], *p = text;
	const char *cut;

	while (p < text + 6000)
		p = stpcpy(p, "\xe2\x82\xac");	/* three bytes each */
	events_add(&e, &(struct event){ .kind = EVENT_FACT, .fact.key = "key",
					.fact.value = text });
	events_record(&e, 0);
	r = capture_open(lib_path);
	assert_int_equal(capture_read(r, &(struct event_sink){ events_add, &got }), 0);
	cut = got.at.v[0].fact.value;
	assert_int_equal(strlen(cut), (4096 - 3) / 3 * 3 + 3);
	assert_memory_equal(cut, text, strlen(cut) - 3);
	assert_string_equal(cut + strlen(cut) - 3, "...");
}

TEST(equal_functions_of_two_rows_become_one)
{
	struct funcs twins = { .n = 2, .v = { { "f", "cudart", CLASS_LAUNCH, 0 },
					      { "f", "cudart", CLASS_LAUNCH, 0 } } };
	struct capture_writer *w = lib_create(&twins);

	for (uint16_t i = 0; i < 10; i++) {
		assert_int_equal(capture_push(w, &(struct event){ .kind = EVENT_CALL,
								  .func = i % 2 }), 0);
		assert_int_equal(capture_flush(w), 0);
	}
	assert_int_equal(capture_close(w, NULL), 0);
	r = capture_open(lib_path);
	assert_int_equal(capture_read(r, &(struct event_sink){ events_add, &got }), 0);
	assert_int_equal(got.at.n, 10);
	assert_int_equal(capture_funcs(r)->n, 1);
}

TEST(reading_twice_delivers_twice)
{
	events_random(&e, 100);
	events_record(&e, 7);
	r = capture_open(lib_path);
	for (size_t i = 1; i <= 2; i++) {
		assert_int_equal(capture_read(r, &(struct event_sink){ events_add, &got }), 0);
		assert_int_equal(got.at.n, i * 100);
		assert_int_equal(capture_state(r), CAPTURE_COMPLETE);
		assert_int_equal(capture_counts(r).blocks, 15);
	}
}

static int refuse_third(void *ctx, const struct event *ev)
{
	(void)ev;
	return ++*(int *)ctx == 3 ? -EBADMSG : 0;
}

TEST(the_sinks_error_ends_the_reading)
{
	int seen = 0;

	events_random(&e, 100);
	events_record(&e, 7);
	r = capture_open(lib_path);
	assert_int_equal(capture_read(r, &(struct event_sink){ refuse_third, &seen }), -EBADMSG);
	assert_int_equal(seen, 3);
}

TEST(an_empty_session_is_a_complete_capture)
{
	events_record(&e, 0);
	assert_reads(&e);
}

TEST(a_function_that_is_not_in_the_table_is_refused)
{
	struct capture_writer *w = lib_create(&lib_funcs);
	const struct event bad = { .kind = EVENT_CALL, .func = 12 };

	assert_int_equal(capture_push(w, &(struct event){ .kind = EVENT_CALL }), 0);
	stderr_hide();
	assert_int_equal(capture_push(w, &bad), -EINVAL);
	assert_int_equal(capture_push(w, &bad), -EINVAL);
	assert_int_equal(capture_close(w, NULL), -EINVAL);
	assert_string_equal(stderr_show(), "gpuprof: cannot record an event of kind 1, function "
			    "12: no such kind or function; this is a bug in gpuprof\n");
	r = capture_open(lib_path);
	assert_int_equal(capture_read(r, &(struct event_sink){ events_add, &got }), 0);
	assert_int_equal(got.at.n, 1);
	assert_int_equal(capture_state(r), CAPTURE_CUT);
}

/* ---- another thread stores ---------------------------------------------------------------- */

struct handover {
	struct capture_writer *w;
	struct capture_block *block[64];
	size_t n;
};

static void keep_block(void *ctx, struct capture_block *b)
{
	struct handover *h = ctx;

	assert_true(h->n < 64);
	h->block[h->n++] = b;
}

static void *store_blocks(void *ctx)
{
	struct handover *h = ctx;

	for (size_t i = 0; i < h->n; i++)
		if (capture_store(h->w, h->block[i]))
			return h;
	return NULL;
}

TEST(another_thread_may_store_the_blocks)
{
	struct handover h = { .w = lib_create(&lib_funcs) };
	pthread_t thread;
	void *failed;

	events_random(&e, 1000);
	capture_defer(h.w, keep_block, &h);
	for (size_t i = 0; i < e.at.n; i++) {
		assert_int_equal(capture_push(h.w, &e.at.v[i]), 0);
		if (i % 90 == 0)
			assert_int_equal(capture_flush(h.w), 0);
	}
	assert_int_equal(pthread_create(&thread, NULL, store_blocks, &h), 0);
	pthread_join(thread, &failed);
	assert_null(failed);
	assert_int_equal(capture_close(h.w, NULL), 0);
	assert_reads(&e);
}

/* ---- the file ----------------------------------------------------------------------------- */

TEST(zstd_unpacks_all_rows)
{
	struct capture_writer *w;
	struct capture_stats stats;
	char command[256];
	FILE *out;
	size_t bytes = 0;

	if (system("command -v zstd >/dev/null 2>&1")) {
		print_message("skip: no zstd program\n");
		skip();
	}
	events_random(&e, 500);
	w = lib_create(&lib_funcs);
	for (size_t i = 0; i < e.at.n; i++) {
		capture_push(w, &e.at.v[i]);
		if (i % 100 == 0)
			capture_flush(w);
	}
	assert_int_equal(capture_close(w, &stats), 0);
	snprintf(command, sizeof(command), "zstd -dc %s", lib_path);
	out = popen(command, "r");
	while (fgetc(out) != EOF)
		bytes++;
	assert_int_equal(pclose(out), 0);
	assert_int_equal(bytes, stats.raw_bytes + sizeof(struct gp_capture_end));
}

TEST(only_its_owner_may_read_it)
{
	struct stat st;

	unlink(lib_path);
	umask(0);
	events_record(&e, 0);
	assert_int_equal(stat(lib_path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(chmod(lib_path, 0666), 0);
	events_record(&e, 0);
	assert_int_equal(stat(lib_path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
}

static void assert_refuses(const char *path, int err, const char *message)
{
	struct capture_writer *w;
	char want[512];

	stderr_hide();
	errno = 0;
	w = capture_create(path, &lib_funcs);
	assert_int_equal(errno, err);
	if (w)
		capture_close(w, NULL);
	snprintf(want, sizeof(want), "gpuprof: %s\n", message);
	assert_string_equal(stderr_show(), want);
	assert_null(w);
}

TEST(a_file_that_is_no_capture_is_not_overwritten)
{
	char message[256], link[128];
	struct bytes b;
	int fd;

	file_write("letters to a friend, long", 25);
	snprintf(message, sizeof(message), "%s exists and is not a capture; choose another name",
		 lib_path);
	assert_refuses(lib_path, EEXIST, message);
	b = file_read();
	assert_int_equal(b.n, 25);
	free(b.v);

	snprintf(link, sizeof(link), "%s/link", lib_dir);
	assert_int_equal(symlink(lib_path, link), 0);
	snprintf(message, sizeof(message), "cannot create %s: it is a symbolic link; choose "
		 "another name", link);
	assert_refuses(link, ELOOP, message);
	unlink(link);

	assert_int_equal(mkfifo(link, 0600), 0);
	snprintf(message, sizeof(message), "%s is not a regular file; choose another name", link);
	assert_refuses(link, EEXIST, message);
	unlink(link);

	file_write("", 0);
	fd = open(lib_path, O_RDWR);
	assert_int_equal(flock(fd, LOCK_EX), 0);
	snprintf(message, sizeof(message), "%s is being written by another gpuprof; choose "
		 "another name", lib_path);
	assert_refuses(lib_path, EBUSY, message);
	close(fd);

	snprintf(message, sizeof(message), "cannot create %s/no/such: No such file or directory",
		 lib_dir);
	snprintf(link, sizeof(link), "%s/no/such", lib_dir);
	assert_refuses(link, ENOENT, message);
}

TEST_GROUP(lib_setup, lib_teardown);
