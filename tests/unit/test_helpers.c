// SPDX-License-Identifier: BSD-3-Clause
/*
 * Helpers of processes that come and go, as the engine meets them: each is read to its end, and what it
 * needed is given back then.
 */
#include <dirent.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/time.h"
#include "event/helpers.h"
#include "gpuprof/work.h"
#include "helper/ring.h"

#define WAIT_NS (20 * NS_PER_SEC)
#define RING 65536

static int count_losses(void *ctx, const struct event *ev)
{
	*(unsigned int *)ctx += ev->kind == EVENT_UNSEEN && ev->bytes == 7;
	return 0;
}

static unsigned int count_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned int n = 0;

	assert_non_null(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

/* Tells of one loss when it has a reader; then, torn, it dies within a record. */
static void be_process(bool torn)
{
	struct gp_ring_loss loss = { .since_ns = time_now_ns(), .until_ns = time_now_ns(), .count = 7 };
	struct helper_ring r;
	uint32_t fresh;

	alarm(60);		/* a test that fails leaves nobody behind */
	if (helper_ring_open(&r, RING, time_now_ns()))
		_exit(1);
	while (helper_ring_look(&r, time_now_ns(), &fresh), !fresh)
		usleep(1000);
	helper_ring_admit(&r);
	helper_ring_send(&r, GP_RING_LOSS, &loss, sizeof(loss));
	if (torn)
		r.head->slot[0].written += 64;
	_exit(0);
}

static enum helpers_state state_of(const struct helpers *h, size_t i)
{
	struct helpers_status st;

	helpers_status(h, i, &st);
	return st.state;
}

static void run_one(struct helpers *h, bool torn)
{
	unsigned int losses = 0;
	const struct event_sink sink = { count_losses, &losses };
	uint64_t end_ns = time_now_ns() + WAIT_NS;
	pid_t pid = fork();
	size_t i = helpers_count(h);

	assert_true(pid >= 0);
	if (!pid)
		be_process(torn);
	assert_int_equal(helpers_add(h, &(struct helpers_process){ .pid = pid, .own_pid = pid }), 0);
	while (state_of(h, i) != HELPERS_ENDED && time_now_ns() < end_ns) {
		assert_int_equal(helpers_pump(h, time_now_ns(), &sink), 0);
		usleep(1000);
	}
	assert_int_equal(state_of(h, i), HELPERS_ENDED);
	assert_int_equal(losses, 1);
	assert_int_equal(helpers_pump(h, time_now_ns(), &sink), 0);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void one_that_died_within_a_record_is_read_to_there(void **state)
{
	struct helpers *h = helpers_new(HELPERS_WORKS_ONLY);

	(void)state;
	assert_non_null(h);
	run_one(h, true);
	helpers_free(h);
}

static void those_that_ended_keep_no_descriptor(void **state)
{
	struct helpers *h = helpers_new(HELPERS_TELL_CALLS);
	unsigned int before = count_fds();
	struct helpers_status st;

	(void)state;
	assert_non_null(h);
	for (int i = 0; i < 5; i++)
		run_one(h, false);
	assert_int_equal(count_fds(), before);
	assert_int_equal(helpers_count(h), 5);
	helpers_status(h, 4, &st);
	assert_int_equal(st.counts.dropped, 7);		/* it is remembered */
	helpers_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_that_died_within_a_record_is_read_to_there),
		cmocka_unit_test(those_that_ended_keep_no_descriptor),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
