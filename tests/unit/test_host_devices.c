// SPDX-License-Identifier: BSD-3-Clause
/*
 * Devices of the host over several processes, each with a book and an ordinal of its own: who had
 * them is what the specification says of all works, whatever comes first and whenever it is read.
 * TEST_SEED repeats a run.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ledger/host_devices.c"
#include "base/num.h"
#include "ledger/devices.h"
#include "lib/random.h"
#include "lib/share_spec.h"
#include "lib/test.h"

#define OPEN 1000
#define PROCESSES 3
#define WORKS 40

/* Queued since its launch returned, else anything. */
static int divide(void *ctx, uint32_t pid, const struct device_gap *gap, uint64_t *ns,
		  struct stalls *stalls)
{
	uint64_t since = gap->end_ns;

	(void)ctx;
	(void)pid;
	(void)stalls;
	if (gap->ended_by && gap->ended_by->has_launch)
		since = num_min(num_max(gap->ended_by->launch_end_ns, gap->start_ns), gap->end_ns);
	ns[IDLE_QUEUED] += gap->end_ns - since;
	ns[IDLE_OTHER] += since - gap->start_ns;
	return 0;
}

static const struct devices_divide by = { .divide = divide };

static void report_device_since(struct devices *d, uint32_t pid, uint32_t ordinal, const char *uuid,
			      uint64_t open_ns)
{
	struct device_facts facts = { .device = ordinal };

	snprintf(facts.uuid, sizeof(facts.uuid), "%s", uuid);
	assert_int_equal(devices_push_facts(d, &(struct event){ .kind = EVENT_DEVICE, .process = pid,
								.device.name = "a GPU",
								.device.facts = facts }, open_ns),
								0);
}

static void report_device(struct devices *d, uint32_t pid, uint32_t ordinal, const char *uuid)
{
	report_device_since(d, pid, ordinal, uuid, OPEN);
}

static void push(struct devices *d, uint32_t pid, uint32_t ordinal, uint64_t launched,
		 uint64_t start, uint64_t end)
{
	const struct work w = { .kind = WORK_KIND_KERNEL, .device = ordinal };
	const struct launch launch = { .tid = pid, .start_ns = launched, .end_ns = launched };

	assert_int_equal(devices_push_work(d, &(struct event){ .kind = EVENT_WORK, .process = pid,
							       .start_ns = start, .end_ns = end,
							       .work = w }, &launch, OPEN), 0);
}

/* ---- UUIDs ----------------------------------------------------------------------------------- */

/* CUDA_VISIBLE_DEVICES=1,0 in the one, =0,1 in the other. */
TEST(a_device_is_its_uuid_whatever_ordinal_a_process_uses)
{
	struct devices *d = devices_new();
	struct share_book *b;
	struct share_sum sum;

	report_device(d, 1, 0, "GPU-b");
	report_device(d, 1, 1, "GPU-a");
	report_device(d, 2, 0, "GPU-a");
	report_device(d, 2, 1, "GPU-b");
	push(d, 1, 0, 1005, 1010, 1030);
	push(d, 2, 1, 1015, 1040, 1050);
	push(d, 2, 0, 1015, 1045, 1046);
	assert_int_equal(devices_hosts(d)->all.n, 2);
	assert_string_equal(devices_hosts(d)->all.v[0]->uuid, "GPU-b");
	b = host_device_read(devices_hosts(d)->all.v[0], 1100, &by);
	assert_non_null(b);
	share_book_sum(b, &sum);
	assert_int_equal(share_book_member(b, 0).owned_ns, 20);
	assert_int_equal(share_book_member(b, 1).owned_ns, 10);
	assert_int_equal(share_book_member(b, 1).waited_ns, 15);
	assert_int_equal(sum.shared_ns, 0);
	assert_int_equal(sum.idle_ns, 70);
	share_book_free(b);
	devices_free(d);
}

/* 1 ran [1010, 1030) and [1080, 1090), and [1020, 1040) and [1060, 1070) are lost; 2 ran [1065, 1067). */
static const struct unseen *lost_of(void *ctx, uint32_t pid)
{
	return pid == 1 ? ctx : NULL;
}

TEST(unseen_time_of_a_process_is_unknown_where_none_ran)
{
	struct unseen lost = { .lost = { 0 } };
	const struct devices_divide with = { .divide = divide, .unseen = lost_of, .ctx = &lost };
	struct devices *d = devices_new();
	struct device_counts counts;
	struct share_book *b;
	struct share_sum sum;

	assert_int_equal(unseen_add(&lost, UNSEEN_LOST, 1020, 1040), 0);
	assert_int_equal(unseen_add(&lost, UNSEEN_UNKNOWN, 1060, 1070), 0);
	report_device(d, 1, 0, "GPU-a");
	report_device(d, 2, 0, "GPU-a");
	push(d, 1, 0, 1005, 1010, 1030);
	push(d, 1, 0, 1075, 1080, 1090);
	push(d, 2, 0, 1061, 1065, 1067);
	for (uint64_t settled = 1000; settled <= 1100; settled += 5) {
		assert_int_equal(devices_settle(d, 1, settled, &with), 0);
		assert_int_equal(devices_settle(d, 2, settled, &with), 0);
		/* Where a gap is open it is pushed as time passes, else it would come too late. */
		assert_int_equal(host_devices_settle_all(devices_hosts(d), settled, &with), 0);
		b = host_device_read(devices_hosts(d)->all.v[0], 1100, &with);
		assert_non_null(b);
		share_book_sum(b, &sum);
		assert_int_equal(share_book_member(b, 0).owned_ns, 30);
		assert_int_equal(share_book_member(b, 1).owned_ns, 2);
		assert_int_equal(sum.unknown_ns, 10 + 8);
		assert_int_equal(sum.idle_ns, 100 - 30 - 2 - 18);
		share_book_free(b);
	}
	devices_counts(d, &counts);
	assert_int_equal(counts.late_ns, 0);
	devices_free(d);
	unseen_free(&lost);
}

static const struct device_state *state_of(const struct devices *d, const struct host_member *m)
{
	for (size_t i = 0; i < devices_count(d); i++)
		if (devices_get(d, i)->process == m->process && devices_get(d, i)->device == m->device)
			return devices_get(d, i);
	return NULL;
}

static uint64_t late_ns(const struct devices *d)
{
	struct device_counts counts;

	devices_counts(d, &counts);
	return counts.late_ns;
}

/* Its work comes when nothing waits for it any more. */
TEST(late_time_is_settled_when_the_last_process_leaves_the_device)
{
	struct devices *d = devices_new();

	report_device(d, 1, 0, "GPU-a");
	assert_int_equal(host_devices_settle_all(devices_hosts(d), 1050, &by), 0);
	push(d, 1, 0, 1005, 1010, 1030);
	assert_int_equal(devices_settle(d, 1, 1060, &by), 0);
	assert_true(late_ns(d) >= 20);
	host_devices_leave(devices_hosts(d), devices_hosts(d)->all.v[0]->members.v[0], NULL);
	assert_int_equal(devices_hosts(d)->all.n, 0);
	assert_true(late_ns(d) >= 20);
	devices_free(d);
}

TEST(an_unnamed_device_gets_its_name_later)
{
	struct devices *d = devices_new();

	push(d, 1, 0, 1005, 1010, 1030);
	push(d, 2, 0, 1005, 1020, 1040);
	assert_int_equal(devices_settle(d, 1, 1100, &by), 0);
	assert_int_equal(devices_settle(d, 2, 1100, &by), 0);
	assert_int_equal(devices_hosts(d)->all.n, 2);
	report_device(d, 1, 0, "GPU-a");
	assert_string_equal(devices_hosts(d)->all.v[0]->uuid, "GPU-a");
	assert_string_equal(devices_hosts(d)->all.v[1]->uuid, "");
	report_device(d, 3, 0, "GPU-a");
	assert_int_equal(devices_hosts(d)->all.n, 2);
	assert_int_equal(devices_hosts(d)->all.v[0]->book->members.n, 2);
	devices_free(d);
}

/* ---- laws ------------------------------------------------------------------------------------ */

struct script {
	struct {
		uint32_t pid;
		uint64_t launched, start, end;
	} works[PROCESSES * WORKS];
	size_t n;
};

/* Works of one process begin in order; several of its lanes may overlap. */
static void make_script(struct script *s)
{
	s->n = 0;
	for (uint32_t pid = 1; pid <= PROCESSES; pid++) {
		uint64_t ns = OPEN + below(40);

		for (size_t i = 0; i < WORKS; i++) {
			ns += 1 + below(40);
			s->works[s->n].pid = pid;
			s->works[s->n].launched = ns - below(30);
			s->works[s->n].start = ns;
			s->works[s->n++].end = ns + below(30);
		}
	}
}

static bool runs(const struct script *s, uint32_t pid, uint64_t ns)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->works[i].pid == pid && s->works[i].start <= ns && ns < s->works[i].end)
			return true;
	return false;
}

/* The next work of the process that takes any time was launched before. */
static bool waits(const struct script *s, uint32_t pid, uint64_t ns, uint64_t close)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->works[i].pid == pid && s->works[i].start > ns &&
		    s->works[i].end > s->works[i].start)
			return s->works[i].start < close && s->works[i].launched <= ns;
	return false;
}

static size_t describe(const struct script *s, uint64_t close, struct share_spec_span *spans)
{
	size_t n = 0;

	for (uint32_t pid = 1; pid <= PROCESSES; pid++)
		for (uint64_t ns = OPEN; ns < close; ns++) {
			bool run = runs(s, pid, ns);

			if (run || waits(s, pid, ns, close))
				spans[n++] = (struct share_spec_span){
					pid - 1, { ns, ns + 1, run ? SHARE_RUNS : SHARE_WAITS } };
		}
	return n;
}

static void assert_read(struct devices *d, const struct script *s, uint64_t now)
{
	static struct share_spec_span spans[PROCESSES * 8000];
	struct share_book *b = host_device_read(devices_hosts(d)->all.v[0], now, &by);
	struct share_spec spec;
	struct share_sum sum;
	size_t n;

	assert_non_null(b);
	share_book_sum(b, &sum);
	spec.sum = sum;
	n = describe(s, sum.close_ns, spans);
	share_spec(spans, n, NULL, 0, &spec);
	assert_memory_equal(&sum, &spec.sum, sizeof(sum));
	for (size_t i = 0; i < PROCESSES; i++) {
		const struct host_member *member = devices_hosts(d)->all.v[0]->members.v[i];
		const struct device_state *st = state_of(d, member);
		struct share_member got = share_book_member(b, i), want = spec.member[st->process - 1];
		uint64_t idle[IDLE_CAUSES];
		struct device_sum own;

		assert_int_equal(got.owned_ns, want.owned_ns);
		assert_int_equal(got.waited_ns, want.waited_ns);
		assert_int_equal(devices_read(st, sum.close_ns, &by, &own, &(struct device_idle){ .ns = idle }), 0);
		assert_int_equal(idle[IDLE_OTHER_PROCESS], want.waited_ns);
		assert_int_equal(idle[IDLE_OTHER_PROCESS] + idle[IDLE_QUEUED] + idle[IDLE_OTHER],
				 own.idle_ns);
	}
	share_book_free(b);
}

TEST(random_processes_on_one_device)
{
	static struct script s;

	for (int round = 0; round < 40; round++) {
		struct devices *d = devices_new();
		size_t next[PROCESSES], left;

		make_script(&s);
		left = s.n;
		for (uint32_t pid = 1; pid <= PROCESSES; pid++) {
			report_device(d, pid, pid, "GPU-a");
			next[pid - 1] = (size_t)(pid - 1) * WORKS;
		}
		while (left) {
			size_t p = below(PROCESSES), end = (p + 1) * WORKS;

			for (size_t more = 1 + below(9); more && next[p] < end; more--, left--, next[p]++)
				push(d, s.works[next[p]].pid, s.works[next[p]].pid,
				     s.works[next[p]].launched, s.works[next[p]].start,
				     s.works[next[p]].end);
			assert_int_equal(devices_settle(d, (uint32_t)p + 1, next[p] < end ?
							s.works[next[p]].start : OPEN + 1000, &by), 0);
		}
		assert_read(d, &s, OPEN + 1900);
		assert_int_equal(devices_settle(d, DEVICES_OF_ALL, OPEN + 2500, &by), 0);
		assert_read(d, &s, OPEN + 2500);
		devices_free(d);
	}
}

/* ---- processes that begin and end at different times ----------------------------------------- */

struct lives {
	struct script s;
	uint64_t open[PROCESSES], exit[PROCESSES];	/* exit 0: it goes on */
};

static uint64_t exit_of(void *ctx, uint32_t pid)
{
	return ((const struct lives *)ctx)->exit[pid - 1];
}

static void make_lives(struct lives *l)
{
	make_script(&l->s);
	for (uint32_t p = 0; p < PROCESSES; p++) {
		uint64_t begins = below(1500), last = 0;

		l->open[p] = OPEN + begins;
		for (size_t i = 0; i < l->s.n; i++) {
			if (l->s.works[i].pid != p + 1)
				continue;
			l->s.works[i].launched = num_max(l->s.works[i].launched, OPEN) + begins;
			l->s.works[i].start += begins;
			l->s.works[i].end += begins;
			last = num_max(last, l->s.works[i].end);
		}
		l->exit[p] = below(3) ? last + below(500) : 0;
	}
}

/* Each process's own book is of its life; the device's is of all their lives, and what is after. */
static void assert_walls(struct devices *d, const struct lives *l, const struct devices_divide *with,
			 uint64_t now)
{
	static struct share_spec_span spans[PROCESSES * 8000];
	struct share_book *b = host_device_read(devices_hosts(d)->all.v[0], now, with);
	struct share_spec spec = { .sum = { .open_ns = UINT64_MAX, .close_ns = now } };
	struct share_sum sum;
	uint64_t owned = 0;

	assert_non_null(b);
	share_book_sum(b, &sum);
	for (uint32_t p = 0; p < PROCESSES; p++)
		spec.sum.open_ns = num_min(spec.sum.open_ns, l->open[p]);
	share_spec(spans, describe(&l->s, now, spans), NULL, 0, &spec);
	assert_memory_equal(&sum, &spec.sum, sizeof(sum));
	for (size_t i = 0; i < PROCESSES; i++) {
		const struct host_member *member = devices_hosts(d)->all.v[0]->members.v[i];
		const struct device_state *st = state_of(d, member);
		uint64_t idle[IDLE_CAUSES], end = l->exit[st->process - 1];
		struct device_sum own;

		assert_int_equal(share_book_member(b, i).owned_ns, spec.member[st->process - 1].owned_ns);
		assert_int_equal(share_book_member(b, i).waited_ns, spec.member[st->process - 1].waited_ns);
		assert_int_equal(devices_read(st, now, with, &own, &(struct device_idle){ .ns = idle }), 0);
		assert_int_equal(own.open_ns, l->open[st->process - 1]);
		assert_int_equal(own.close_ns, end ? end : now);
		owned += share_book_member(b, i).owned_ns;
	}
	assert_int_equal(owned + sum.shared_ns + sum.idle_ns, sum.close_ns - sum.open_ns);
	share_book_free(b);
}

TEST(random_processes_that_begin_and_end_at_different_times)
{
	static struct lives l;
	const struct devices_divide with = { .divide = divide, .exit_ns = exit_of, .ctx = &l };

	for (int round = 0; round < 40; round++) {
		struct devices *d = devices_new();
		size_t first = below(PROCESSES);

		make_lives(&l);
		for (size_t i = 0; i < PROCESSES; i++) {
			size_t p = (first + i) % PROCESSES;

			report_device_since(d, (uint32_t)p + 1, 0, "GPU-a", l.open[p]);
		}
		for (size_t i = 0; i < l.s.n; i++)
			push(d, l.s.works[i].pid, 0, l.s.works[i].launched, l.s.works[i].start,
			     l.s.works[i].end);
		assert_walls(d, &l, &with, OPEN + 6000);
		for (uint64_t ns = OPEN; ns <= OPEN + 6000; ns += 1 + below(300))
			assert_int_equal(devices_settle(d, DEVICES_OF_ALL, ns, &with), 0);
		assert_walls(d, &l, &with, OPEN + 6000);
		assert_int_equal(late_ns(d), 0);
		devices_free(d);
	}
}

/* Its process began before the other's, which had been on the device for long when this one came. */
TEST(a_late_member_that_began_early_opens_the_device_then)
{
	struct devices *d = devices_new();
	struct share_book *b;
	struct share_sum sum;

	report_device_since(d, 1, 0, "GPU-a", 1500);
	push(d, 1, 0, 1505, 1510, 1530);
	assert_int_equal(devices_settle(d, 1, 1600, &by), 0);
	report_device_since(d, 2, 0, "GPU-a", 1000);
	push(d, 2, 0, 1690, 1700, 1750);
	b = host_device_read(devices_hosts(d)->all.v[0], 1800, &by);
	assert_non_null(b);
	share_book_sum(b, &sum);
	assert_int_equal(sum.open_ns, 1000);
	assert_int_equal(sum.close_ns, 1800);
	assert_int_equal(share_book_member(b, 0).owned_ns, 20);
	assert_int_equal(share_book_member(b, 1).owned_ns, 50);
	assert_int_equal(sum.idle_ns, 800 - 70);
	assert_int_equal(share_book_late_ns(b), 0);
	share_book_free(b);
	devices_free(d);
}

TEST_GROUP(random_seed, NULL);
