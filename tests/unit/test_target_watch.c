// SPDX-License-Identifier: BSD-3-Clause
/* What a watch promises: what processes map, run, fork and end, in order. */
#include "target_events.h"

#include "lib/test.h"

/* ---- one process -------------------------------------------------------------------------- */

static int run_children(struct child *me, void *arg)
{
	pid_t pid;

	if (!child_signal(me) || !child_await(me))
		return 1;
	if (map_code(arg) == MAP_FAILED)
		return 1;
	pid = fork();
	if (!pid) {
		execl("/bin/true", "true", NULL);
		_exit(127);
	}
	return pid < 0 || waitpid(pid, NULL, 0) != pid;
}

static void check_children(const struct child *c, uint64_t before_ns, uint64_t after_ns)
{
	int mapped = find(&events, 0, TARGET_MMAP, c->pid, "/planted.so");
	int forked = find(&events, 0, TARGET_FORK, c->pid, NULL), exec, libc, ended;
	pid_t grandchild;

	assert_true(mapped >= 0 && forked > mapped);
	assert_true(events.ev[mapped].len == 4096 && events.ev[mapped].start);
	grandchild = events.ev[forked].child;
	exec = find(&events, forked, TARGET_EXEC, grandchild, "true");
	assert_true(exec > forked);
	libc = find(&events, exec, TARGET_MMAP, grandchild, "/libc.so.6");
	assert_true(libc > exec);
	ended = find(&events, libc, TARGET_EXIT, grandchild, NULL);
	assert_true(ended > libc);
	assert_true(find(&events, ended, TARGET_EXIT, c->pid, NULL) > ended);
	for (size_t i = 0; i < events.n; i++) {
		if (events.ev[i].pid != c->pid && events.ev[i].pid != grandchild)
			continue;	/* the host is watched */
		assert_in_range(events.ev[i].time_ns, before_ns, after_ns);
		assert_true(!i || events.ev[i].time_ns >= events.ev[i - 1].time_ns);
	}
}

TEST(fork_exec_mmap_exit_come_in_order)
{
	struct scratch scratch;
	char path[512];

	scratch_make(&scratch);
	write_page(scratch_path(&scratch, "planted.so", path));
	for (int host = 0; host < 2; host++) {
		struct child c = child_start(run_children, path);
		struct target_watch *w;
		uint64_t before_ns;

		assert_true(child_await(&c));
		w = watch(host ? -1 : c.pid);
		before_ns = time_now_ns();
		assert_true(child_signal(&c));
		assert_int_equal(child_end(&c), 0);
		assert_true(read_until(w, TARGET_EXIT, c.pid));
		check_children(&c, before_ns, time_now_ns());
		assert_int_equal(count(&events, TARGET_FORK, c.pid, NULL), 1);
		assert_int_equal(count(&events, TARGET_EXIT, c.pid, NULL), 1);
		assert_int_equal(events.missed, 0);
		target_watch_free(w);
	}
	scratch_remove(&scratch);
}

/* ---- who is watched, and refusal ----------------------------------------------------------- */

static int map_in_a_child(struct child *me, void *arg)
{
	pid_t pid;
	int go[2];
	char byte;

	if (pipe(go))
		return 1;
	pid = fork();
	if (!pid) {
		close(go[1]);
		_exit(read(go[0], &byte, 1) || map_code(arg) == MAP_FAILED);
	}
	if (!child_signal(me) || !child_await(me))
		return 1;
	close(go[1]);
	return waitpid(pid, NULL, 0) != pid;
}

TEST(a_child_that_was_there_before_is_watched)
{
	struct stage s;

	stage_open(&s, map_in_a_child);
	stage_last_turn(&s);
	assert_int_equal(mapped_below(&s), 1);
	stage_close(&s);
}

TEST(several_processes_share_the_host_watch)
{
	struct scratch scratch;
	struct target_watch *w;
	struct child c[3];
	char path[512];

	scratch_make(&scratch);
	write_page(scratch_path(&scratch, "planted.so", path));
	for (int i = 0; i < 3; i++) {
		c[i] = child_start(run_children, path);
		assert_true(child_await(&c[i]));
	}
	w = watch(c[0].pid);
	assert_int_equal(target_watch_add(w, c[1].pid), 0);
	for (int i = 2; i >= 0; i--) {
		assert_true(child_signal(&c[i]));
		assert_int_equal(child_end(&c[i]), 0);
	}
	assert_int_equal(target_watch_add(w, c[2].pid), -ESRCH);
	assert_true(read_until(w, TARGET_EXIT, c[0].pid));
	for (int i = 0; i < 3; i++)
		assert_int_equal(count(&events, TARGET_MMAP, c[i].pid, "/planted.so"), i < 2);
	for (size_t i = 0; i < events.n; i++) {
		if (events.ev[i].pid == c[0].pid || events.ev[i].pid == c[1].pid)
			assert_int_equal(events.ev[i].root, events.ev[i].pid);
		assert_true(events.ev[i].root == c[0].pid || events.ev[i].root == c[1].pid);
	}
	target_watch_free(w);
	scratch_remove(&scratch);
}

static int watch_init(void *arg)
{
	struct target_watch *w;

	if (is_root() && !become_unprivileged())
		return 99;
	w = target_watch_new(*(pid_t *)arg);
	return w ? 0 : errno;
}

TEST(refusal_names_the_capability)
{
	pid_t pids[] = { -1, 1 };
	char err[4096];

	needs_real_machine("perf events");
	for (int i = 0; i < 2; i++) {
		int rc = run_apart(watch_init, &pids[i], err, sizeof(err));

		if (!rc) {
			print_message("perf_event_paranoid permits all here\n");
			skip();
		}
		assert_true(rc == EACCES || rc == EPERM);
		assert_non_null(strstr(err, "CAP_PERFMON"));
		assert_ptr_equal(strchr(err, '\n'), err + strlen(err) - 1);
	}
}

TEST(a_process_that_is_gone_is_ESRCH)
{
	pid_t pid;

	needs_real_machine("perf events");
	pid = fork();
	if (!pid)
		_exit(0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_null(target_watch_new(pid));
	assert_int_equal(errno, ESRCH);
}
