// SPDX-License-Identifier: BSD-3-Clause
/* What a watch promises where a ring was full: what was lost is reported, and what it follows is right again. */
#include "target_events.h"

#include <poll.h>
#include <sched.h>

#include "lib/test.h"

/* Each has a ring of its own, and those of two may hold all that is mapped. */
static bool stay_on_one_cpu(void)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	return !sched_setaffinity(0, sizeof(one), &one);
}

static void flood(const char *path)
{
	for (int i = 0; i < 30000; i++)
		munmap(map_code(path), 4096);
}

static int map_much(struct child *me, void *arg)
{
	if (!stay_on_one_cpu() || !child_signal(me) || !child_await(me))
		return 1;
	flood(arg);
	return !child_signal(me) || !child_await(me);
}

TEST(losses_of_a_full_ring_are_counted)
{
	struct stage s;

	stage_open(&s, map_much);
	stage_turn(&s);		/* the loss is reported with the next event that finds room */
	stage_last_turn(&s);
	assert_true(read_until_missed(s.w, 1000));
	stage_close(&s);
}

#define FLOODS 3

static int map_much_often(struct child *me, void *arg)
{
	if (!stay_on_one_cpu())
		return 1;
	for (int i = 0; i < FLOODS; i++) {
		if (!child_signal(me) || !child_await(me))
			return 1;
		flood(arg);
	}
	return !child_signal(me) || !child_await(me);
}

static struct {
	uint64_t n, events, last_ns, least_ns;	/* times reported; what; when; between two of them */
} losses;

static void note_loss(void *ctx, const struct target_event *ev)
{
	uint64_t now_ns = time_now_ns();

	(void)ctx;
	if (ev->kind != TARGET_MISSED)
		return;
	if (losses.n++ && now_ns - losses.last_ns < losses.least_ns)
		losses.least_ns = now_ns - losses.last_ns;
	losses.last_ns = now_ns;
	losses.events += ev->missed;
}

/* Each look at the whole host may take so long that the rings are full again. */
TEST(losses_are_reported_together_once_a_second)
{
	struct scratch scratch;
	struct target_watch *w;
	struct pollfd p;
	struct child c;
	char path[512];

	scratch_make(&scratch);
	write_page(scratch_path(&scratch, "planted.so", path));
	for (int host = 0; host < 2; host++) {
		c = child_start(map_much_often, path);
		assert_true(child_await(&c));
		w = watch(host ? -1 : c.pid);
		memset(&losses, 0, sizeof(losses));
		losses.least_ns = UINT64_MAX;
		for (int i = 0; i < FLOODS; i++) {
			assert_true(child_signal(&c));
			assert_true(child_await(&c));
			assert_int_equal(target_watch_read(w, note_loss, NULL), 0);
		}
		assert_true(child_signal(&c));
		assert_int_equal(child_end(&c), 0);
		p = (struct pollfd){ .fd = target_watch_fd(w), .events = POLLIN };
		while (losses.events < FLOODS * 1000 && poll(&p, 1, PATIENCE_MS) > 0)
			assert_int_equal(target_watch_read(w, note_loss, NULL), 0);
		target_watch_free(w);
		assert_true(losses.events >= FLOODS * 1000);
		assert_true(losses.least_ns >= NS_PER_SEC);
	}
	scratch_remove(&scratch);
}

/* All on one CPU, so that one ring loses it and reports so. */
static int lose_a_fork(struct child *me, void *arg)
{
	int go[2];
	char byte;
	pid_t pid;

	if (!stay_on_one_cpu() || pipe(go) || !child_signal(me) || !child_await(me))
		return 1;
	flood(arg);
	pid = fork();
	if (!pid) {
		close(go[1]);
		_exit(read(go[0], &byte, 1) || map_code(arg) == MAP_FAILED);
	}
	if (!child_signal(me) || !child_await(me) || map_code(arg) == MAP_FAILED ||
	    !child_signal(me) || !child_await(me))
		return 1;
	close(go[1]);
	return waitpid(pid, NULL, 0) != pid;
}

TEST(a_child_whose_fork_was_lost_is_watched)
{
	struct stage s;

	stage_open(&s, lose_a_fork);
	stage_turn(&s);		/* to lose */
	stage_turn(&s);		/* to report so */
	assert_true(read_until_missed(s.w, 1000));
	events.n = 0;
	stage_last_turn(&s);
	assert_int_equal(mapped_below(&s), 1);
	stage_close(&s);
}

/* Forks, and has it end while the ring is full. */
static int lose_an_exit(struct child *me, void *arg)
{
	int go[2];
	char byte;
	pid_t pid;

	if (!stay_on_one_cpu() || pipe(go) || !child_signal(me) || !child_await(me))
		return 1;
	pid = fork();
	if (!pid) {
		close(go[1]);
		_exit((int)read(go[0], &byte, 1));
	}
	if (!child_signal(me) || !child_await(me))
		return 1;
	flood(arg);
	close(go[1]);
	return waitpid(pid, NULL, 0) != pid || !child_signal(me) || !child_await(me) ||
	       map_code(arg) == MAP_FAILED || !child_signal(me) || !child_await(me);
}

TEST(a_child_whose_end_was_lost_ends)
{
	struct stage s;
	pid_t child;
	int forked;

	stage_open(&s, lose_an_exit);
	for (int i = 0; i < 3; i++)		/* to fork; to lose; to report so */
		stage_turn(&s);
	forked = find(&events, 0, TARGET_FORK, s.c.pid, NULL);
	assert_true(forked >= 0);
	child = events.ev[forked].child;
	assert_true(read_until_missed(s.w, 1000));
	assert_true(read_until(s.w, TARGET_EXIT, child));
	stage_last_turn(&s);
	assert_int_equal(count(&events, TARGET_EXIT, child, NULL), 1);
	stage_close(&s);
}
