// SPDX-License-Identifier: BSD-3-Clause
/*
 * A process that begins to match is followed, or, once, a note says that one cannot be. The loader is a
 * fake one.
 */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/test.h"
#include "probe/recheck.h"
#include "lib/capture_lib.h"

struct loader {
	pid_t followed[8];
	size_t n, max;
};

/* ---- in the place of probe/loader.h ----------------------------------------------------------- */

int loader_follow(struct loader *l, pid_t pid)
{
	if (l->n == l->max)
		return -E2BIG;
	l->followed[l->n++] = pid;
	return 0;
}

/* ---- tests ------------------------------------------------------------------------------------ */

static pid_t start(void)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		pause();
		_exit(0);
	}
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void note(void *ctx, pid_t pid)
{
	*(pid_t *)ctx = pid;
}

TEST(a_process_that_cannot_be_followed_is_left_with_one_message)
{
	struct loader l = { .max = 1 };
	struct selector *s = selector_new();
	struct target_match n = { .selector = s, .loader = &l };
	pid_t child[3] = { start(), start(), start() }, got;
	const char *said;
	char want[256], user[16];

	snprintf(user, sizeof(user), "%u", getuid());
	assert_int_equal(selector_add(s, SELECT_USER, user), 0);
	stderr_hide();
	for (size_t i = 0; i < 3; i++) {
		got = 0;
		assert_true(target_match_take(&n, child[i], note, &got));
		assert_int_equal(got, i ? 0 : child[0]);
	}
	assert_false(target_match_follow(&n, child[2]));
	said = stderr_show();
	snprintf(want, sizeof(want), "gpuprof: warning: cannot follow process %d: too many are followed; it and "
		 "others that come are not measured; choose fewer than 65,536 processes, or give -a\n",
		 child[1]);
	assert_string_equal(said, want);
	assert_int_equal(l.n, 1);
	for (size_t i = 0; i < 3; i++)
		end(child[i]);
	selector_free(s);
}
