// SPDX-License-Identifier: BSD-3-Clause
/*
 * Intervals of devices: their sums, and that of the last, are those of a session that was never cut,
 * whatever lies across a cut: a work, a launch whose work is not there yet, a gap. TEST_SEED repeats
 * a run.
 *
 * The law, of every device:
 *  1. owned, busy and idle time, works, kernels and copies: the intervals add up to the whole.
 *  2. An interval begins where the one before ended.
 *  3. Who had the device, over its processes, adds up.
 *  4. Idle time by cause adds up as well, but a gap that an interval lies in as a whole is `open` there,
 *     and of its own cause only from the next one on: no cause has more than in the whole but `open`.
 *     What was queued while another process ran is one with queued here: an interval may end before
 *     it is known.
 */
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "ledger/devices.h"
#include "lib/random.h"
#include "lib/test.h"
#include "model_room.h"
#include "snap_of.h"
#include "lib/work_named.h"

#define BASE 1000000000000ull
#define MS 1000000ull
#define SEC (1000 * MS)
#define EVENTS_MAX 20000
#define ROUND_MAX 100	/* events that one round may add: a pause of 5 s has 50 watermarks */

struct totals {
	uint64_t wall, idle_ns, cause[IDLE_CAUSES];
	uint64_t owned[DEVICE_BUCKETS], busy[DEVICE_BUCKETS], works[DEVICE_BUCKETS];
	uint64_t kernels, kernels_ns, copies, copy_bytes;
	uint64_t closed_ns;	/* where the last interval ended */
};

/* Two processes, each with both devices; and who had the devices. */
struct parts {
	struct totals of[4];
	uint64_t owned[2][2], shared[2], idle[2], wall[2];
};

static struct totals *totals_of(struct parts *p, const struct snapshot_device *s)
{
	return &p->of[(s->pid - 7) * 2 + s->device];
}

static void add_tables(const struct snapshot_device *s, struct totals *t)
{
	for (size_t k = 0; k < kernels_count(&s->kernels); k++) {
		t->kernels += kernels_at(&s->kernels, k)->time.count;
		t->kernels_ns += kernels_at(&s->kernels, k)->time.total;
	}
	for (int i = 0; i < (COPY_DEFAULT + 2) * 3; i++) {
		t->copies += s->copies[i / 3][i % 3].count;
		t->copy_bytes += s->copies[i / 3][i % 3].bytes;
	}
}

/* One interval of each device, which is there since BASE. */
static void add_shares(const struct snapshot *snap, struct parts *p)
{
	for (size_t i = 0; i < snap->hosts.n; i++) {
		const struct snapshot_host *h = &snap->hosts.v[i];
		unsigned int device = h->members.v[0].device;

		for (size_t k = 0; k < h->members.n; k++)
			p->owned[device][h->members.v[k].pid - 7] += h->members.v[k].share.owned_ns;
		p->shared[device] += h->sum.shared_ns;
		p->idle[device] += h->sum.idle_ns;
		p->wall[device] += h->sum.close_ns - h->sum.open_ns;
	}
}

static void add_device(const struct snapshot_device *s, struct totals *t)
{
	uint64_t idle_sum = 0, owned = 0;

	assert_int_equal(s->sum.open_ns, t->closed_ns ? t->closed_ns : BASE);
	t->closed_ns = s->sum.close_ns;
	t->wall += s->sum.close_ns - s->sum.open_ns;
	t->idle_ns += s->sum.idle_ns;
	for (int b = 0; b < DEVICE_BUCKETS; b++) {
		t->owned[b] += s->sum.owned_ns[b];
		t->busy[b] += s->sum.busy_ns[b];
		t->works[b] += s->sum.works[b];
		owned += s->sum.owned_ns[b];
	}
	for (int c = 0; c < IDLE_CAUSES; c++) {
		t->cause[c == IDLE_OTHER_PROCESS ? IDLE_QUEUED : c] += s->idle_ns[c];
		idle_sum += s->idle_ns[c];
	}
	assert_int_equal(idle_sum, s->sum.idle_ns);
	assert_int_equal(owned + idle_sum, s->sum.close_ns - s->sum.open_ns);
	add_tables(s, t);
}

static void add_interval(const struct model *m, uint64_t now_ns, struct parts *p)
{
	const struct snapshot *snap = snap_at(m, now_ns);

	add_shares(snap, p);
	for (size_t i = 0; i < snap->devices.n; i++)
		add_device(&snap->devices.v[i], totals_of(p, &snap->devices.v[i]));
}

/* ---- sessions -------------------------------------------------------------------------------- */

struct stream {
	struct event ev[EVENTS_MAX];
	struct work work[EVENTS_MAX];
	size_t n;
	uint32_t pid;		/* of what is added */
};

static struct event *add(struct stream *s, uint8_t kind, uint64_t start, uint64_t end)
{
	struct event *ev = &s->ev[s->n++];

	*ev = (struct event){ .kind = kind, .pid = s->pid, .tid = s->pid, .start_ns = start,
			      .end_ns = end };
	return ev;
}

static void add_work(struct stream *s, uint32_t number, uint64_t start, uint64_t end)
{
	struct work *w = &s->work[s->n];
	bool copy = !below(5);

	*w = (struct work){ .kind = copy ? WORK_KIND_COPY : WORK_KIND_KERNEL, .device = number % 2,
			    .correlation = number, .stream = (uint32_t)below(3), .bytes = copy * 100,
			    .has = WORK_HAS_DIR, .dir = COPY_H2D };
	*add(s, EVENT_WORK, start, end) = (struct event){
		.kind = EVENT_WORK, .pid = s->pid, .start_ns = start, .end_ns = end, .work = work_named(*w, copy ? NULL : below(2) ? "sgemm" : "softmax") };
}

/* Launches with works of up to `longest`, pauses up to `pause`, watermarks; works come late. */
static void random_stream(struct stream *s, uint64_t pause, uint64_t longest)
{
	uint64_t now = BASE, got = BASE;
	uint32_t seq[2] = { 0 };

	s->n = 0;
	for (uint32_t i = 1; s->n < EVENTS_MAX - ROUND_MAX; i++) {
		uint64_t start;

		s->pid = 7 + (uint32_t)below(2);
		now += below(8) ? below(MS) : below(pause);
		start = now + below(MS);
		add(s, EVENT_CALL, now, now + 5000)->seq = ++seq[s->pid - 7];
		*add(s, EVENT_API, now, now) = (struct event){
			.kind = EVENT_API, .pid = s->pid, .tid = s->pid, .api.correlation = i,
			.api.cbid = 211, .api.domain = 5,
			.start_ns = now + 1000, .end_ns = now + 4000 };
		add_work(s, i, start, start + below(longest));
		now += 5000 + below(1000);
		if (!below(3)) {
			add(s, EVENT_CALL, now, now + MS / 2)->func = S;
			s->ev[s->n - 1].seq = ++seq[s->pid - 7];
			now += MS / 2;
		}
		for (; got + 100 * MS < now; got += 100 * MS)
			add(s, EVENT_WATERMARK, got, got);
	}
	add(s, EVENT_STOP, now, now + SEC);
}

/* Both devices are known from the beginning on. */
static struct model *begin(uint32_t processes)
{
	struct model *m = session(BASE);

	for (uint32_t i = 0; i < 4; i++) {
		const struct device_facts facts = { .device = i % 2, .uuid = { 'G', (char)('0' + i % 2) } };

		if (i / 2 < processes)
			push(m, (struct event){ .kind = EVENT_DEVICE, .pid = 7 + i / 2,
						.device.facts = facts });
	}
	return m;
}

/* cut_every 0: never. */
static void run(const struct stream *s, uint64_t cut_every, struct parts *parts)
{
	struct model *m = begin(2);
	uint64_t cut_ns = BASE;

	memset(parts, 0, sizeof(*parts));
	if (cut_every)
		model_use_intervals(m);
	for (size_t i = 0; i < s->n; i++) {
		push(m, s->ev[i]);
		if (!cut_every || s->ev[i].kind != EVENT_WATERMARK ||
		    s->ev[i].end_ns < cut_ns + cut_every)
			continue;
		cut_ns = s->ev[i].end_ns;
		add_interval(m, cut_ns, parts);
		snap_cut(m, cut_ns);
	}
	assert_int_equal(model_finish(m), 0);
	add_interval(m, snap_of(m)->now_ns, parts);
	snap_end(m);
}

static void assert_adds_up(const struct totals *parts, const struct totals *whole, bool exact)
{
	uint64_t moved = 0;

	assert_int_equal(parts->wall, whole->wall);
	assert_int_equal(parts->idle_ns, whole->idle_ns);
	assert_memory_equal(parts->owned, whole->owned, sizeof(whole->owned));
	assert_memory_equal(parts->busy, whole->busy, sizeof(whole->busy));
	assert_memory_equal(parts->works, whole->works, sizeof(whole->works));
	assert_int_equal(parts->kernels, whole->kernels);
	assert_int_equal(parts->kernels_ns, whole->kernels_ns);
	assert_int_equal(parts->copies, whole->copies);
	assert_int_equal(parts->copy_bytes, whole->copy_bytes);
	for (int c = 0; c < IDLE_CAUSES; c++) {
		if (c == IDLE_OPEN)
			continue;
		assert_true(parts->cause[c] <= whole->cause[c]);
		moved += whole->cause[c] - parts->cause[c];
	}
	assert_int_equal(moved, parts->cause[IDLE_OPEN] - whole->cause[IDLE_OPEN]);
	if (exact)
		assert_int_equal(moved, 0);
}

static void compare(uint64_t pause, uint64_t longest, uint64_t cut_every, bool exact)
{
	static struct stream s;
	static struct parts whole, parts;

	random_stream(&s, pause, longest);
	run(&s, 0, &whole);
	run(&s, cut_every, &parts);
	for (int i = 0; i < 4; i++) {
		assert_true(whole.of[i].kernels > 100);
		assert_adds_up(&parts.of[i], &whole.of[i], exact);
	}
	assert_memory_equal(parts.owned, whole.owned, sizeof(whole.owned));
	assert_memory_equal(parts.shared, whole.shared, sizeof(whole.shared));
	assert_memory_equal(parts.idle, whole.idle, sizeof(whole.idle));
	assert_memory_equal(parts.wall, whole.wall, sizeof(whole.wall));
}

TEST(intervals_add_up_to_the_whole)
{
	for (int round = 0; round < 20; round++)
		compare(2 * MS + below(10 * MS), MS + below(20 * MS), 500 * MS + below(SEC), true);
}

TEST(works_and_gaps_longer_than_an_interval_add_up)
{
	for (int round = 0; round < 20; round++)
		compare(SEC + below(4 * SEC), below(2) ? SEC * 2 : MS, 200 * MS + below(SEC), false);
}

/* The tables go on where the device idles for long: its interval is open, and then divided. */
TEST(a_device_that_idles_on_is_open)
{
	struct model *m = begin(1);
	struct parts p = { 0 };
	struct totals *t = p.of;

	model_use_intervals(m);
	for (uint64_t i = 1; i <= 10; i++) {
		push(m, (struct event){ .kind = EVENT_WATERMARK, .end_ns = BASE + i * SEC });
		if (i == 1) {
			const struct work w = { .kind = WORK_KIND_KERNEL, .correlation = 9 };

			push(m, (struct event){ .kind = EVENT_WORK, .pid = 7, .work = w,
						.start_ns = BASE + MS, .end_ns = BASE + 2 * MS });
			push(m, (struct event){ .kind = EVENT_API, .pid = 7, .tid = 7,
						.api.correlation = 9,
						.api.cbid = 211, .api.domain = 5,
						.start_ns = BASE + MS / 2, .end_ns = BASE + MS });
		}
		add_interval(m, BASE + i * SEC, &p);
		snap_cut(m, BASE + i * SEC);
	}
	assert_int_equal(t[0].owned[DEVICE_KERNELS + KERNEL_OTHER], MS);
	assert_int_equal(t[0].closed_ns, BASE + 9 * SEC);
	assert_int_equal(t[0].cause[IDLE_OPEN], 9 * SEC - 2 * MS);
	snap_end(m);
}

/* S [500,600) L [690,700), and it ended 0.3 s before the cut; what it launched runs from 705 on. */
TEST(a_gap_is_divided_by_a_thread_that_ended_before_the_cut)
{
	const struct work w = { .kind = WORK_KIND_KERNEL, .correlation = 9 };
	struct model *m = begin(1);
	struct parts p = { 0 };
	struct totals *t = &p.of[0];

	model_use_intervals(m);
	push(m, (struct event){ .kind = EVENT_CALL, .pid = 7, .tid = 8, .seq = 1, .func = S,
				.start_ns = BASE + 500 * MS, .end_ns = BASE + 600 * MS });
	push(m, (struct event){ .kind = EVENT_CALL, .pid = 7, .tid = 8, .seq = 2, .func = L,
				.start_ns = BASE + 690 * MS, .end_ns = BASE + 700 * MS });
	push(m, (struct event){ .kind = EVENT_EXIT, .pid = 7, .tid = 8, .seq = 3,
				.end_ns = BASE + 700 * MS });
	for (uint64_t i = 1; i <= 3; i++) {
		push(m, (struct event){ .kind = EVENT_WATERMARK, .end_ns = BASE + i * SEC });
		add_interval(m, BASE + i * SEC, &p);
		snap_cut(m, BASE + i * SEC);
		if (i > 1)
			continue;
		push(m, (struct event){ .kind = EVENT_API, .pid = 7, .tid = 8, .api.correlation = 9,
					.api.cbid = 211,
					.api.domain = 5, .start_ns = BASE + 692 * MS,
					.end_ns = BASE + 698 * MS });
		push(m, (struct event){ .kind = EVENT_WORK, .pid = 7, .work = w,
					.start_ns = BASE + 705 * MS, .end_ns = BASE + 800 * MS });
	}
	assert_int_equal(t->cause[IDLE_SYNC], 100 * MS);
	assert_int_equal(t->cause[IDLE_LAUNCH], 10 * MS);
	assert_int_equal(t->cause[IDLE_QUEUED], 5 * MS);
	assert_int_equal(t->cause[IDLE_UNKNOWN], 0);
	snap_end(m);
}

/* Its helper recorded one work, and then nothing: a minute in which who had the device is not known. */
TEST(without_records_the_owner_of_a_device_is_unknown)
{
	const struct work w = { .kind = WORK_KIND_KERNEL, .correlation = 9 };
	uint64_t unknown = 0, idle = 0, closed = BASE;
	struct model *m = begin(1);

	model_use_intervals(m);
	push(m, (struct event){ .kind = EVENT_WORK, .pid = 7, .work = w, .start_ns = BASE + MS,
				.end_ns = BASE + 2 * MS });
	push(m, (struct event){ .kind = EVENT_API, .pid = 7, .tid = 7, .api.correlation = 9,
				.api.cbid = 211, .api.domain = 5,
				.start_ns = BASE + MS / 2, .end_ns = BASE + MS });
	for (uint64_t i = 1; i <= 60; i++) {
		uint64_t now = BASE + i * SEC;
		struct share_sum sum;

		push(m, (struct event){ .kind = EVENT_UNSEEN, .pid = 7,
					.unseen.why = UNSEEN_UNKNOWN,
					.start_ns = num_max(now - SEC, BASE + 2 * MS), .end_ns = now });
		push(m, (struct event){ .kind = EVENT_WATERMARK, .end_ns = now });
		sum = snap_at(m, now)->hosts.v[0].sum;
		assert_int_equal(sum.open_ns, closed);
		closed = sum.close_ns;
		unknown += sum.unknown_ns;
		idle += sum.idle_ns;
		snap_cut(m, now);
	}
	assert_true(closed >= BASE + 58 * SEC);
	assert_int_equal(idle, MS);
	assert_int_equal(unknown, closed - BASE - 2 * MS);
	snap_end(m);
}

/* Its book closes at its exit; then it is shown once more, and forgotten. */
TEST(a_process_that_ended_leaves_the_tables)
{
	struct model *m = begin(1);
	const struct work w = { .kind = WORK_KIND_KERNEL, .correlation = 9 };
	struct parts p = { 0 };
	struct totals *t = p.of;

	model_use_intervals(m);
	push(m, (struct event){ .kind = EVENT_WORK, .pid = 7, .work = w, .start_ns = BASE + MS,
				.end_ns = BASE + 2 * MS });
	push(m, (struct event){ .kind = EVENT_EXIT, .pid = 7, .tid = 7, .seq = 1,
				.start_ns = BASE, .end_ns = BASE + 3 * SEC });
	for (uint64_t i = 1; i <= 15; i++) {
		push(m, (struct event){ .kind = EVENT_WATERMARK, .end_ns = BASE + i * SEC });
		add_interval(m, BASE + i * SEC, &p);
		snap_cut(m, BASE + i * SEC);
	}
	assert_int_equal(t[0].closed_ns, BASE + 3 * SEC);
	assert_int_equal(t[0].works[DEVICE_KERNELS + KERNEL_OTHER], 1);
	assert_int_equal(snap_of(m)->devices.n, 0);
	assert_int_equal(snap_of(m)->processes.n, 0);
	snap_end(m);
}

/* The end of its other thread was lost; that it has ended was found out. */
TEST(a_process_that_was_found_to_have_ended_leaves_the_tables)
{
	struct model *m = session(BASE);

	model_use_intervals(m);
	for (uint32_t tid = 7; tid <= 8; tid++)
		push(m, (struct event){ .kind = EVENT_CALL, .pid = 7, .tid = tid, .seq = 1, .func = L,
					.start_ns = BASE, .end_ns = BASE + MS });
	push(m, (struct event){ .kind = EVENT_EXIT, .pid = 7, .tid = 7, .seq = 2, .end_ns = BASE + 2 * MS });
	snap_cut(m, BASE + SEC);
	assert_int_equal(snap_of(m)->processes.n, 1);
	push(m, (struct event){ .kind = EVENT_IDENTITY, .pid = 7, .fact.key = "ended",
				.fact.value = "yes" });
	snap_cut(m, BASE + 2 * SEC);
	push(m, (struct event){ .kind = EVENT_WATERMARK, .end_ns = BASE + 30 * SEC });
	snap_cut(m, BASE + 30 * SEC);
	assert_int_equal(snap_of(m)->processes.n, 0);
	snap_end(m);
}

/* It was not there before: what it did begins with it. */
TEST(a_process_that_begins_later_has_a_book_from_then_on)
{
	struct model *m = session(BASE);
	const struct work w = { .kind = WORK_KIND_KERNEL, .correlation = 9 };
	const struct device_sum *sum;

	push(m, (struct event){ .kind = EVENT_PROCESS, .pid = 7, .start_ns = BASE + SEC,
				.task.comm = "late" });
	push(m, (struct event){ .kind = EVENT_WORK, .pid = 7, .work = w, .start_ns = BASE + 2 * SEC,
				.end_ns = BASE + 3 * SEC });
	finish(m, BASE + 5 * SEC);
	sum = &snap_of(m)->devices.v[0].sum;
	assert_int_equal(sum->open_ns, BASE + SEC);
	assert_int_equal(sum->idle_ns, 3 * SEC);
	model_free(m);
}

TEST_GROUP(random_seed, NULL);
