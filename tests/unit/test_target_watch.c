// SPDX-License-Identifier: BSD-3-Clause
/* What a watch promises: what processes map, run, fork and end, in order, and what was missed. */
#include "target_child.h"

#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>

#include "base/time.h"
#include "probe/target.h"

#define EVENTS_MAX 4096
#define PATIENCE_MS 10000

struct log {
	size_t n;
	struct target_event ev[EVENTS_MAX];
	char text[EVENTS_MAX][128];
	uint64_t missed;
};

static struct log events;

static void note(void *ctx, const struct target_event *ev)
{
	struct log *l = ctx;

	l->missed += ev->kind == TARGET_MISSED ? ev->missed : 0;
	if (l->n == EVENTS_MAX)
		return;
	l->ev[l->n] = *ev;
	snprintf(l->text[l->n++], sizeof(l->text[0]), "%s", ev->text ? ev->text : "");
}

/* The index of the first such event from `from` on, or -1. text: the end of it. */
static int find(const struct log *l, int from, uint8_t kind, pid_t pid, const char *text)
{
	for (size_t i = (size_t)from; i < l->n; i++) {
		size_t len = strlen(l->text[i]), want = text ? strlen(text) : 0;

		if (l->ev[i].kind == kind && l->ev[i].pid == pid && len >= want &&
		    (!text || !strcmp(l->text[i] + len - want, text)))
			return (int)i;
	}
	return -1;
}

static size_t count(const struct log *l, uint8_t kind, pid_t pid, const char *text)
{
	size_t n = 0;

	for (int i = -1; (i = find(l, i + 1, kind, pid, text)) >= 0;)
		n++;
	return n;
}

/* As a consumer: the watch's descriptor sits in an epoll of its own. Until `kind` of pid came. */
static bool read_until(struct target_watch *w, uint8_t kind, pid_t pid)
{
	int ep = epoll_create1(EPOLL_CLOEXEC);
	struct epoll_event ev = { .events = EPOLLIN };
	uint64_t end_ns = time_now_ns() + PATIENCE_MS * NS_PER_MS;
	bool found = false;

	assert_int_equal(epoll_ctl(ep, EPOLL_CTL_ADD, target_watch_fd(w), &ev), 0);
	do {
		assert_int_equal(target_watch_read(w, note, &events), 0);
		found = find(&events, 0, kind, pid, NULL) >= 0;
	} while (!found && time_now_ns() < end_ns && epoll_wait(ep, &ev, 1, PATIENCE_MS) > 0);
	close(ep);
	return found;
}

static struct target_watch *watch(pid_t pid)
{
	struct target_watch *w;

	events = (struct log){ 0 };
	w = target_watch_new(pid);
	if (w)
		return w;
	print_message("perf_event_open is not permitted here: %s\n", strerror(errno));
	skip();
	return NULL;
}

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

static void fork_exec_mmap_exit_come_in_order(void **state)
{
	struct scratch scratch;
	char path[512];

	(void)state;
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

static void a_watch_is_quiet_after_its_process_has_ended(void **state)
{
	struct child c = child_start(run_children, "/no/such/file");
	struct target_watch *w;
	struct pollfd p;

	(void)state;
	assert_true(child_await(&c));
	w = watch(c.pid);
	p = (struct pollfd){ .fd = target_watch_fd(w), .events = POLLIN };
	assert_int_equal(poll(&p, 1, 0), 1);	/* the first wait returns at once */
	assert_true(child_signal(&c));
	child_end(&c);
	assert_true(read_until(w, TARGET_EXIT, c.pid));
	assert_int_equal(target_watch_read(w, note, &events), 0);
	assert_int_equal(poll(&p, 1, 50), 0);
	target_watch_free(w);
}

/* ---- threads ------------------------------------------------------------------------------ */

struct crowd {
	int n;
	const char *path;
	pthread_barrier_t barrier;
};

static void *idle_thread(void *arg)
{
	struct crowd *crowd = arg;

	pthread_barrier_wait(&crowd->barrier);
	pthread_barrier_wait(&crowd->barrier);
	return NULL;
}

static void *mapping_thread(void *arg)
{
	struct crowd *crowd = arg;

	pthread_barrier_wait(&crowd->barrier);
	pthread_barrier_wait(&crowd->barrier);
	map_code(crowd->path);
	return NULL;
}

static void *late_thread(void *arg)
{
	map_code(arg);
	return NULL;
}

/* The last of n threads maps the file, then a thread that is made later does. */
static int run_crowd(struct child *me, void *arg)
{
	struct crowd *crowd = arg;
	pthread_t thread[400], late;

	pthread_barrier_init(&crowd->barrier, NULL, (unsigned int)crowd->n + 1);
	for (int i = 0; i < crowd->n; i++)
		if (pthread_create(&thread[i], NULL,
				   i == crowd->n - 1 ? mapping_thread : idle_thread, crowd))
			return 1;
	pthread_barrier_wait(&crowd->barrier);
	if (!child_signal(me) || !child_await(me))
		return 1;
	pthread_barrier_wait(&crowd->barrier);
	for (int i = 0; i < crowd->n; i++)
		pthread_join(thread[i], NULL);
	pthread_create(&late, NULL, late_thread, (void *)crowd->path);
	pthread_join(late, NULL);
	return 0;
}

/* 400 threads are more than a watch takes events for: it filters the whole host. */
static void threads_map_and_are_not_processes(void **state)
{
	static const int sizes[] = { 3, 400 };
	struct scratch scratch;
	char path[512];

	(void)state;
	scratch_make(&scratch);
	write_page(scratch_path(&scratch, "planted.so", path));
	for (int i = 0; i < 2; i++) {
		struct crowd crowd = { .n = sizes[i], .path = path };
		struct child c = child_start(run_crowd, &crowd);
		struct target_watch *w;

		assert_true(child_await(&c));
		w = watch(c.pid);
		assert_int_equal(run_shell("true"), 0);	/* of no interest */
		assert_true(child_signal(&c));
		assert_int_equal(child_end(&c), 0);
		assert_true(read_until(w, TARGET_EXIT, c.pid));
		assert_int_equal(count(&events, TARGET_MMAP, c.pid, "/planted.so"), 2);
		assert_int_equal(count(&events, TARGET_FORK, c.pid, NULL), 0);
		assert_int_equal(count(&events, TARGET_EXIT, c.pid, NULL), 1);
		for (size_t k = 0; k < events.n; k++)
			assert_int_equal(events.ev[k].pid, c.pid);
		target_watch_free(w);
	}
	scratch_remove(&scratch);
}

#define CHAIN 100

struct chain {
	const char *path;
	int made;
	pthread_t thread[CHAIN];
	pthread_barrier_t barrier;
};

static void *chain_thread(void *arg)
{
	struct chain *chain = arg;
	int next = chain->made++;

	if (next < CHAIN)
		pthread_create(&chain->thread[next], NULL, chain_thread, chain);
	pthread_barrier_wait(&chain->barrier);
	return map_code(chain->path);
}

/* Each thread makes the next one, while the watch is set up; then all of them map the file. */
static int run_chain(struct child *me, void *arg)
{
	static struct chain chain;
	pthread_t first;

	chain.path = arg;
	pthread_barrier_init(&chain.barrier, NULL, CHAIN + 2);
	if (!child_signal(me) || pthread_create(&first, NULL, chain_thread, &chain) ||
	    !child_await(me))
		return 1;
	pthread_barrier_wait(&chain.barrier);
	for (int i = 0; i < CHAIN; i++)
		pthread_join(chain.thread[i], NULL);
	pthread_join(first, NULL);
	return 0;
}

static void threads_made_meanwhile_are_watched_once(void **state)
{
	struct scratch scratch;
	char path[512];

	(void)state;
	scratch_make(&scratch);
	write_page(scratch_path(&scratch, "planted.so", path));
	for (int i = 0; i < 10; i++) {
		struct child c = child_start(run_chain, path);
		struct target_watch *w;

		assert_true(child_await(&c));
		w = watch(c.pid);
		assert_true(child_signal(&c));
		assert_int_equal(child_end(&c), 0);
		assert_true(read_until(w, TARGET_EXIT, c.pid));
		assert_int_equal(count(&events, TARGET_MMAP, c.pid, "/planted.so"), CHAIN + 1);
		target_watch_free(w);
	}
	scratch_remove(&scratch);
}

static void *outlive(void *arg)
{
	usleep(100000);
	map_code(arg);
	_exit(0);
}

static int leave_main_early(struct child *me, void *arg)
{
	pthread_t thread;

	if (!child_signal(me) || !child_await(me))
		return 1;
	pthread_create(&thread, NULL, outlive, arg);
	pthread_exit(NULL);
}

static void a_process_ends_with_its_last_thread(void **state)
{
	struct scratch scratch;
	struct target_watch *w;
	struct child c;
	char path[512];

	(void)state;
	scratch_make(&scratch);
	write_page(scratch_path(&scratch, "planted.so", path));
	c = child_start(leave_main_early, path);
	assert_true(child_await(&c));
	w = watch(c.pid);
	assert_true(child_signal(&c));
	assert_true(read_until(w, TARGET_EXIT, c.pid));
	assert_true(find(&events, 0, TARGET_EXIT, c.pid, NULL) >
		    find(&events, 0, TARGET_MMAP, c.pid, "/planted.so"));
	assert_true(find(&events, 0, TARGET_MMAP, c.pid, "/planted.so") >= 0);
	assert_int_equal(child_end(&c), 0);
	target_watch_free(w);
	scratch_remove(&scratch);
}

static void *exec_true(void *arg)
{
	(void)arg;
	execl("/bin/sleep", "sleep", "0.05", NULL);
	return NULL;
}

static int exec_in_thread(struct child *me, void *arg)
{
	pthread_t thread;

	(void)arg;
	if (!child_signal(me) || !child_await(me))
		return 1;
	pthread_create(&thread, NULL, exec_true, NULL);
	pause();
	return 1;
}

static void exec_of_another_thread_is_not_the_end(void **state)
{
	struct child c = child_start(exec_in_thread, NULL);
	struct target_watch *w;
	int exec;

	(void)state;
	assert_true(child_await(&c));
	w = watch(c.pid);
	assert_true(child_signal(&c));
	assert_true(read_until(w, TARGET_EXIT, c.pid));
	exec = find(&events, 0, TARGET_EXEC, c.pid, "sleep");
	assert_true(exec >= 0);
	assert_int_equal(count(&events, TARGET_EXIT, c.pid, NULL), 1);
	assert_true(find(&events, 0, TARGET_EXIT, c.pid, NULL) > exec);
	child_end(&c);
	target_watch_free(w);
}

/* ---- loss and refusal --------------------------------------------------------------------- */

static int map_much(struct child *me, void *arg)
{
	if (!child_signal(me) || !child_await(me))
		return 1;
	for (int i = 0; i < 30000; i++) {
		void *at = map_code(arg);

		if (at == MAP_FAILED || munmap(at, 4096))
			return 1;
	}
	return !child_signal(me) || !child_await(me);
}

static void what_a_full_ring_lost_is_counted(void **state)
{
	struct scratch scratch;
	struct target_watch *w;
	struct child c;
	char path[512];

	(void)state;
	scratch_make(&scratch);
	write_page(scratch_path(&scratch, "planted.so", path));
	c = child_start(map_much, path);
	assert_true(child_await(&c));
	w = watch(c.pid);
	assert_true(child_signal(&c));
	assert_true(child_await(&c));
	/* The loss is told with the next event that finds room. */
	assert_int_equal(target_watch_read(w, note, &events), 0);
	assert_true(child_signal(&c));
	assert_int_equal(child_end(&c), 0);
	assert_true(read_until(w, TARGET_EXIT, c.pid));
	assert_true(events.missed > 1000);
	target_watch_free(w);
	scratch_remove(&scratch);
}

static int watch_init(void *arg)
{
	struct target_watch *w;

	if (is_root() && !become_nobody())
		return 99;
	w = target_watch_new(*(pid_t *)arg);
	return w ? 0 : errno;
}

static void refusal_names_the_capability(void **state)
{
	pid_t pids[] = { -1, 1 };
	char err[4096];

	(void)state;
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

static int watch_own(void *arg)
{
	struct target_watch *w;
	struct child c;

	if (is_root() && !become_nobody())
		return 99;
	c = child_start(run_children, arg);
	if (!child_await(&c))
		return 98;
	w = target_watch_new(c.pid);
	if (!w)
		return 77;
	events = (struct log){ 0 };
	child_signal(&c);
	child_end(&c);
	return !read_until(w, TARGET_EXIT, c.pid) ||
	       !count(&events, TARGET_MMAP, c.pid, "/planted.so");
}

static void users_watch_their_own_processes(void **state)
{
	struct scratch scratch;
	char path[512], err[4096];
	int rc;

	(void)state;
	scratch_make(&scratch);
	write_page(scratch_path(&scratch, "planted.so", path));
	rc = run_apart(watch_own, path, err, sizeof(err));
	scratch_remove(&scratch);
	if (rc == 77) {
		print_message("not permitted here: %s", err);
		skip();
	}
	assert_int_equal(rc, 0);
}

static void a_process_that_is_gone_is_ESRCH(void **state)
{
	pid_t pid = fork();

	(void)state;
	if (!pid)
		_exit(0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_null(target_watch_new(pid));
	assert_int_equal(errno, ESRCH);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fork_exec_mmap_exit_come_in_order),
		cmocka_unit_test(a_watch_is_quiet_after_its_process_has_ended),
		cmocka_unit_test(threads_map_and_are_not_processes),
		cmocka_unit_test(threads_made_meanwhile_are_watched_once),
		cmocka_unit_test(a_process_ends_with_its_last_thread),
		cmocka_unit_test(exec_of_another_thread_is_not_the_end),
		cmocka_unit_test(what_a_full_ring_lost_is_counted),
		cmocka_unit_test(refusal_names_the_capability),
		cmocka_unit_test(users_watch_their_own_processes),
		cmocka_unit_test(a_process_that_is_gone_is_ESRCH),
	};

	return cmocka_run_group_tests_name("target_watch", tests, NULL, NULL);
}
