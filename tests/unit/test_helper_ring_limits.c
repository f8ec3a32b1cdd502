// SPDX-License-Identifier: BSD-3-Clause
/* Where a process may have no large file its ring is small, or it has none; and it lives on. */
#include "helper_ring_room.h"

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "inject/install.h"
#include "lib/test.h"

#define USUAL GP_RING_BYTES_USUAL

/* What a process does that may have no file of more than so many bytes. */
static void limited(uint64_t bytes, void (*run)(void))
{
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		struct rlimit limit;

		getrlimit(RLIMIT_FSIZE, &limit);
		limit.rlim_cur = bytes;
		signal(SIGXFSZ, SIG_DFL);
		if (setrlimit(RLIMIT_FSIZE, &limit))
			_exit(99);
		run();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void must(bool holds, int code)
{
	if (!holds)
		_exit(code);
}

static void open_small(void)
{
	uint64_t number = 7;
	struct got got = { .in_order = true };
	struct ring_reader *s;
	struct helper_ring r;
	sigset_t pending;

	must(!helper_ring_open(&r, USUAL, 1), 1);
	must(r.ring_bytes == 512 << 10 && r.head->ring_bytes == r.ring_bytes, 2);
	s = ring_reader_open(dup(r.fd), getpid(), ALL, 0);
	must(s && !ring_reader_renew(s, time_now_ns()), 3);
	look(&r);
	for (int i = 0; i < 100000; i++)
		helper_ring_send(&r, GP_RING_API, &number, sizeof(number));
	must(ring_reader_read(s, take, &got) == 1 && got.n > 1000, 4);
	must(got.n + ring_reader_lost(s, 1u << GP_RING_API) == 100000, 5);
	must(!sigpending(&pending) && !sigismember(&pending, SIGXFSZ), 6);
	must(!pthread_sigmask(SIG_BLOCK, NULL, &pending) && !sigismember(&pending, SIGXFSZ), 7);
}

static void open_least(void)
{
	struct helper_ring r;
	char why[256];

	must(!inject_lacks_room(0, why, sizeof(why)), 1);
	must(!helper_ring_open(&r, USUAL, 1) && r.ring_bytes == GP_RING_BYTES_MIN, 2);
}

static void open_none(void)
{
	int before = open("/dev/null", O_RDONLY), after;
	struct helper_ring r;
	char why[256];

	close(before);
	must(inject_lacks_room(0, why, sizeof(why)) && inject_lacks_room(getpid(), why, sizeof(why)), 1);
	must(helper_ring_open(&r, USUAL, 1) == -EFBIG && r.fd < 0 && !r.head, 2);
	after = open("/dev/null", O_RDONLY);
	must(after == before, 3);
	helper_ring_close(&r);
}

static uint64_t least(void)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	return (page > GP_RING_HEAD_BYTES ? page : GP_RING_HEAD_BYTES) + GP_RING_SLOTS * GP_RING_BYTES_MIN;
}

TEST(a_ring_is_as_large_as_files_may_be)
{
	limited(4 << 20, open_small);
	limited(least(), open_least);
}

TEST(where_files_are_too_small_there_is_none_and_the_process_lives)
{
	limited(least() - 1, open_none);
	limited(0, open_none);
}
