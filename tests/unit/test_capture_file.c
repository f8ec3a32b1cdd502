// SPDX-License-Identifier: BSD-3-Clause
/* The names of captures, and that none is lost because another one is to have its name. */
#include <errno.h>

#include "capture/capture_set.c"
#include "lib/capture_lib.h"
#include "lib/test.h"

static struct strbuf name = STRBUF_INIT;

/* "c.old.gpr" in the test's folder; valid until the next call. */
static const char *in_dir(const char *base)
{
	strbuf_reset(&name);
	strbuf_addf(&name, "%s/%s", lib_dir, base);
	return name.s;
}

static void record(const char *path, unsigned int n_events)
{
	struct capture_writer *w = capture_create(path, &lib_funcs);

	assert_non_null(w);
	for (unsigned int i = 0; i < n_events; i++)
		assert_int_equal(capture_push(w, &(struct event){ .kind = EVENT_WATERMARK,
								  .end_ns = i + 1 }), 0);
	assert_int_equal(capture_close(w, NULL), 0);
}

static int count(void *n, const struct event *ev)
{
	*(unsigned int *)n += ev->kind == EVENT_WATERMARK;
	return 0;
}

/* How many events the capture has; it is removed. */
static unsigned int take_events(const char *base)
{
	struct capture_reader *r = capture_open(in_dir(base));
	unsigned int n = 0;

	assert_non_null(r);
	assert_int_equal(capture_read(r, &(struct event_sink){ count, &n }), 0);
	capture_free(r);
	unlink(in_dir(base));
	return n;
}

static void said(const char *path, const char *as)
{
	char want[512];

	snprintf(want, sizeof(want), "gpuprof: %s/%s is an older capture and kept as %s/%s\n", lib_dir,
		 path, lib_dir, as);
	assert_string_equal(stderr_show(), want);
}

TEST(an_older_capture_is_renamed_with_a_message)
{
	static const char *const as[] = { "a.old.gpr", "a.old2.gpr", "a.old3.gpr" };

	record(in_dir("a.gpr"), 1);
	for (unsigned int i = 0; i < 3; i++) {
		stderr_hide();
		record(in_dir("a.gpr"), i + 2);
		said("a.gpr", as[i]);
	}
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(take_events(as[i]), i + 1);
	assert_int_equal(take_events("a.gpr"), 4);
}

TEST(a_name_without_gpr_gets_its_old_at_the_end)
{
	record(in_dir("run"), 1);
	stderr_hide();
	record(in_dir("run"), 2);
	said("run", "run.old");
	assert_int_equal(take_events("run.old"), 1);
	assert_int_equal(take_events("run"), 2);
}

TEST(one_that_is_being_written_stays_as_it_is)
{
	struct capture_writer *w = capture_create(in_dir("a.gpr"), &lib_funcs);

	assert_non_null(w);
	stderr_hide();
	assert_int_equal(capture_file_create(in_dir("a.gpr")), -EBUSY);
	assert_non_null(strstr(stderr_show(), "is being written by another gpuprof"));
	assert_int_equal(access(in_dir("a.old.gpr"), F_OK), -1);
	assert_int_equal(capture_close(w, NULL), 0);
	assert_int_equal(take_events("a.gpr"), 0);
}

static void touch(const char *base)
{
	int fd = open(in_dir(base), O_WRONLY | O_CREAT | O_EXCL, 0600);

	assert_true(fd >= 0);
	close(fd);
}

TEST(the_highest_number_of_a_name_is_found)
{
	static const char *const others[] = {
		"run.gpr", "run.000003.gpr.zst", "run.3.gpr", "run.-00009.gpr", "run.000010", "xrun.000011.gpr",
		"run.000012x.gpr", "run2.000013.gpr", "run.99999999999999999999.gpr",
	};
	static const char *const these[] = { "run.000001.gpr", "run.000007.gpr", "run.1000000.gpr" };

	assert_int_equal(capture_file_last("/no/such/folder/run.gpr"), 0);
	for (size_t i = 0; i < 9; i++)
		touch(others[i]);
	assert_int_equal(capture_file_last(in_dir("run.gpr")), 0);
	assert_int_equal(capture_file_last(in_dir("run")), 10);
	touch(these[0]);
	touch(these[1]);
	assert_int_equal(capture_file_last(in_dir("run.gpr")), 7);
	touch(these[2]);
	assert_int_equal(capture_file_last(in_dir("run.gpr")), 1000000);
	for (size_t i = 0; i < 9; i++)
		unlink(in_dir(others[i]));
	for (size_t i = 0; i < 3; i++)
		unlink(in_dir(these[i]));
}

static int free_name(void **state)
{
	strbuf_free(&name);
	return lib_teardown(state);
}

TEST_GROUP(lib_setup, free_name);
