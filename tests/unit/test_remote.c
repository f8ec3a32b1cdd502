// SPDX-License-Identifier: BSD-3-Clause
/*
 * A thread that no signal reaches (the parent of a vfork, until its child is done) cannot be stopped. It is
 * not kept either: the next one finds it free.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "inject/remote.c"
#include "base/io.h"
#include "base/str.h"
#include "base/time.h"
#include "lib/emulated.h"
#include "host/proc.h"
#include "lib/test.h"

#define WITHIN_NS (20 * NS_PER_SEC)

/* Where a thread that enters a call cannot be asked (machine.step_back), it is let go at the first. */
#if defined(__x86_64__)
#define NEVER_QUIET (-ETIMEDOUT)
#else
#define NEVER_QUIET (-EAGAIN)
#endif

struct signs {			/* shared with the child */
	volatile int begin, end;
};

static struct signs *signs;

/* vfork's child may do no more than this. */
static __attribute__((noinline)) void wait_below(void)
{
	if (!vfork()) {
		while (!signs->end)
			usleep(1000);
		_exit(0);
	}
}

static pid_t start(void)
{
	pid_t pid;

	needs_real_machine("a process that is traced");
	*signs = (struct signs){ 0 };
	pid = fork();
	assert_true(pid >= 0);
	if (pid)
		return pid;
	while (!signs->begin)
		;
	wait_below();
	while (wait(NULL) > 0)
		;
	_exit(7);
}

static char state_of(pid_t pid)
{
	struct proc proc;
	struct proc_stat stat = { .state = '?' };
	const char *text = proc_open(&proc, pid) ? NULL : proc_read(&proc, PROC_STAT, NULL);

	if (text)
		proc_parse_stat(text, &stat);
	proc_close(&proc);
	return stat.state;
}

static void await_state(pid_t pid, char state)
{
	for (uint64_t end = time_now_ns() + WITHIN_NS; time_now_ns() < end; usleep(1000))
		if (state_of(pid) == state)
			return;
	fail_msg("process %d: state %c, not %c", pid, state_of(pid), state);
}

static void finish(pid_t pid)
{
	int status;

	signs->end = 1;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 7 << 8);
}

/* ---- what a thread of its own does ------------------------------------------------------------ */

struct visit {
	pid_t pid, tid;
	bool to_call;		/* it is let run again */
	int err;
};

static bool is_none(struct remote *r, char *why)
{
	(void)r;
	(void)why;
	signs->begin = 1;
	return false;
}

static void *visit(void *ctx)
{
	struct visit *v = ctx;
	struct remote *r = calloc(1, sizeof(*r));

	v->tid = (pid_t)syscall(SYS_gettid);
	v->err = r ? remote_stop(r, v->pid, v->pid) : -ENOMEM;
	if (!v->err && v->to_call) {
		signs->begin = 1;
		v->err = remote_to_call(r, time_now_ns() + NS_PER_SEC, is_none);
	} else if (!v->err) {
		remote_release(r);
	}
	free(r);
	return NULL;
}

static int visit_it(pid_t pid, bool to_call)
{
	struct visit v = { .pid = pid, .to_call = to_call };
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, visit, &v), 0);
	pthread_join(thread, NULL);
	for (uint64_t end = time_now_ns() + WITHIN_NS; time_now_ns() < end; usleep(100))
		if (syscall(SYS_tgkill, getpid(), v.tid, 0))
			break;
	return v.err;
}

TEST(a_thread_that_does_not_stop_is_released)
{
	pid_t pid = start();

	signs->begin = 1;
	await_state(pid, 'D');
	for (int i = 0; i < 3; i++)
		assert_int_equal(visit_it(pid, false), -ETIMEDOUT);
	signs->end = 1;
	await_state(pid, 'Z');		/* it has no part in what did not happen */
	finish(pid);
}

TEST(a_thread_that_did_not_stop_can_be_stopped_later)
{
	pid_t pid = start();

	assert_int_equal(visit_it(pid, false), 0);
	signs->begin = 1;
	await_state(pid, 'D');
	assert_int_equal(visit_it(pid, false), -ETIMEDOUT);
	finish(pid);
	pid = start();
	assert_int_equal(visit_it(pid, false), 0);
	signs->begin = 1;
	finish(pid);
}

TEST(a_thread_that_misses_its_call_stop_is_released)
{
	pid_t pid = start();

	assert_int_equal(visit_it(pid, true), NEVER_QUIET);
	await_state(pid, 'D');
	assert_int_equal(visit_it(pid, false), -ETIMEDOUT);	/* not EPERM: it has no tracer */
	finish(pid);
}

/* ---- another program ---------------------------------------------------------------------------- */

static void *execute(void *unused)
{
	while (!signs->begin)
		usleep(1000);
	execlp("sleep", "sleep", "1000", NULL);
	return unused;
}

/* Its first thread waits, and another executes a program when asked to. */
static pid_t start_executing(void)
{
	pid_t pid;

	needs_real_machine("a process that is traced");
	*signs = (struct signs){ 0 };
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		pthread_t other;

		if (!pthread_create(&other, NULL, execute, NULL))
			pause();
		_exit(1);
	}
	return pid;
}

struct mapped {
	const char *path;
	uint64_t at;
};

static int find_mapped(void *ctx, const struct target_mapping *m)
{
	struct mapped *wanted = ctx;

	if (strcmp(str_basename(m->path), wanted->path))
		return 0;
	wanted->at = m->start;
	return 1;
}

static uint64_t where(pid_t pid, const char *path)
{
	struct mapped wanted = { .path = path };

	for (uint64_t end = time_now_ns() + WITHIN_NS; !wanted.at && time_now_ns() < end; usleep(1000))
		target_each_mapping(pid, find_mapped, &wanted);
	return wanted.at;
}

static uint64_t word_at(pid_t pid, uint64_t at)
{
	char path[32];
	uint64_t word = 0;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || pread(fd, &word, sizeof(word), (off_t)at) != sizeof(word))
		word = UINT64_MAX;
	io_close(&fd);
	return word;
}

static void *write_late(void *ctx)
{
	const uint64_t ours = 0x0123456789abcdef;
	struct remote *r = calloc(1, sizeof(*r));
	pid_t pid = *(pid_t *)ctx;
	uint64_t stack, before, got = 0;
	int err = r ? remote_stop(r, pid, pid) : -ENOMEM;

	if (err)
		goto out;
	stack = where(pid, "[stack]");
	/* While it is stopped its memory is written. */
	before = word_at(pid, stack);
	err = remote_write(r, stack, &ours, sizeof(ours)) ? 1 : word_at(pid, stack) != ours ? 2 :
	      remote_write(r, stack, &before, sizeof(before)) ? 3 : 0;
	signs->begin = 1;
	where(pid, "sleep");
	stack = where(pid, "[stack]");
	before = word_at(pid, stack);
	if (!err && (!remote_write(r, stack, &ours, sizeof(ours)) || word_at(pid, stack) != before))
		err = 4;
	if (!err && (!remote_read(r, stack, &got, sizeof(got)) || got))
		err = 5;
	remote_release(r);
out:
	free(r);
	return (void *)(intptr_t)err;
}

TEST(a_program_that_is_executed_meanwhile_is_not_written_into)
{
	pid_t pid = start_executing();
	pthread_t thread;
	void *err;

	await_state(pid, 'S');
	assert_int_equal(pthread_create(&thread, NULL, write_late, &pid), 0);
	pthread_join(thread, &err);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	assert_int_equal((intptr_t)err, 0);
}

static void *pick(void *ctx)
{
	struct remote *r = calloc(1, sizeof(*r));
	int err = pick_thread(ctx, r);

	if (!err)
		remote_release(r);
	free(r);
	return (void *)(intptr_t)err;
}

/* In the kernel, where it would not be stopped: it is not even tried, and said where it is. */
TEST(the_reason_names_the_thread_and_where_it_is)
{
	pid_t pid = start();
	char expected[160];
	struct pick p;
	pthread_t thread;
	void *err;

	signs->begin = 1;
	await_state(pid, 'D');
	pick_begin(&p, pid);
	p.end_ns = time_now_ns();
	assert_int_equal(pthread_create(&thread, NULL, pick, &p), 0);
	pthread_join(thread, &err);
	assert_int_equal((intptr_t)err, -ENOTSUP);
	snprintf(expected, sizeof(expected), "none of its threads came to where it can be asked safely (thread "
		 "%d waits in the kernel where no signal reaches it", pid);
	assert_memory_equal(p.why, expected, strlen(expected));
	assert_string_equal(strrchr(p.why, ';'), "; try again");
	finish(pid);
}

static int set_up_all(void **state)
{
	(void)state;
	signs = mmap(NULL, sizeof(*signs), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (signs == MAP_FAILED)
		return -1;
	return 0;
}

TEST_GROUP(set_up_all, NULL);
