// SPDX-License-Identifier: BSD-3-Clause
/* What a watch promises of processes with threads: all are watched, none is taken for a process. */
#include "target_events.h"

#include <pthread.h>

#include "lib/test.h"

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

TEST(threads_map_and_are_not_processes)
{
	static const int sizes[] = { 3, 400 };
	struct scratch scratch;
	char path[512];

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

TEST(threads_made_meanwhile_are_watched_once)
{
	for (int i = 0; i < 10; i++) {
		struct stage s;

		stage_open(&s, run_chain);
		stage_last_turn(&s);
		assert_int_equal(count(&events, TARGET_MMAP, s.c.pid, "/planted.so"), CHAIN + 1);
		stage_close(&s);
	}
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

TEST(a_process_ends_with_its_last_thread)
{
	struct stage s;
	int mapped;

	stage_open(&s, leave_main_early);
	assert_true(child_signal(&s.c));
	assert_true(read_until(s.w, TARGET_EXIT, s.c.pid));
	mapped = find(&events, 0, TARGET_MMAP, s.c.pid, "/planted.so");
	assert_true(mapped >= 0);
	assert_true(find(&events, 0, TARGET_EXIT, s.c.pid, NULL) > mapped);
	assert_int_equal(child_end(&s.c), 0);
	stage_close(&s);
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

TEST(exec_of_another_thread_is_not_the_end)
{
	struct child c = child_start(exec_in_thread, NULL);
	struct target_watch *w;
	int exec;

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
