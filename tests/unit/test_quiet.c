// SPDX-License-Identifier: BSD-3-Clause
/* Which threads may be asked to call into the C library, by what is on their stacks. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "stack/safepoint.c"
#include "lib/test.h"

#define MAX 8
#define AT(where, what) { .module = (where), .function = (what) }
#define MAIN AT("libc.so.6", NULL), AT("libc.so.6", "__libc_start_main"), AT("train", "_start")
#define THREAD AT("libc.so.6", NULL), AT("libc.so.6", "clone")

struct stack {
	struct quiet_frame frames[MAX];	/* ends with one without a module */
	const char *why;		/* NULL: it is quiet */
};

static void hold(const struct stack *stacks, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char why[STACK_WHY_BYTES] = "";
		size_t frames = 0;
		int answer;

		while (frames < MAX && stacks[i].frames[frames].module)
			frames++;
		answer = quiet_judge(stacks[i].frames, frames, true, why);
		if (answer != (stacks[i].why ? -EAGAIN : 0) || (stacks[i].why && strcmp(why, stacks[i].why)))
			fail_msg("stack %zu: %d, %s", i, answer, why);
	}
}

#define HOLD(...) do { \
	const struct stack stacks[] = { __VA_ARGS__ }; \
	hold(stacks, sizeof(stacks) / sizeof(stacks[0])); \
} while (0)

TEST(threads_that_wait_for_others_or_time_are_quiet)
{
	HOLD({ .frames = { AT("libc.so.6", "clock_nanosleep"), AT("libc.so.6", "nanosleep"),
			   AT("train", "rest"), AT("train", "main"), MAIN } },
	     { .frames = { AT("libc.so.6", NULL), AT("libc.so.6", "pthread_cond_wait"),
			   AT("libtorch.so", NULL), THREAD } },
	     { .frames = { AT("libc.so.6", "__poll"), AT("libcuda.so.1", NULL), THREAD } },
	     { .frames = { AT("libpthread-2.17.so", "pthread_cond_wait"), AT("x", "f"),
			   AT("libpthread-2.17.so", "start_thread"), AT("libc-2.17.so", "clone") } },
	     { .frames = { AT("libfast.so", "wait_by_itself"), AT("x", "f"), THREAD } });
}

TEST(a_thread_that_may_hold_a_lock_is_not)
{
	HOLD({ .frames = { AT("libc.so.6", NULL), AT("libc.so.6", "malloc"), AT("x", "f"), THREAD },
	       .why = "it is in malloc" },
	     { .frames = { AT("libc.so.6", NULL), AT("libc.so.6", "pthread_mutex_lock"),
			   AT("x", "f"), THREAD }, .why = "it is in pthread_mutex_lock" },
	     { .frames = { AT("libc.so.6", NULL), AT("x", "f"), THREAD },
	       .why = "it is in the C library" },
	     { .frames = { AT("libc.so.6", "nanosleep"), AT("libtcmalloc.so.4", "wait"), AT("x", "f"),
			   THREAD }, .why = "it is in libtcmalloc.so.4" },
	     { .frames = { AT("libc.so.6", "nanosleep"), AT("x", "compare"), AT("libc.so.6", "qsort"),
			   AT("x", "f"), THREAD }, .why = "it is inside qsort" },
	     { .frames = { AT("libc.so.6", "nanosleep"), AT("plugin.so", "constructor"),
			   AT("ld-linux-x86-64.so.2", NULL), AT("x", "f"), THREAD },
	       .why = "it is in ld-linux-x86-64.so.2" },
	     { .frames = { AT("libc.so.6", "nanosleep"), AT("x", "on_exit"), AT("libc.so.6", NULL),
			   AT("libc.so.6", "exit"), MAIN }, .why = "it is inside the C library" });
}

TEST(an_unknown_stack_is_not_safe)
{
	char why[STACK_WHY_BYTES];
	const struct quiet_frame one = { .module = "x" };

	HOLD({ .frames = { AT("libc.so.6", "nanosleep"), AT("x", "handler"),
			   { .module = "libc.so.6", .function = "__restore_rt", .signal = true },
			   AT("x", "f"), THREAD }, .why = "it is in a signal handler" },
	     { .frames = { AT("libc.so.6", "nanosleep"), { .module = "x", .guessed = true }, THREAD },
	       .why = "its stack cannot be followed for sure" },
	     { .frames = { AT("libc.so.6", "nanosleep"), AT("[anon]", NULL), THREAD },
	       .why = "it is in [anon]" });
	assert_int_equal(quiet_judge(&one, 1, false, why), -EAGAIN);
	assert_int_equal(quiet_judge(&one, 0, true, why), -EAGAIN);
}
