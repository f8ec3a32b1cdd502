// SPDX-License-Identifier: BSD-3-Clause
/*
 * Threads of a process with a helper: their numbers in records are theirs in its namespace, who is not
 * there is no such thread, and how many may be invented is bounded.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/time.h"
#include "lib/test.h"
#include "source/helper/decode.c"

struct other {
	pthread_t thread;
	int go[2];
	uint32_t tid;
	int said[2];
};

static void *wait_for_word(void *ctx)
{
	struct other *o = ctx;
	char word;

	prctl(PR_SET_NAME, "other one");
	o->tid = (uint32_t)syscall(SYS_gettid);
	if (write(o->said[1], "!", 1) != 1 || read(o->go[0], &word, 1) != 1)
		return o;
	return NULL;
}

static void start(struct other *o)
{
	char word;

	assert_int_equal(pipe(o->go), 0);
	assert_int_equal(pipe(o->said), 0);
	assert_int_equal(pthread_create(&o->thread, NULL, wait_for_word, o), 0);
	assert_int_equal(read(o->said[0], &word, 1), 1);
}

/* joined: its task may be in procfs a moment longer. */
static void end(struct other *o)
{
	char path[64];

	assert_int_equal(write(o->go[1], "!", 1), 1);
	pthread_join(o->thread, NULL);
	snprintf(path, sizeof(path), "/proc/self/task/%u", o->tid);
	while (!access(path, F_OK))
		usleep(1000);
	for (int i = 0; i < 2; i++) {
		close(o->go[i]);
		close(o->said[i]);
	}
}

TEST(a_thread_is_found_when_it_is_first_named_and_missed_when_it_ended)
{
	struct helper_threads *t = helper_threads_new(getpid(), getpid());
	const struct helper_thread *found;
	struct other o;

	assert_int_equal(helper_threads_look(t, 100), 0);
	start(&o);
	found = helper_threads_find(t, o.tid);
	assert_non_null(found);
	assert_int_equal(found->tid, o.tid);
	assert_string_equal(found->comm, "other one");
	assert_true(found->birth_ns && found->birth_ns <= time_now_ns());
	assert_int_equal(helper_threads_look(t, 200), 0);
	assert_int_equal(helper_threads_of(t, o.tid)->gone_ns, 0);
	end(&o);
	assert_int_equal(helper_threads_look(t, 300), 0);
	assert_int_equal(helper_threads_of(t, o.tid)->gone_ns, 200);
	assert_int_equal(helper_threads_of(t, (uint32_t)getpid())->gone_ns, 0);
	assert_non_null(helper_threads_find(t, o.tid));	/* records come later */
	helper_threads_free(t);
}

TEST(invented_threads_are_believed_as_long_as_they_are_few)
{
	struct helper_threads *t = helper_threads_new(getpid(), getpid());
	unsigned int believed = 0;

	for (uint32_t tid = 1u << 30; tid < (1u << 30) + 2 * HELPER_THREADS_GUESSED; tid++)
		believed += helper_threads_find(t, tid) != NULL;
	assert_int_equal(believed, HELPER_THREADS_GUESSED);
	assert_null(helper_threads_find(t, 0));
	assert_null(helper_threads_find(t, UINT32_MAX));
	assert_non_null(helper_threads_find(t, (uint32_t)getpid()));
	helper_threads_free(t);
}

static _Noreturn void child_main(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;)
		pause();
}

TEST(a_number_of_a_pid_namespace_means_the_hosts_thread)
{
	struct helper_threads *t;
	int status;
	pid_t pid;

	pid = (pid_t)syscall(SYS_clone, CLONE_NEWPID | SIGCHLD, NULL, NULL, NULL, NULL);
	if (!pid)
		child_main();
	if (pid < 0) {
		print_message("skipped: no pid namespace of one's own here\n");
		return;
	}
	t = helper_threads_new(pid, 1);
	assert_non_null(helper_threads_find(t, 1));
	assert_int_equal(helper_threads_find(t, 1)->tid, pid);
	assert_null(helper_threads_find(t, (uint32_t)pid));	/* no thread there has this number */
	assert_null(helper_threads_find(t, 2));
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	assert_int_equal(helper_threads_look(t, 200), 0);
	assert_int_equal(helper_threads_find(t, 1)->tid, pid);
	helper_threads_free(t);
}
