// SPDX-License-Identifier: BSD-3-Clause
/*
 * The ring between the helper and gpuprof: what is sent is read, once and in order, by as many
 * readers as there are slots; what has no room is counted. (Hostile ones: test_helper_ring_hostile.c.)
 */
#include "helper_ring_room.h"
#include "lib/test.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

TEST(records_are_read_once_in_order)
{
	struct got got = { .in_order = true };
	struct ring_reader *s;
	struct helper_ring r;
	uint64_t sent = 0;

	s = open_read(&r);
	for (int lap = 0; lap < 500; lap++) {
		send_numbers(&r, sent, 100);
		sent += 100;
		assert_int_equal(ring_reader_read(s, take, &got), 1);
		assert_int_equal(got.n, sent);
	}
	assert_true(got.in_order);
	assert_int_equal(ring_reader_lost(s, 1u << GP_RING_KERNEL), 0);
	ring_reader_close(s);
	helper_ring_close(&r);
}

TEST(without_room_it_is_counted_and_nothing_is_overwritten)
{
	struct got got = { .in_order = true };
	struct ring_reader *s;
	struct helper_ring r;

	s = open_read(&r);
	send_numbers(&r, 0, 10000);
	assert_int_equal(ring_reader_read(s, take, &got), 1);
	assert_true(got.n > 100 && got.in_order);
	assert_int_equal(got.n + ring_reader_lost(s, 1u << GP_RING_KERNEL), 10000);
	send_numbers(&r, 10000, 10);
	assert_int_equal(ring_reader_read(s, take, &got), 1);
	assert_int_equal(got.last, 10009);
	ring_reader_close(s);
	helper_ring_close(&r);
}

TEST(what_was_noted_is_read_and_no_more)
{
	struct got got = { .in_order = true };
	struct ring_reader *s;
	struct helper_ring r;

	s = open_read(&r);
	assert_int_equal(ring_reader_read(s, take, &got), 1);
	assert_false(ring_reader_note(s));
	send_numbers(&r, 0, 10);
	assert_true(ring_reader_note(s));
	send_numbers(&r, 10, 10);
	assert_int_equal(ring_reader_read(s, take, &got), 1);
	assert_int_equal(got.n, 10);
	assert_int_equal(ring_reader_read(s, take, &got), 1);	/* nothing was noted: all */
	assert_int_equal(got.n, 20);
	assert_false(ring_reader_note(s));
	ring_reader_close(s);
	helper_ring_close(&r);
}

/* As when four of them were killed, and the helper has slept since. */
TEST(a_reader_long_gone_loses_its_slot)
{
	struct ring_reader *s[GP_RING_SLOTS], *late;
	uint64_t now = time_now_ns();
	struct helper_ring r;

	assert_int_equal(helper_ring_open(&r, RING, 1), 0);
	for (int i = 0; i < GP_RING_SLOTS; i++) {
		s[i] = reader(&r, ALL);
		assert_int_equal(ring_reader_renew(s[i], now), 0);
	}
	now += GP_RING_LEASE_NS + GP_RING_ABANDONED_NS;
	assert_null(ring_reader_open(dup(r.fd), getpid(), ALL, now));
	assert_int_equal(errno, EUSERS);
	late = ring_reader_open(dup(r.fd), getpid(), ALL, now + 1);
	assert_non_null(late);
	assert_int_equal(ring_reader_renew(late, now + 1), 0);
	assert_int_equal(ring_reader_renew(s[0], now + 1), -ESTALE);
	for (int i = 0; i < GP_RING_SLOTS; i++)
		ring_reader_close(s[i]);
	assert_int_equal(ring_reader_renew(late, now + 2), 0);
	ring_reader_close(late);
	helper_ring_close(&r);
}

/* It was killed before it renewed its lease for the first time. */
TEST(a_reader_that_only_claimed_a_slot_loses_it)
{
	struct ring_reader *s[GP_RING_SLOTS], *late;
	uint64_t now = time_now_ns();
	struct helper_ring r;
	uint32_t seen;

	assert_int_equal(helper_ring_open(&r, RING, 1), 0);
	for (int i = 0; i < GP_RING_SLOTS; i++)
		assert_non_null(s[i] = ring_reader_open(dup(r.fd), getpid(), ALL, now));
	assert_int_equal(look(&r), 0);		/* which asks for no records */
	now += GP_RING_ABANDONED_NS;
	assert_null(ring_reader_open(dup(r.fd), getpid(), ALL, now));
	late = ring_reader_open(dup(r.fd), getpid(), ALL, now + 1);
	assert_non_null(late);
	seen = r.head->wake;
	assert_int_equal(ring_reader_renew(late, now + 1), 0);
	assert_int_equal(r.head->wake, seen + 1);
	assert_int_equal(ring_reader_renew(late, now + 2), 0);
	assert_int_equal(r.head->wake, seen + 1);
	assert_int_equal(ring_reader_renew(late, now + 2 + GP_RING_LEASE_NS), 0);
	assert_int_equal(r.head->wake, seen + 2);	/* we were late: it may have fallen asleep */
	for (int i = 0; i < GP_RING_SLOTS; i++)
		ring_reader_close(s[i]);
	ring_reader_close(late);
	helper_ring_close(&r);
}

TEST(each_reader_has_its_own_ring_and_kinds)
{
	struct ring_reader *s[GP_RING_SLOTS];
	struct helper_ring r;
	uint64_t number = 1;
	uint32_t fresh;

	assert_int_equal(helper_ring_open(&r, RING, 1), 0);
	for (int i = 0; i < GP_RING_SLOTS; i++)
		s[i] = reader(&r, i % 2 ? 1u << GP_RING_API : 1u << GP_RING_KERNEL);
	assert_null(reader(&r, ALL));
	assert_int_equal(errno, EUSERS);
	assert_int_equal(helper_ring_look(&r, time_now_ns(), &fresh),
			 1u << GP_RING_API | 1u << GP_RING_KERNEL);
	helper_ring_admit(&r);
	assert_int_equal(fresh, 15);
	helper_ring_send(&r, GP_RING_API, &number, sizeof(number));
	for (int i = 0; i < GP_RING_SLOTS; i++) {
		struct got got = { .in_order = true };

		assert_int_equal(ring_reader_read(s[i], take, &got), 1);
		assert_int_equal(got.n, i % 2);
	}
	assert_int_equal(look(&r), 0);
	ring_reader_close(s[2]);
	assert_non_null(s[2] = reader(&r, ALL));
	look(&r);
	for (int i = 0; i < GP_RING_SLOTS; i++)
		ring_reader_close(s[i]);
	helper_ring_close(&r);
}

TEST(a_reader_that_leaves_gets_what_was_recorded_and_keeps_no_helper_awake)
{
	struct ring_reader *first, *second;
	struct helper_ring r;
	uint32_t fresh;
	struct got got = { .in_order = true };
	uint64_t number = 1;

	first = open_read(&r);
	assert_true(ring_reader_is_alone(first));
	second = reader(&r, 1u << GP_RING_KERNEL);
	assert_false(ring_reader_is_alone(first));
	look(&r);
	ring_reader_want(first, ALL | GP_RING_WANT_END);
	assert_int_equal(helper_ring_look(&r, time_now_ns(), &fresh), 1u << GP_RING_KERNEL);
	ring_reader_close(second);
	assert_int_equal(helper_ring_look(&r, time_now_ns(), &fresh), 0);
	helper_ring_send(&r, GP_RING_KERNEL, &number, sizeof(number));
	assert_int_equal(ring_reader_read(first, take, &got), 1);
	assert_int_equal(got.n, 1);
	ring_reader_close(first);
	helper_ring_close(&r);
}

TEST(a_lease_that_ran_out_ends_the_records_and_later_the_slot)
{
	uint64_t now = time_now_ns(), number = 1;
	struct got got = { .in_order = true };
	struct ring_reader *s;
	struct helper_ring r;
	uint32_t fresh;

	assert_int_equal(helper_ring_open(&r, RING, 1), 0);
	s = reader(&r, ALL);
	assert_int_equal(helper_ring_look(&r, now, &fresh), ALL);
	assert_int_equal(helper_ring_look(&r, now + 2 * GP_RING_LEASE_NS, &fresh), 0);
	helper_ring_send(&r, GP_RING_API, &number, sizeof(number));
	assert_int_equal(ring_reader_read(s, take, &got), 1);
	assert_int_equal(got.n, 0);
	assert_int_equal(ring_reader_renew(s, now + 2 * GP_RING_LEASE_NS), 0);
	assert_int_equal(helper_ring_look(&r, now + 2 * GP_RING_LEASE_NS, &fresh), ALL);
	assert_int_equal(fresh, 1);
	assert_int_equal(helper_ring_look(&r, now + 20 * GP_RING_LEASE_NS, &fresh), 0);
	assert_int_equal(ring_reader_renew(s, now + 20 * GP_RING_LEASE_NS), -ESTALE);
	ring_reader_close(s);
	helper_ring_close(&r);
}

/* ---- many at once --------------------------------------------------------------------------- */

#define WRITERS 4
#define EACH 200000u

struct writer {
	struct helper_ring *ring;
	uint64_t id;
};

static void *write_many(void *ctx)
{
	const struct writer *w = ctx;

	for (uint64_t i = 1; i <= EACH; i++) {
		uint64_t payload[3] = { w->id, i, w->id ^ i };

		helper_ring_send(w->ring, GP_RING_API, payload, sizeof(payload));
	}
	return NULL;
}

struct mixed {
	uint64_t last[WRITERS], n;
	bool good;
};

static int take_mixed(void *ctx, uint16_t kind, const void *payload, size_t len)
{
	struct mixed *m = ctx;
	const uint64_t *p = payload;

	m->good &= kind == GP_RING_API && len == 24 && p[0] < WRITERS && p[2] == (p[0] ^ p[1]) &&
		   p[1] > m->last[p[0]];
	if (p[0] < WRITERS)
		m->last[p[0]] = p[1];
	m->n++;
	return 0;
}

TEST(threads_that_write_at_once_never_mix)
{
	struct mixed mixed = { .good = true };
	struct writer writers[WRITERS];
	pthread_t threads[WRITERS];
	struct ring_reader *s;
	struct helper_ring r;

	s = open_read(&r);
	for (uint64_t i = 0; i < WRITERS; i++) {
		writers[i] = (struct writer){ &r, i };
		assert_int_equal(pthread_create(&threads[i], NULL, write_many, &writers[i]), 0);
	}
	for (int i = 0; i < WRITERS;) {
		assert_true(ring_reader_read(s, take_mixed, &mixed) >= 0);
		if (!pthread_tryjoin_np(threads[i], NULL))
			i++;
	}
	assert_int_equal(ring_reader_read(s, take_mixed, &mixed), 1);
	assert_true(mixed.good);
	assert_int_equal(mixed.n + ring_reader_lost(s, 1u << GP_RING_API), (uint64_t)WRITERS * EACH);
	ring_reader_close(s);
	helper_ring_close(&r);
}

/* ---- finding it in another process ------------------------------------------------------------ */

TEST(it_is_found_in_another_process_and_gone_with_it)
{
	struct got got = { .in_order = true };
	int go[2], fd, status;
	struct ring_reader *s;
	char word;
	pid_t pid;

	assert_int_equal(pipe(go), 0);
	pid = fork();
	if (!pid) {
		struct helper_ring r;
		uint32_t fresh;

		if (helper_ring_open(&r, RING, 1) || write(go[1], "x", 1) != 1)
			_exit(1);
		while (helper_ring_look(&r, time_now_ns(), &fresh), !fresh)
			usleep(1000);
		helper_ring_admit(&r);
		send_numbers(&r, 1, 5);
		pause();
	}
	assert_int_equal(read(go[0], &word, 1), 1);
	fd = ring_reader_find(pid);
	assert_true(fd >= 0);
	s = ring_reader_open(fd, pid, ALL, 0);
	assert_non_null(s);
	ring_reader_renew(s, time_now_ns());
	for (int i = 0; i < 1000 && got.n < 5; i++, usleep(1000))
		assert_true(ring_reader_read(s, take, &got) >= 0);
	assert_int_equal(got.n, 5);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	assert_int_equal(ring_reader_read(s, take, &got), 1);	/* what it wrote outlives it */
	assert_int_equal(ring_reader_find(pid), -ESRCH);
	ring_reader_close(s);
	assert_int_equal(ring_reader_find(getpid()), -ENOENT);
	close(go[0]);
	close(go[1]);
}

/* A child that holds what its parent has open, until that is closed. */
static pid_t fork_holder(int *until)
{
	int go[2];
	pid_t pid;
	char c;

	assert_int_equal(pipe(go), 0);
	pid = fork();
	if (!pid) {
		close(go[1]);
		_exit(read(go[0], &c, 1) != 0);
	}
	close(go[0]);
	*until = go[1];
	return pid;
}

TEST(a_ring_that_was_inherited_is_not_the_childs)
{
	struct gp_ring_head head;
	struct helper_ring r;
	int until, fd, status;
	pid_t child;

	assert_int_equal(helper_ring_open(&r, RING, time_now_ns()), 0);
	child = fork_holder(&until);
	assert_int_equal(ring_reader_find(child), -ENOENT);
	assert_int_equal(ring_reader_peek(child, &head), -ENOENT);
	assert_int_equal(ring_reader_peek(getpid(), &head), 0);
	fd = ring_reader_find(getpid());
	assert_true(fd >= 0);
	close(fd);
	close(until);
	waitpid(child, &status, 0);
	helper_ring_close(&r);
}

/* Is pid 1 of its namespace, has a ring, and forks a child that is pid 1 in another one, with that ring. */
static int hold_as_first(int reported)
{
	struct helper_ring r;
	int until;
	pid_t child;

	if (helper_ring_open(&r, RING, time_now_ns()) || unshare(CLONE_NEWPID))
		return 1;
	usleep(50000);	/* procfs gives times to 10 ms */
	child = fork_holder(&until);
	if (write(reported, "x", 1) != 1)
		return 1;
	pause();
	return child < 0;
}

static pid_t child_of(pid_t pid)
{
	char path[64];
	int child = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, pid);
	file = fopen(path, "r");
	if (!file || fscanf(file, "%d", &child) != 1)
		child = 0;
	if (file)
		fclose(file);
	return child;
}

TEST(a_child_of_the_same_number_in_its_own_namespace_has_none_either)
{
	struct ring_owner owner;
	struct gp_ring_head head;
	int reported[2], status, fd;
	pid_t middle, first, second;
	char c;

	assert_int_equal(pipe(reported), 0);
	middle = fork();
	if (!middle) {
		close(reported[0]);
		if (unshare(CLONE_NEWPID) || (first = fork()) < 0)
			_exit(1);
		if (!first)
			_exit(hold_as_first(reported[1]));
		close(reported[1]);
		pause();
	}
	close(reported[1]);
	if (read(reported[0], &c, 1) != 1) {	/* may not make namespaces */
		kill(middle, SIGKILL);
		waitpid(middle, &status, 0);
		skip();
	}
	first = child_of(middle);
	second = child_of(first);
	assert_true(first && second);
	fd = ring_reader_find(first);
	assert_true(fd >= 0);
	assert_int_equal(ring_owner_read(second, &owner), 0);
	assert_int_equal(owner.own_pid, 1);
	assert_int_equal(ring_reader_peek_at(fd, &owner, &head), -ESRCH);
	assert_int_equal(ring_reader_find(second), -ENOENT);
	close(fd);
	close(reported[0]);
	kill(first, SIGKILL);	/* and with it all of its namespace */
	kill(middle, SIGKILL);
	waitpid(middle, &status, 0);
}
