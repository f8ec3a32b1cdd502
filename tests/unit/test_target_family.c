// SPDX-License-Identifier: BSD-3-Clause
/* Which processes a watch follows, when forks and ends are lost and numbers are used again. */
#include "target_child.h"

#include "lib/test.h"
#include "base/time.h"
#include "target/target_watch.c"

static struct {
	pid_t pid, root;
	bool is_other;
	unsigned int n;
} got;

static void note_end(void *ctx, pid_t pid, pid_t root, bool is_other)
{
	(void)ctx;
	got.pid = pid;
	got.root = root;
	got.is_other = is_other;
	got.n++;
}

static void read_again(struct target_family *f)
{
	memset(&got, 0, sizeof(got));
	assert_int_equal(target_family_read(f, note_end, NULL), 0);
}

/* Writes the pid of a child of its own; both live until they are ended. */
static int have_a_child(struct child *me, void *arg)
{
	int go[2];
	char byte;
	pid_t pid;

	(void)arg;
	if (pipe(go))
		return 1;
	pid = fork();
	if (!pid) {
		close(go[1]);
		_exit((int)read(go[0], &byte, 1));	/* until its parent has ended */
	}
	return write(me->report, &pid, sizeof(pid)) != sizeof(pid) || child_await(me);
}

static pid_t hear_pid(const struct child *c)
{
	pid_t pid = 0;

	assert_int_equal(read(c->hear, &pid, sizeof(pid)), sizeof(pid));
	return pid;
}

TEST(a_process_below_a_root_joins_it)
{
	struct child c = child_start(have_a_child, NULL);
	pid_t below = hear_pid(&c);
	struct target_family f = { 0 };

	needs_real_machine("processes below others");
	assert_int_equal(target_family_add_root(&f, c.pid), 0);
	assert_int_equal(target_family_root(&f, c.pid), c.pid);
	assert_int_equal(target_family_root(&f, below), c.pid);
	assert_int_equal(target_family_root(&f, getpid()), 0);
	target_family_forget(&f, below);	/* as if its fork had been lost */
	assert_int_equal(target_family_root(&f, below), 0);
	read_again(&f);
	assert_int_equal(target_family_root(&f, below), c.pid);
	assert_int_equal(got.n, 0);
	target_family_free(&f);
	child_end(&c);
}

TEST(an_exited_process_is_listed_until_it_is_forgotten)
{
	struct target_family f = { 0 };
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	assert_int_equal(waitid(P_PID, (id_t)pid, &(siginfo_t){ 0 }, WEXITED | WNOWAIT), 0);
	assert_int_equal(target_family_add(&f, pid, 7, time_now_ns()), 0);
	for (int i = 0; i < 2; i++) {	/* a zombie; no process */
		read_again(&f);
		assert_true(got.n == 1 && got.pid == pid && got.root == 7 && !got.is_other);
		assert_int_equal(target_family_root(&f, pid), 7);
		waitpid(pid, NULL, 0);
	}
	target_family_forget(&f, pid);
	read_again(&f);
	assert_int_equal(got.n, 0);
	target_family_free(&f);
}

TEST(a_number_that_is_used_again_is_another_process)
{
	struct target_family f = { 0 };
	uint64_t now_ns = time_now_ns();
	struct child c = child_start(have_a_child, NULL);
	pid_t below = hear_pid(&c);

	needs_real_machine("when other processes began");
	/* Known a minute before the one that has the number now began. */
	assert_int_equal(target_family_add(&f, c.pid, 7, now_ns - 60 * NS_PER_SEC), 0);
	assert_int_equal(target_family_add(&f, getpid(), 8, now_ns), 0);
	read_again(&f);
	assert_true(got.n == 1 && got.pid == c.pid && got.root == 7 && got.is_other);
	/* Both are below this process, which is a member: so they are members again. */
	assert_int_equal(target_family_root(&f, c.pid), 8);
	assert_int_equal(target_family_root(&f, below), 8);

	target_family_note_other(&f, c.pid, now_ns - 1);	/* reported late: it is this one's birth */
	assert_int_equal(target_family_root(&f, c.pid), 8);
	target_family_note_other(&f, c.pid, time_now_ns() + 1);
	assert_int_equal(target_family_root(&f, c.pid), 0);
	target_family_free(&f);
	child_end(&c);
}
