// SPDX-License-Identifier: BSD-3-Clause
/* The helper's own threads, whatever those of the program are like. */
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "helper/agent.c"
#include "base/time.h"
#include "lib/emulated.h"
#include "lib/test.h"

#define DEEP (768u << 10)
#define LITTLE (128u << 10)	/* the least that arm64 takes */

static struct {
	bool done, blocks_all_signals;
} seen;

/* Not to be blocked, or the C library's own. */
static bool is_excepted(int signal)
{
	return signal == SIGKILL || signal == SIGSTOP || signal == 32 || signal == 33;
}

static void *look_at_itself(void *ctx)
{
	volatile char deep[DEEP];
	sigset_t blocked;

	(void)ctx;
	for (size_t i = 0; i < DEEP; i += 1024)
		deep[DEEP - 1 - i] = 1;
	pthread_sigmask(SIG_BLOCK, NULL, &blocked);
	seen.blocks_all_signals = deep[DEEP - 1] == 1;
	for (int signal = 1; signal < NSIG; signal++)
		seen.blocks_all_signals &= is_excepted(signal) || sigismember(&blocked, signal) == 1;
	__atomic_store_n(&seen.done, true, __ATOMIC_RELEASE);
	return NULL;
}

TEST(has_room_for_cupti_and_hears_no_signal)
{
	pthread_attr_t small, usual;
	sigset_t before, after;

	needs_real_machine("signals, of which the emulator keeps some to itself");
	assert_int_equal(pthread_getattr_default_np(&usual), 0);
	pthread_attr_init(&small);
	assert_int_equal(pthread_attr_setstacksize(&small, LITTLE), 0);
	assert_int_equal(pthread_setattr_default_np(&small), 0);
	pthread_sigmask(SIG_BLOCK, NULL, &before);
	assert_int_equal(thread_start(look_at_itself, NULL), 0);
	pthread_sigmask(SIG_BLOCK, NULL, &after);
	for (uint64_t end = time_now_ns() + 20 * NS_PER_SEC; time_now_ns() < end; usleep(1000))
		if (__atomic_load_n(&seen.done, __ATOMIC_ACQUIRE))
			break;
	assert_true(seen.done && seen.blocks_all_signals);
	assert_memory_equal(&before, &after, NSIG / 8);	/* what the kernel fills */
	pthread_setattr_default_np(&usual);
}

static void *come_in(void *after)
{
	bool *entered = after;

	pthread_cancel(pthread_self());
	*entered = InitializeInjectionNvtx2(NULL) == 1;
	pthread_testcancel();
	return NULL;
}

TEST(a_thread_that_is_to_be_cancelled_comes_out_of_it_first)
{
	bool entered = false;
	pthread_t thread;
	void *result;

	assert_int_equal(pthread_create(&thread, NULL, come_in, &entered), 0);
	assert_int_equal(pthread_join(thread, &result), 0);
	assert_ptr_equal(result, PTHREAD_CANCELED);
	assert_true(entered);
	assert_int_equal(InitializeInjectionNvtx2(NULL), 1);	/* it holds nothing */
}
