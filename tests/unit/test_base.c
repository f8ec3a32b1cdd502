// SPDX-License-Identifier: BSD-3-Clause
/* Strings, durations and files: the promises of user/base. (Containers: test_containers.c.) */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/str.c"
#include "base/intervals.h"
#include "base/io.h"
#include "base/log.h"
#include "base/pairs.h"
#include "base/time.h"
#include "lib/random.h"
#include "lib/test.h"

/* ---- strings -------------------------------------------------------------------------------- */

static void as_word(const char *text, const char *wanted)
{
	struct strbuf sb = STRBUF_INIT;

	strbuf_add_shell(&sb, text);
	assert_string_equal(sb.s, wanted);
	strbuf_free(&sb);
}

TEST_TITLED("strbuf: a word for a shell has quotes where it needs them", strbuf_quotes_words)
{
	as_word("/a/b_1.gpr", "/a/b_1.gpr");
	as_word("", "''");
	as_word("a b", "'a b'");
	as_word("it's", "'it'\\''s'");
	as_word("$(x)", "'$(x)'");
	as_word("a|b", "'a|b'");
}

TEST_TITLED("strbuf: is a string at all times", strbuf_is_always_a_string)
{
	struct strbuf sb = STRBUF_INIT;
	char big[1000];
	char *s;

	assert_string_equal(sb.s, "");
	strbuf_reset(&sb);
	strbuf_free(&sb);
	s = strbuf_detach(&sb);
	assert_string_equal(s, "");
	free(s);
	memset(big, 'x', sizeof(big) - 1);
	big[sizeof(big) - 1] = '\0';
	strbuf_addstr(&sb, "a");
	strbuf_addch(&sb, 'b');
	strbuf_add(&sb, "c\0d", 3);
	strbuf_addf(&sb, "%d", 42);
	assert_int_equal(sb.len, 7);
	assert_memory_equal(sb.s, "abc\0d42", 8);
	strbuf_reset(&sb);
	assert_string_equal(sb.s, "");
	strbuf_addf(&sb, "<%s>", big);
	assert_int_equal(sb.len, sizeof(big) + 1);
	assert_int_equal(strlen(sb.s), sb.len);
	s = strbuf_detach(&sb);
	assert_int_equal(s[sizeof(big)], '>');
	free(s);
	assert_string_equal(sb.s, "");
	strbuf_addstr(&sb, "again");
	assert_string_equal(sb.s, "again");
	strbuf_free(&sb);
}

TEST_TITLED("strbuf: a failure is remembered, what follows is dropped", strbuf_remembers_failure)
{
	struct strbuf sb = STRBUF_INIT;

	strbuf_addstr(&sb, "kept");
	strbuf_add(&sb, "", SIZE_MAX - 2);
	assert_true(sb.failed);
	sb.failed = false;
	strbuf_add(&sb, "", SIZE_MAX / 2);
	assert_true(sb.failed);
	strbuf_addstr(&sb, "dropped");
	assert_string_equal(sb.s, "kept");
	assert_null(strbuf_detach(&sb));
	assert_false(sb.failed);
}

TEST_TITLED("strbuf: formats text of any length", strbuf_formats_at_any_length)
{
	/* Around the border of the buffer that short ones are formatted in. */
	for (int n = 250; n < 262; n++) {
		struct strbuf sb = STRBUF_INIT;

		strbuf_addf(&sb, "%*d", n, 7);
		assert_int_equal(sb.len, n);
		assert_int_equal(sb.s[n - 1], '7');
		assert_int_equal(sb.s[n], '\0');
		strbuf_free(&sb);
	}
}

TEST_TITLED("strpool: equal strings have one address for good", pool_keeps_one_address)
{
	struct strpool *p = strpool_new();
	const char *at[1000];
	char name[32];

	assert_non_null(p);
	for (int i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "name %d", i);
		at[i] = strpool_add(p, name);
		assert_string_equal(at[i], name);
	}
	for (int i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "name %d", i);
		assert_ptr_equal(strpool_add(p, name), at[i]);
		assert_string_equal(at[i], name);
	}
	assert_string_equal(strpool_add(p, ""), "");
	strpool_free(p);
	strpool_free(NULL);
}

TEST_TITLED("distance: edits between two words, of at most 63 characters", distances)
{
	char a[100], b[100];

	assert_int_equal(str_distance("", ""), 0);
	assert_int_equal(str_distance("", "abc"), 3);
	assert_int_equal(str_distance("abc", ""), 3);
	assert_int_equal(str_distance("report", "report"), 0);
	assert_int_equal(str_distance("reprot", "report"), 2);
	assert_int_equal(str_distance("stats", "stat"), 1);
	assert_int_equal(str_distance("kitten", "sitting"), 3);
	memset(a, 'a', sizeof(a));
	memset(b, 'b', sizeof(b));
	a[99] = b[99] = '\0';
	assert_int_equal(str_distance(a, b), 63);	/* of the first 63 */
	assert_int_equal(str_distance(a, ""), 63);
}

TEST_TITLED("distance: is a metric", distance_is_a_metric)
{

	for (int round = 0; round < random_rounds(5000); round++) {
		char w[3][8] = { { 0 } };
		unsigned int ab, bc, ac;

		for (int i = 0; i < 3; i++)
			for (uint64_t k = 0, n = below(7); k < n; k++)
				w[i][k] = (char)('a' + below(3));
		ab = str_distance(w[0], w[1]);
		bc = str_distance(w[1], w[2]);
		ac = str_distance(w[0], w[2]);
		assert_int_equal(ab, str_distance(w[1], w[0]));
		assert_int_equal(!ab, !strcmp(w[0], w[1]));
		assert_true(ac <= ab + bc);
	}
}

/* ---- durations ------------------------------------------------------------------------------------ */

TEST_TITLED("time: durations as people type them, others are refused", durations)
{
	static const struct { const char *text; uint64_t ns; } good[] = {
		{ "0", 0 }, { "10", 10 * NS_PER_SEC }, { "10s", 10 * NS_PER_SEC },
		{ "500ms", 500 * NS_PER_MS }, { "1.5s", 1500 * NS_PER_MS }, { "2m", 120 * NS_PER_SEC },
		{ "1h", 3600 * NS_PER_SEC }, { "7us", 7 * NS_PER_US }, { "9ns", 9 },
		{ "1e3ms", NS_PER_SEC }, { "0.5ns", 1 }, { "00.25s", 250 * NS_PER_MS },
	};
	static const char *const bad[] = {
		"", "s", "-1s", "+1s", " 1s", "1 s", "1sec", "1S", "0x10", "0X1s", "inf", "nan", "1e99",
		"1,5s", "10ss", "9e18ns", ".5s", "1d", "3000000h",
	};
	uint64_t ns;

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		if (time_parse(good[i].text, &ns))
			fail_msg("'%s' was refused", good[i].text);
		assert_int_equal(ns, good[i].ns);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (time_parse(bad[i], &ns) != -EINVAL)
			fail_msg("'%s' was accepted as %llu ns", bad[i], (unsigned long long)ns);
}

TEST_TITLED("time: moments from a beginning, and of the day", moments)
{
	const uint64_t hour = 3600 * NS_PER_SEC, day = 24 * hour;
	static const struct { const char *text; bool is_clock; uint64_t ns; } good[] = {
		{ "10s", false, 10 * NS_PER_SEC }, { "0", false, 0 }, { "12", false, 12 * NS_PER_SEC },
		{ "00:00", true, 0 }, { "09:15", true, 33300 * NS_PER_SEC },
		{ "23:59:59.25", true, 86399 * NS_PER_SEC + 250 * NS_PER_MS },
	};
	static const char *const bad[] = {
		"", ":", "9:15", "24:00", "09:60", "09:15:60", "09:15:", "09:15:02.", "09:15.5s",
		"09:15:02.5x", "-1s", "09:15 ",
	};
	struct time_moment m;

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		if (time_parse_moment(good[i].text, &m))
			fail_msg("'%s' was refused", good[i].text);
		assert_true(m.is_given);
		assert_int_equal(m.is_clock, good[i].is_clock);
		assert_int_equal(m.ns, good[i].ns);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (time_parse_moment(bad[i], &m) != -EINVAL)
			fail_msg("'%s' was accepted", bad[i]);
	/* 1970-01-02, 23:59:50 */
	setenv("TZ", "UTC", 1);
	tzset();
	assert_int_equal(time_of_day(day - NS_PER_SEC, 2 * day - 10 * NS_PER_SEC), 2 * day - NS_PER_SEC);
	assert_int_equal(time_of_day(5, 2 * day - 10 * NS_PER_SEC), 2 * day + 5);
	assert_int_equal(time_of_day(13 * hour, 2 * day - 10 * NS_PER_SEC), day + 13 * hour);
	assert_int_equal(time_of_day(11 * hour, 2 * day - 10 * NS_PER_SEC), 2 * day + 11 * hour);
}

TEST_TITLED("time: clocks go on", clocks_go_on)
{
	uint64_t before = time_now_ns();
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	assert_true(before <= (uint64_t)ts.tv_sec * NS_PER_SEC + (uint64_t)ts.tv_nsec);
	assert_true(time_now_ns() >= before);
	assert_true(time_wall_ns() > 1600000000 * NS_PER_SEC);
}

/* ---- files and messages ----------------------------------------------------------------------------- */

static char *read_back(int fd, size_t max, size_t *len)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return io_read_file(path, max, len);
}

TEST_TITLED("io: files up to a limit come back whole", files_up_to_a_limit)
{
	static const size_t sizes[] = { 0, 1, 4095, 4096, 4097, 8192, 100000 };
	char *data = malloc(100000), *back;
	size_t len = 77;

	assert_non_null(data);
	memset(data, 'd', 100000);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		int fd = memfd_create("file", 0);

		assert_int_equal(io_write_all(fd, data, sizes[i]), 0);
		back = read_back(fd, sizes[i], &len);
		assert_non_null(back);
		assert_int_equal(len, sizes[i]);
		assert_memory_equal(back, data, len);
		assert_int_equal(back[len], '\0');
		free(back);
		if (sizes[i]) {
			assert_null(read_back(fd, sizes[i] - 1, &len));
			assert_int_equal(errno, EFBIG);
		}
		close(fd);
	}
	free(data);
}

TEST_TITLED("io: what cannot be read is an error", files_that_cannot_be_read)
{
	char *endless;

	assert_null(io_read_file("/nonexistent/file", 10, NULL));
	assert_int_equal(errno, ENOENT);
	assert_null(io_read_file("/proc", 10, NULL));
	assert_int_equal(errno, EISDIR);
	endless = io_read_file("/dev/zero", 1 << 20, NULL);
	assert_null(endless);
	assert_int_equal(errno, EFBIG);
	assert_int_equal(io_write_all(-1, "x", 1), -EBADF);
	assert_int_equal(io_write_all(-1, "", 0), 0);
}

TEST_TITLED("io: a counter is readable from notify to clear, which never wait",
	    a_notified_counter_is_readable_until_cleared)
{
	int fd = eventfd(0, EFD_NONBLOCK);
	struct pollfd wait = { .fd = fd, .events = POLLIN };

	assert_int_equal(poll(&wait, 1, 0), 0);
	io_notify(fd);
	io_notify(fd);
	assert_int_equal(poll(&wait, 1, 0), 1);
	io_clear(fd);
	io_clear(fd);			/* nothing there: does not wait */
	assert_int_equal(poll(&wait, 1, 0), 0);
	errno = ENOSPC;
	io_close(&fd);
	assert_int_equal(fd, -1);
	io_close(&fd);
	assert_int_equal(errno, ENOSPC);
}

TEST_TITLED("log: one message is one line, whatever is in it", messages_are_one_line)
{
	int file = memfd_create("stderr", 0), saved = dup(STDERR_FILENO);
	char big[4000], said[8192];
	ssize_t n;

	memset(big, 'x', sizeof(big) - 1);
	big[sizeof(big) - 1] = '\0';
	dup2(file, STDERR_FILENO);
	errno = ENOSPC;
	log_error("a\nb\033[2Jc %d", 7);
	log_warn("%s", big);
	log_debug("not said");
	assert_int_equal(errno, ENOSPC);
	dup2(saved, STDERR_FILENO);
	n = pread(file, said, sizeof(said) - 1, 0);
	assert_true(n > 0);
	said[n] = '\0';
	assert_int_equal(strncmp(said, "gpuprof: a?b?[2Jc 7\ngpuprof: warning: xxx", 40), 0);
	assert_int_equal(said[n - 1], '\n');
	assert_ptr_equal(strchr(strchr(said, '\n') + 1, '\n'), said + n - 1);
	close(file);
	close(saved);
}

TEST_TITLED("pairs: one value a name, and no more names than allowed",
	    pairs_keep_one_value_a_name_and_no_more_than_allowed)
{
	struct pairs p = { 0 };
	char text[PAIRS_TEXT_MAX + 10];

	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	assert_null(pairs_get(&p, "rank"));
	assert_int_equal(pairs_set(&p, "rank", "1", 2), 0);
	assert_int_equal(pairs_set(&p, "rank", "2", 2), 0);
	assert_int_equal(p.n, 1);
	assert_string_equal(pairs_get(&p, "rank"), "2");
	assert_int_equal(pairs_set(&p, "job", text, 2), 0);
	assert_int_equal(strlen(pairs_get(&p, "job")), PAIRS_TEXT_MAX);
	assert_int_equal(pairs_set(&p, "pod", "x", 2), -ENOSPC);
	assert_null(pairs_get(&p, "pod"));
	pairs_free(&p);
	assert_int_equal(p.n, 0);
	pairs_free(&p);
}

TEST_TITLED("str: text of others is copied as one line, cut to fit",
	    text_of_others_is_copied_as_one_line)
{
	char out[8];

	str_copy_line(out, sizeof(out), "a\nb\x1b[1m\x7f", SIZE_MAX);
	assert_string_equal(out, "a?b?[1m");
	str_copy_line(out, sizeof(out), "\u00e4\t", SIZE_MAX);
	assert_string_equal(out, "\u00e4?");
	str_copy_line(out, sizeof(out), "abcdefghij", 3);
	assert_string_equal(out, "abc");
	str_copy_line(out, sizeof(out), "", SIZE_MAX);
	assert_string_equal(out, "");
	str_copy_line(out, 1, "abc", 3);
	assert_string_equal(out, "");
}

TEST(intervals_are_a_set_whatever_is_added_and_taken_out)
{
	for (int round = 0; round < random_rounds(500); round++) {
		struct intervals s = { .n = 0 };
		bool in[64] = { false };

		for (int step = 0; step < 40; step++) {
			uint64_t start = below(64), end = start + below(65 - start);
			bool adds = below(2);

			assert_int_equal(adds ? intervals_add(&s, start, end) :
						intervals_remove(&s, start, end), 0);
			for (uint64_t i = start; i < end; i++)
				in[i] = adds;
			for (uint64_t i = 0; i < 64; i++)
				assert_int_equal(intervals_overlap(&s, i, i + 1), in[i]);
		}
		intervals_free(&s);
	}
}

TEST_GROUP(random_seed, NULL);
