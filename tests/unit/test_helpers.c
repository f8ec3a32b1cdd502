// SPDX-License-Identifier: BSD-3-Clause
/*
 * Helpers of processes that come and go, as the engine meets them: each is read to its end, what it
 * needed is given back then, and what was not recorded is unseen. They are looked for a little at a time.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/num.h"
#include "base/time.h"
#include "lib/test.h"
#include "source/helper/ring_reader.h"
#include "source/helper/helpers.h"
#include "gpuprof/work.h"
#include "helper/ring.h"

#define WAIT_NS (20 * NS_PER_SEC)
#define RING 65536

static int count_losses(void *ctx, const struct event *ev)
{
	*(unsigned int *)ctx += ev->kind == EVENT_UNSEEN && ev->unseen.count == 7;
	return 0;
}

static unsigned int count_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned int n = 0;

	assert_non_null(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

/* Reports one loss when it has a reader; then, torn, it dies within a record. */
static void be_process(bool torn)
{
	struct gp_ring_loss loss = { .since_ns = time_now_ns(), .until_ns = time_now_ns(), .count = 7 };
	struct helper_ring r;
	uint32_t fresh;

	alarm(60);		/* a test that fails leaves no process behind */
	if (helper_ring_open(&r, RING, time_now_ns()))
		_exit(1);
	while (helper_ring_look(&r, time_now_ns(), &fresh), !fresh)
		usleep(1000);
	helper_ring_admit(&r);
	helper_ring_send(&r, GP_RING_LOSS, &loss, sizeof(loss));
	if (torn)
		r.head->slot[0].written += 64;
	_exit(0);
}

static enum helpers_state state_of(const struct helpers *h, size_t i)
{
	struct helpers_status st;

	helpers_status(h, i, &st);
	return st.state;
}

static void run_one(struct helpers *h, bool torn)
{
	unsigned int losses = 0;
	const struct event_sink sink = { count_losses, &losses };
	uint64_t end_ns = time_now_ns() + WAIT_NS;
	pid_t pid = fork();
	size_t i = helpers_count(h);

	assert_true(pid >= 0);
	if (!pid)
		be_process(torn);
	assert_int_equal(helpers_add(h, &(struct helpers_process){ .pid = pid, .own_pid = pid }), 0);
	while (state_of(h, i) != HELPERS_ENDED && time_now_ns() < end_ns) {
		assert_int_equal(helpers_pump(h, time_now_ns(), &sink), 0);
		usleep(1000);
	}
	assert_int_equal(state_of(h, i), HELPERS_ENDED);
	assert_int_equal(losses, 1);
	assert_int_equal(helpers_pump(h, time_now_ns(), &sink), 0);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

TEST(one_that_died_within_a_record_is_read_to_there)
{
	struct helpers *h = helpers_new(HELPERS_WORKS_ONLY, GP_RING_WANT_NODES);

	assert_non_null(h);
	run_one(h, true);
	helpers_free(h);
}

TEST(those_that_ended_keep_no_descriptor)
{
	struct helpers *h = helpers_new(HELPERS_ALL_CALLS, GP_RING_WANT_NODES);
	unsigned int before = count_fds();
	struct helpers_status st;

	assert_non_null(h);
	for (int i = 0; i < 5; i++)
		run_one(h, false);
	assert_int_equal(count_fds(), before);
	assert_int_equal(helpers_count(h), 5);
	helpers_status(h, 4, &st);
	assert_int_equal(st.counts.dropped, 7);		/* it is remembered */
	helpers_free(h);
}

/* ---- one that follows orders --------------------------------------------------------------- */

enum wish { NOTHING, REPORT_TIME, LOSE_KERNEL, BREAK_RING, TAKE_SLOT, END_IN_ORDER, END };

struct puppet {			/* shared with the process */
	enum wish wish;
	uint32_t state;		/* of the helper, from the beginning on */
	int descriptors;	/* opened before the ring is */
	uint32_t owner;		/* of the slot, when it was looked at last */
	int inherited;		/* rings of others */
	bool ready;
	pid_t pid;
};

static void obey(struct puppet *t, struct helper_ring *r)
{
	struct gp_ring_clock reading = { time_now_ns(), time_now_ns(), time_now_ns() };

	switch (t->wish) {
	case REPORT_TIME:
		helper_ring_send(r, GP_RING_CLOCK, &reading, sizeof(reading));
		break;
	case LOSE_KERNEL:
		r->head->slot[0].lost[GP_RING_KERNEL]++;
		break;
	case BREAK_RING:
		r->head->slot[0].written += 1;
		break;
	case TAKE_SLOT:
		r->head->slot[0].owner = 1;
		break;
	case END_IN_ORDER:
		r->head->state_ns = time_now_ns();
		r->head->state = GP_HELPER_ENDED;
		_exit(0);
	case END:
		_exit(0);
	default:
		break;
	}
	__atomic_store_n(&t->wish, NOTHING, __ATOMIC_RELEASE);
}

static void be_puppet(struct puppet *t)
{
	struct helper_ring r;
	uint32_t fresh;

	alarm(60);
	for (int i = 0; i < t->descriptors; i++)
		if (open("/dev/null", O_RDONLY) < 0)
			_exit(1);
	for (int i = 0; t->descriptors && i < 2; i++) {
		if (memfd_create(GP_RING_NAME, 0) < 0 || helper_ring_open(&r, RING, time_now_ns()))
			_exit(1);
		r.head->pid = 1;
	}
	if (helper_ring_open(&r, RING, time_now_ns()))
		_exit(1);
	r.head->state_ns = time_now_ns();
	r.head->state = t->state;
	__atomic_store_n(&t->ready, true, __ATOMIC_RELEASE);
	for (;; usleep(500)) {
		helper_ring_look(&r, time_now_ns(), &fresh);
		helper_ring_admit(&r);
		__atomic_store_n(&t->owner, r.head->slot[0].owner, __ATOMIC_RELEASE);
		obey(t, &r);
	}
}

static struct puppet *puppet_start(uint32_t state, int descriptors)
{
	struct puppet *t = mmap(NULL, sizeof(*t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t pid;

	assert_true(t != MAP_FAILED);
	*t = (struct puppet){ .state = state, .descriptors = descriptors };
	pid = fork();
	assert_true(pid >= 0);
	if (!pid)
		be_puppet(t);
	t->pid = pid;
	for (uint64_t end_ns = time_now_ns() + WAIT_NS; time_now_ns() < end_ns; usleep(500))
		if (__atomic_load_n(&t->ready, __ATOMIC_ACQUIRE))
			return t;
	fail_msg("the process did not begin");
	return NULL;
}

static void puppet_end(struct puppet *t)
{
	kill(t->pid, SIGKILL);
	assert_int_equal(waitpid(t->pid, NULL, 0), t->pid);
	munmap(t, sizeof(*t));
}

struct unseen_reported {
	uint64_t n, first_ns, last_ns;
	uint64_t seen_ns;	/* between what was pushed as unseen */
	uint64_t lost_since_ns;	/* of the first works that had no room; 0: none were lost */
	uint64_t recorded_ns;	/* EVENT_RECORDED_NS */
};

static int note_unseen(void *ctx, const struct event *ev)
{
	struct unseen_reported *u = ctx;

	if (ev->kind == EVENT_IDENTITY && !strcmp(ev->fact.key, EVENT_RECORDED_NS))
		u->recorded_ns = strtoull(ev->fact.value, NULL, 10);
	if (ev->kind == EVENT_UNSEEN && ev->unseen.why == UNSEEN_LOST)
		u->lost_since_ns = u->lost_since_ns ? u->lost_since_ns : num_max(ev->start_ns, 1);
	if (ev->kind != EVENT_UNSEEN || ev->unseen.why == UNSEEN_LOST)
		return 0;
	assert_int_equal(ev->unseen.why, UNSEEN_UNKNOWN);
	if (!u->n++)
		u->first_ns = ev->start_ns;
	else if (ev->start_ns > u->last_ns)
		u->seen_ns += ev->start_ns - u->last_ns;
	u->last_ns = ev->end_ns;
	return 0;
}

struct room {
	struct helpers *h;
	struct puppet *t;
	struct unseen_reported got;
	struct event_sink sink;
};

static void room_open_with(struct room *r, uint32_t state, enum helpers_calls calls)
{
	*r = (struct room){ .h = helpers_new(calls, GP_RING_WANT_NODES), .t = puppet_start(state, 0) };
	r->sink = (struct event_sink){ note_unseen, &r->got };
	assert_non_null(r->h);
	assert_int_equal(helpers_add(r->h, &(struct helpers_process){ .pid = r->t->pid,
								       .own_pid = r->t->pid }), 0);
}

static void room_open(struct room *r, uint32_t state)
{
	room_open_with(r, state, HELPERS_WORKS_ONLY);
}

static void room_close(struct room *r)
{
	helpers_free(r->h);
	puppet_end(r->t);
}

static bool pumped(struct room *r)
{
	assert_int_equal(helpers_pump(r->h, time_now_ns(), &r->sink), 0);
	usleep(1000);
	return true;
}

#define PUMP_UNTIL(r, condition) do { \
	uint64_t until_ns = time_now_ns() + WAIT_NS; \
	while (pumped(r) && !(condition) && time_now_ns() < until_ns) \
		; \
	assert_true(condition); \
} while (0)

static void make(struct room *r, enum wish wish)
{
	__atomic_store_n(&r->t->wish, wish, __ATOMIC_RELEASE);
	PUMP_UNTIL(r, !__atomic_load_n(&r->t->wish, __ATOMIC_ACQUIRE));
}

TEST(records_for_earlier_readers_are_unseen)
{
	uint64_t now = time_now_ns();
	struct room r;

	room_open(&r, GP_HELPER_AWAKE);
	PUMP_UNTIL(&r, state_of(r.h, 0) == HELPERS_WATCHED && r.got.n);
	assert_true(r.got.first_ns <= 1);		/* since ever */
	make(&r, LOSE_KERNEL);
	PUMP_UNTIL(&r, r.got.lost_since_ns);
	assert_true(r.got.lost_since_ns >= now);	/* the time before is unknown: nothing was recorded */
	make(&r, REPORT_TIME);
	now = time_now_ns();
	PUMP_UNTIL(&r, r.got.n > 1 || time_now_ns() - now > NS_PER_SEC);
	assert_true(r.got.last_ns <= now);
	now = r.got.n;
	for (uint64_t end_ns = time_now_ns() + NS_PER_SEC; time_now_ns() < end_ns;)
		pumped(&r);
	assert_int_equal(r.got.n, now);		/* from then on it records all */
	assert_int_equal(r.got.seen_ns, 0);
	room_close(&r);
}

TEST(before_cuda_has_started_nothing_is_unseen)
{
	struct room r;

	room_open(&r, GP_HELPER_VIRGIN);
	PUMP_UNTIL(&r, state_of(r.h, 0) == HELPERS_WATCHED);
	make(&r, REPORT_TIME);
	PUMP_UNTIL(&r, true);
	assert_int_equal(helpers_end(r.h, time_now_ns(), &r.sink), 0);
	assert_int_equal(r.got.n, 0);
	room_close(&r);
}

/* We did not renew our lease in time. */
TEST(while_another_has_our_slot_it_is_unseen)
{
	struct helpers_status st;
	uint64_t taken_ns, end_ns = time_now_ns() + WAIT_NS;
	struct room r;

	room_open(&r, GP_HELPER_AWAKE);
	PUMP_UNTIL(&r, state_of(r.h, 0) == HELPERS_WATCHED);
	make(&r, REPORT_TIME);
	PUMP_UNTIL(&r, r.got.n);
	r.got = (struct unseen_reported){ 0 };
	make(&r, TAKE_SLOT);
	taken_ns = time_now_ns();
	while (!r.got.n && time_now_ns() < end_ns)
		make(&r, REPORT_TIME);		/* in the end to our new slot */
	assert_int_equal(state_of(r.h, 0), HELPERS_WATCHED);
	assert_true(r.got.first_ns < taken_ns && r.got.last_ns > taken_ns && !r.got.seen_ns);
	helpers_status(r.h, 0, &st);
	assert_int_equal(st.away_ns, r.got.last_ns - r.got.first_ns);
	room_close(&r);
}

TEST(a_broken_ring_is_given_back_and_all_since_is_unseen)
{
	struct helpers_status st;
	uint64_t since_ns;
	struct room r;

	room_open(&r, GP_HELPER_AWAKE);
	PUMP_UNTIL(&r, state_of(r.h, 0) == HELPERS_WATCHED);
	make(&r, REPORT_TIME);
	PUMP_UNTIL(&r, true);
	make(&r, BREAK_RING);
	PUMP_UNTIL(&r, state_of(r.h, 0) == HELPERS_BROKEN && !__atomic_load_n(&r.t->owner, __ATOMIC_ACQUIRE));
	__atomic_store_n(&r.t->wish, END, __ATOMIC_RELEASE);
	since_ns = time_now_ns();
	PUMP_UNTIL(&r, r.got.last_ns >= since_ns);
	PUMP_UNTIL(&r, !helpers_know(r.h, r.t->pid));
	assert_int_equal(state_of(r.h, 0), HELPERS_BROKEN);	/* it is remembered as that */
	helpers_status(r.h, 0, &st);
	assert_true(st.away_ns > 0);
	room_close(&r);
}

static bool holds_up(const struct room *r)
{
	uint64_t now_ns = time_now_ns();

	return helpers_complete_ns(r->h, now_ns) < now_ns - HELPERS_LATE_NS / 2;
}

TEST(a_helper_without_call_records_blocks_no_other)
{
	static const uint32_t deaf[] = { GP_HELPER_VIRGIN, GP_HELPER_DRAINED, GP_HELPER_YIELDED, GP_HELPER_FAILED };
	struct room r;

	for (size_t i = 0; i < sizeof(deaf) / sizeof(deaf[0]); i++) {
		room_open_with(&r, deaf[i], HELPERS_ALL_CALLS);
		PUMP_UNTIL(&r, state_of(r.h, 0) == HELPERS_WATCHED);
		PUMP_UNTIL(&r, !holds_up(&r));
		room_close(&r);
	}
	room_open_with(&r, GP_HELPER_AWAKE, HELPERS_ALL_CALLS);
	PUMP_UNTIL(&r, r.got.n);
	assert_true(holds_up(&r));		/* it has sent no clock */
	room_close(&r);
}

/* ---- looking for it ------------------------------------------------------------------------- */

TEST(among_many_descriptors_it_is_looked_for_a_little_at_a_time)
{
	struct puppet *t = puppet_start(GP_HELPER_VIRGIN, 900);
	struct helpers *h = helpers_new(HELPERS_WORKS_ONLY, GP_RING_WANT_NODES);
	unsigned int ignored = 0, pumps = 0;
	const struct event_sink sink = { count_losses, &ignored };

	assert_non_null(h);
	assert_int_equal(helpers_add(h, &(struct helpers_process){ .pid = t->pid, .own_pid = t->pid }), 0);
	while (state_of(h, 0) != HELPERS_WATCHED && pumps++ < 100)
		assert_int_equal(helpers_pump(h, time_now_ns(), &sink), 0);
	assert_in_range(pumps, 2, 4);		/* 512 each */
	helpers_free(h);
	puppet_end(t);
}

/* One round, which is due, of this process: its result, and what it cost. */
static int search_round(struct ring_search *s, uint64_t now_ns, struct ring_found *found, unsigned int *cost)
{
	unsigned int left = 1000;
	int got = ring_search(s, getpid(), now_ns, &left, found);

	*cost = 1000 - left;
	return got;
}

TEST(descriptors_are_read_again_when_their_number_has_changed_or_after_a_second)
{
	struct ring_search s = { .dir = NULL };
	uint64_t now_ns = time_now_ns();
	struct ring_found found;
	unsigned int cost;
	struct stat st;
	int ring;

	assert_int_equal(stat("/proc/self/fd", &st), 0);
	assert_int_equal(search_round(&s, now_ns, &found, &cost), -ENOENT);
	assert_true(cost > 8);
	assert_int_equal(search_round(&s, now_ns + NS_PER_MS, &found, &cost), -ENOENT);
	assert_true(st.st_size ? cost == 1 : cost > 8);		/* 0: before Linux 6.2 */
	assert_int_equal(search_round(&s, now_ns + NS_PER_SEC, &found, &cost), -ENOENT);
	assert_true(cost > 8);
	ring = memfd_create(GP_RING_NAME, MFD_CLOEXEC);
	assert_true(ring >= 0);
	for (int i = 0; i < 2; i++) {		/* it may not have been complete */
		assert_int_equal(search_round(&s, now_ns + NS_PER_SEC, &found, &cost), 1);
		assert_int_equal(found.number, ring);
		close(found.fd);
		close(found.pidfd);
		ring_search_stop(&s);
	}
	close(ring);
}

TEST(one_without_a_helper_that_ended_is_forgotten)
{
	struct helpers *h = helpers_new(HELPERS_WORKS_ONLY, GP_RING_WANT_NODES);
	unsigned int ignored = 0, before = count_fds();
	const struct event_sink sink = { count_losses, &ignored };
	pid_t pid = fork();

	assert_non_null(h);
	assert_true(pid >= 0);
	if (!pid)
		for (alarm(60);;)
			pause();
	assert_int_equal(helpers_add(h, &(struct helpers_process){ .pid = pid, .own_pid = pid }), 0);
	assert_int_equal(helpers_pump(h, time_now_ns(), &sink), 0);
	assert_true(helpers_know(h, pid));
	assert_int_equal(count_fds(), before);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	for (uint64_t end_ns = time_now_ns() + WAIT_NS; helpers_count(h) && time_now_ns() < end_ns; usleep(1000))
		assert_int_equal(helpers_pump(h, time_now_ns(), &sink), 0);
	assert_int_equal(helpers_count(h), 0);
	assert_false(helpers_know(h, pid));
	assert_false(helpers_has_sent(h, pid));
	helpers_free(h);
}

/* A library could not be attached to while it ran. */
TEST(a_function_without_a_probe_enables_all_call_records)
{
	struct gp_ring_head head;
	struct room r;

	room_open_with(&r, GP_HELPER_AWAKE, HELPERS_UNPROBED_CALLS);
	PUMP_UNTIL(&r, state_of(r.h, 0) == HELPERS_WATCHED);
	assert_int_equal(ring_reader_peek(r.t->pid, &head), 0);
	assert_false(head.slot[0].kinds & GP_RING_WANT_ALL_CALLS);
	helpers_leave_out(r.h, 1);
	PUMP_UNTIL(&r, true);
	assert_int_equal(ring_reader_peek(r.t->pid, &head), 0);
	assert_true(head.slot[0].kinds & GP_RING_WANT_ALL_CALLS);
	room_close(&r);
}

/* Others' records are read before its own, which takes time where there are many. */
TEST(one_that_ends_after_the_time_of_a_reading_has_ended_in_order)
{
	uint64_t now_ns;
	siginfo_t end;
	struct room r;

	room_open(&r, GP_HELPER_AWAKE);
	PUMP_UNTIL(&r, state_of(r.h, 0) == HELPERS_WATCHED);
	make(&r, REPORT_TIME);
	PUMP_UNTIL(&r, r.got.n);
	now_ns = time_now_ns();
	__atomic_store_n(&r.t->wish, END_IN_ORDER, __ATOMIC_RELEASE);
	assert_int_equal(waitid(P_PID, (id_t)r.t->pid, &end, WEXITED | WNOWAIT), 0);
	assert_false(helpers_know(r.h, r.t->pid));
	assert_true(helpers_has_sent(r.h, r.t->pid));	/* though its end was not read yet */
	assert_int_equal(helpers_pump(r.h, now_ns, &r.sink), 0);
	assert_int_equal(state_of(r.h, 0), HELPERS_ENDED);
	assert_true(r.got.recorded_ns > now_ns);
	room_close(&r);
}

/* Records of probes may come after its end. */
TEST(an_exited_process_seen_again_has_its_helpers_record)
{
	struct helpers_status st;
	struct room r;

	room_open(&r, GP_HELPER_AWAKE);
	PUMP_UNTIL(&r, state_of(r.h, 0) == HELPERS_WATCHED);
	make(&r, REPORT_TIME);
	__atomic_store_n(&r.t->wish, END, __ATOMIC_RELEASE);
	PUMP_UNTIL(&r, !helpers_know(r.h, r.t->pid));
	assert_int_equal(helpers_add(r.h, &(struct helpers_process){ .pid = r.t->pid, .own_pid = r.t->pid }), 0);
	PUMP_UNTIL(&r, true);
	assert_true(helpers_find(r.h, r.t->pid, &st));
	assert_int_equal(st.state, HELPERS_ENDED);
	assert_int_equal(st.head.tag, GP_RING_TAG);
	room_close(&r);
}
