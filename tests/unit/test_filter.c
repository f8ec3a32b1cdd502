// SPDX-License-Identifier: BSD-3-Clause
/* What is said of the seccomp filters of a process whose threads come and go. */
#include <errno.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "inject/filter.h"
#include "lib/emulated.h"
#include "lib/test.h"

#define CHECKS 2000
#define AT_ONCE 8

static void *end_at_once(void *arg)
{
	return arg;
}

static bool be_filtered(void)
{
	struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog program = { .len = 1, .filter = &allow };

	return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
	       !syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
}

/* All threads have the filter of the first. */
static int run_threads(int report)
{
	pthread_t thread[AT_ONCE];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (!be_filtered() || write(report, "x", 1) != 1)
		return 1;
	for (;;) {
		int n = 0;

		while (n < AT_ONCE && !pthread_create(&thread[n], NULL, end_at_once, NULL))
			n++;
		while (n)
			pthread_join(thread[--n], NULL);
	}
}

TEST(a_thread_that_ends_meanwhile_is_like_all_others)
{
	bool begins_anew;
	char why[256], byte;
	int up[2];
	pid_t pid;

	needs_real_machine("threads of another process");
	assert_int_equal(pipe(up), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid)
		_exit(run_threads(up[1]));
	close(up[1]);
	assert_int_equal(read(up[0], &byte, 1), 1);
	for (int i = 0; i < CHECKS; i++) {
		*why = '\0';
		filter_check(pid, pid, &begins_anew, why, sizeof(why));
		if (strstr(why, "of their own"))
			break;
		assert_true(begins_anew);
	}
	close(up[0]);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_null(strstr(why, "of their own"));
}

TEST(an_exited_process_is_reported_as_exited)
{
	bool begins_anew;
	char why[256];
	pid_t pid;

	pid = fork();
	assert_true(pid >= 0);
	if (!pid)
		_exit(0);
	assert_int_equal(waitid(P_PID, (id_t)pid, &(siginfo_t){ 0 }, WEXITED | WNOWAIT), 0);
	assert_int_equal(filter_check(pid, pid, &begins_anew, why, sizeof(why)), -ESRCH);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(filter_check(pid, pid, &begins_anew, why, sizeof(why)), -ESRCH);
	assert_true(filter_is_there(pid, pid));	/* for all that is known */
}
