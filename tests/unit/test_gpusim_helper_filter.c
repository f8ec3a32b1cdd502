// SPDX-License-Identifier: BSD-3-Clause
/*
 * A program that lives under a seccomp filter gets the helper where all that it takes is allowed for sure, and
 * is none the worse for it; else it is refused, and the first call that is not allowed is named. The
 * filters are made from the table of calls, so a call that is missing there ends the program.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/time.h"
#include "inject/filter.h"
#include "inject/process.h"
#include "lib/test.h"

#define WITHIN_NS (20 * NS_PER_SEC)
#define N(array) (sizeof(array) / sizeof((array)[0]))

/* ---- filters -------------------------------------------------------------------------------- */

struct code {
	struct sock_filter f[BPF_MAXINSNS];
	size_t n;
};

static void add(struct code *c, struct sock_filter f)
{
	assert_true(c->n < BPF_MAXINSNS);
	c->f[c->n++] = f;
}

#define ADD(c, ...) add((c), (struct sock_filter)__VA_ARGS__)

static void begin(struct code *c)
{
	c->n = 0;
	ADD(c, BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)));
}

static void answer_to(struct code *c, uint32_t nr, uint32_t value)
{
	ADD(c, BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 1));
	ADD(c, BPF_STMT(BPF_RET | BPF_K, value));
}

static void end_with(struct code *c, uint32_t value)
{
	ADD(c, BPF_STMT(BPF_RET | BPF_K, value));
}

/* This call with these arguments, as far as they are known. */
static void allow_exactly(struct code *c, const struct filter_call *call)
{
	unsigned int known = 0;

	for (unsigned int i = 0; i < 6; i++)
		known += !(call->any >> i & 1);
	ADD(c, BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)));
	ADD(c, BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)call->nr, 0, (uint8_t)(2 * known + 1)));
	for (unsigned int i = 0; i < 6; i++) {
		if (call->any >> i & 1)
			continue;
		ADD(c, BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args) + 8 * i));
		ADD(c, BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)call->arg[i], 0,
				(uint8_t)(2 * --known + 1)));
	}
	end_with(c, SECCOMP_RET_ALLOW);
}

/* What the program, and the simulated CUPTI, call beside what the table has: threads' names, for the truth. */
static const int its_own[] = { SYS_exit_group, SYS_prctl };

static void only_the_table(struct code *c, uint32_t else_value)
{
	begin(c);
	for (const struct filter_call *call = filter_calls; call->name; call++)
		allow_exactly(c, call);
	ADD(c, BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)));
	for (size_t i = 0; i < N(its_own); i++)
		answer_to(c, (uint32_t)its_own[i], SECCOMP_RET_ALLOW);
	end_with(c, else_value);
}

/* As containers have it: most is allowed, clone3 says that there is none, all else is refused. */
static void as_containers(struct code *c)
{
	begin(c);
	answer_to(c, SYS_clone3, SECCOMP_RET_ERRNO | ENOSYS);
	ADD(c, BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 4));
	ADD(c, BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args)));
	ADD(c, BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 0x7e020000, 0, 1));
	end_with(c, SECCOMP_RET_ERRNO | EPERM);
	end_with(c, SECCOMP_RET_ALLOW);
	for (const struct filter_call *call = filter_calls; call->name; call++)
		answer_to(c, (uint32_t)call->nr, SECCOMP_RET_ALLOW);
	for (size_t i = 0; i < N(its_own); i++)
		answer_to(c, (uint32_t)its_own[i], SECCOMP_RET_ALLOW);
	end_with(c, SECCOMP_RET_ERRNO | EPERM);
}

/* All but one. */
static void all_but(struct code *c, uint32_t nr, uint32_t value)
{
	begin(c);
	answer_to(c, nr, value);
	end_with(c, SECCOMP_RET_ALLOW);
}

/* ---- a program behind one ------------------------------------------------------------------- */

static pid_t start(const struct code *c, const char *alone)
{
	int ends[2], fd = memfd_create("filter", 0);
	char path[64], word[16];
	pid_t pid;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, c->f, c->n * sizeof(c->f[0])), (ssize_t)(c->n * sizeof(c->f[0])));
	assert_int_equal(pipe(ends), 0);
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", getpid(), fd);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		setenv("GPUSIM_QUIET", "1", 1);
		dup2(ends[1], STDOUT_FILENO);
		close(ends[0]);
		close(ends[1]);
		execl("build/sim/caged", "caged", path, alone, NULL);
		_exit(127);
	}
	close(ends[1]);
	assert_int_equal(read(ends[0], word, sizeof(word)), 6);
	close(ends[0]);
	close(fd);
	return pid;
}

/* It is as before: neither has it ended, nor is it traced. */
static void finish(pid_t pid)
{
	int status;

	usleep(50000);
	if (waitpid(pid, &status, WNOHANG))
		fail_msg("it has ended: %#x", status);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static int come(pid_t pid, char why[SUBJECT_WHY_BYTES])
{
	struct inject_outcome out;
	struct subject s;

	assert_int_equal(subject_read(&s, pid), 0);
	why[0] = '\0';
	if (!inject_subject(&s, &out))
		return 0;
	snprintf(why, SUBJECT_WHY_BYTES, "%s", *s.why ? s.why : "it is gone");
	return -ENOTSUP;
}

/* Works that are recorded; without probes, so that the helper has no part but its own. */
static void be_watched(pid_t pid)
{
	char target[16], said[4096];
	int fd = memfd_create("said", 0), status;
	pid_t child = fork();
	ssize_t n;

	snprintf(target, sizeof(target), "%d", pid);
	assert_true(child >= 0 && fd >= 0);
	if (!child) {
		dup2(fd, STDOUT_FILENO);
		dup2(fd, STDERR_FILENO);
		execl("build/gpuprof", "gpuprof", "stat", "--attach", "none", "-d", "700ms", "--table", "kernels",
		      "-p", target, NULL);
		_exit(127);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	n = pread(fd, said, sizeof(said) - 1, 0);
	said[n > 0 ? n : 0] = '\0';
	close(fd);
	if (status || !strstr(said, "kernel"))
		fail_msg("%#x: %s", status, said);
}

static void gets_it(const struct code *c)
{
	char why[SUBJECT_WHY_BYTES];
	pid_t pid = start(c, NULL);

	if (come(pid, why))
		fail_msg("%s", why);
	be_watched(pid);
	finish(pid);
}

static void is_refused(const struct code *c, const char *alone, const char *said)
{
	char why[SUBJECT_WHY_BYTES];
	pid_t pid = start(c, alone);

	assert_int_equal(come(pid, why), -ENOTSUP);
	assert_string_equal(why, said);
	finish(pid);
}

/* ---- promises ------------------------------------------------------------------------------- */

static struct code code;

TEST(the_listed_system_calls_are_enough)
{
	only_the_table(&code, SECCOMP_RET_KILL_PROCESS);
	gets_it(&code);
}

TEST(a_containers_filter_lets_it_come)
{
	as_containers(&code);
	gets_it(&code);
}

TEST(a_filter_that_only_logs_lets_it_come)
{
	code.n = 0;
	end_with(&code, SECCOMP_RET_LOG);
	gets_it(&code);
}

#define NOT_PASS(call) "its seccomp filter does not let pass " call ", which the helper needs; allow it there " \
		       "(docker: --security-opt seccomp=FILE), or leave --inject out"

TEST(a_forbidden_system_call_is_named_and_nothing_is_done)
{
	static const struct {
		uint32_t nr, value;
		const char *says;
	} cases[] = {
		{ SYS_memfd_create, SECCOMP_RET_KILL_PROCESS, NOT_PASS("memfd_create") },
		{ SYS_memfd_create, SECCOMP_RET_ERRNO | EPERM, NOT_PASS("memfd_create") },
		{ SYS_getpid, SECCOMP_RET_ERRNO | EPERM, NOT_PASS("getpid") },
		{ SYS_rt_sigreturn, SECCOMP_RET_TRAP, NOT_PASS("rt_sigreturn") },
		{ SYS_clone3, SECCOMP_RET_KILL_THREAD, NOT_PASS("clone3") },
		{ SYS_ioctl, SECCOMP_RET_KILL_PROCESS, NOT_PASS("ioctl") },
		{ SYS_ftruncate, SECCOMP_RET_TRACE, NOT_PASS("ftruncate") },
		/* It waits, and being stopped there would be its end if it went on as the kernel has it. */
		{ SYS_restart_syscall, SECCOMP_RET_KILL_PROCESS, NOT_PASS("restart_syscall") },
	};

	for (size_t i = 0; i < N(cases); i++) {
#if !defined(__x86_64__)
		if (cases[i].nr == SYS_restart_syscall)
			continue;	/* those that wait are not stopped, and it seldom does anything else */
#endif
		all_but(&code, cases[i].nr, cases[i].value);
		is_refused(&code, NULL, cases[i].says);
	}
}

TEST(a_filter_that_is_too_long_forbids_nothing_for_sure)
{
	code.n = 0;
	ADD(&code, BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args)));
	for (int i = 0; i < 400; i++)
		ADD(&code, BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)i, 0, 0));
	end_with(&code, SECCOMP_RET_ALLOW);
	is_refused(&code, NULL, "its seccomp filter is too long to be judged; start it with `gpuprof env`");
}

TEST(threads_that_are_not_filtered_alike_are_refused)
{
	code.n = 0;
	end_with(&code, SECCOMP_RET_ALLOW);
	is_refused(&code, "alone", "some of its threads have seccomp filters of their own; start it with "
		   "`gpuprof env`");
}
