// SPDX-License-Identifier: BSD-3-Clause
/*
 * Several files of one session in which devices worked: each knows the devices, what ranges are open
 * and what memory lives, though that was said in the first; and all together hold every work once,
 * though works come late.
 */
#include "keep_room.h"

#include <string.h>

#include "base/num.h"
#include "event/event.h"
#include "facts/ranges.h"
#include "lib/test.h"
#include "lib/work_named.h"
#include "snap_of.h"

#define SEC 1000000000ull
#define MS 1000000ull
#define FILE_BYTES (64u << 10)
#define LATE_MS 200
#define PID 10

static const struct device_facts device = { .device = 0, .multiprocessors = 132,
					    .uuid = "GPU-00000000-0000-0000-0000-000000000001" };

static void push(struct capture_sink *k, struct event ev)
{
	ev = stamped(&ev);
	assert_int_equal(capture_sink_push(k, &ev), 0);
}

static void begin(struct capture_sink *k)
{
	push(k, (struct event){ .kind = EVENT_START, .start_ns = 100 * SEC });
	push(k, (struct event){ .kind = EVENT_PROCESS, .pid = PID, .tid = PID, .start_ns = 5 * SEC,
				.task.comm = "train" });
	push(k, (struct event){ .kind = EVENT_THREAD, .pid = PID, .tid = PID, .start_ns = 5 * SEC });
	push(k, (struct event){ .kind = EVENT_DEVICE, .pid = PID, .device.name = "H100",
				.device.facts = device });
	push(k, (struct event){ .kind = EVENT_RANGE, .pid = PID, .tid = PID,
				.range.what = RANGE_PUSH,
				.start_ns = 101 * SEC, .range.name = "epoch" });
	push(k, (struct event){ .kind = EVENT_RANGE, .pid = PID, .tid = PID,
				.range.what = RANGE_PUSH,
				.start_ns = 101 * SEC + 1, .range.name = "gone" });
	push(k, (struct event){ .kind = EVENT_RANGE, .pid = PID, .tid = PID,
				.range.what = RANGE_POP, .start_ns = 101 * SEC + 2 });
	for (unsigned int i = 0; i < 3; i++)	/* of a thread that ends inside two of them */
		push(k, (struct event){ .kind = EVENT_RANGE, .pid = PID, .tid = PID + 1,
					.range.what = i < 2 ? RANGE_PUSH : RANGE_LEAVE,
					.start_ns = 101 * SEC + 3 + i, .range.name = "left" });
	for (uint64_t address = 1; address <= 3; address++)
		push(k, (struct event){ .kind = EVENT_MEMORY, .has = HAS_BYTES, .pid = PID,
					.memory.op = MEMORY_ALLOC,
					.memory.kind = MEMORY_KIND_DEVICE,
					.start_ns = 101 * SEC + address, .memory.address = address,
					.memory.bytes = 1000 });
	push(k, (struct event){ .kind = EVENT_MEMORY, .pid = PID, .memory.op = MEMORY_FREE,
				.memory.kind = MEMORY_KIND_DEVICE, .start_ns = 101 * SEC + 9,
				.memory.address = 2 });
}

/* A launch every ms, its work right after it; its record comes late_ms later. */
static void work(struct capture_sink *k, uint32_t number, uint64_t late_ms)
{
	const uint64_t start_ns = 102 * SEC + number * MS;
	const struct work w = { .kind = WORK_KIND_KERNEL, .correlation = number + 1,
				.context = number % 2000 };	/* so that rows are long */

	push(k, (struct event){ .kind = EVENT_API, .has = HAS_RESULT | HAS_END, .pid = PID, .tid = PID,
				.api.correlation = number + 1, .api.cbid = 211, .api.domain = 5,
				.start_ns = start_ns, .end_ns = start_ns + 1000 });
	push(k, (struct event){ .kind = EVENT_WORK, .pid = PID, .start_ns = start_ns + 2000,
				.end_ns = start_ns + 2000 + MS / 2, .work = work_named(w, "gemm") });
	push(k, (struct event){ .kind = EVENT_WATERMARK, .end_ns = start_ns + late_ms * MS });
}

/* What else comes late. Each range and each time of which nothing is known lasts half a ms. */
static void report(struct capture_sink *k, uint32_t number)
{
	const uint64_t start_ns = 102 * SEC + number * MS;

	push(k, (struct event){ .kind = EVENT_CUPTI_CALL, .has = HAS_END | HAS_RESULT, .pid = PID, .tid = PID, .func = 1,
				.start_ns = start_ns, .end_ns = start_ns + MS / 2 });
	push(k, (struct event){ .kind = EVENT_RANGE, .pid = PID, .tid = PID,
				.range.what = RANGE_PUSH,
				.start_ns = start_ns, .range.name = "step" });
	push(k, (struct event){ .kind = EVENT_RANGE, .pid = PID, .tid = PID,
				.range.what = RANGE_MARK,
				.start_ns = start_ns, .range.name = "mark" });
	push(k, (struct event){ .kind = EVENT_RANGE, .pid = PID, .tid = PID,
				.range.what = RANGE_POP, .start_ns = start_ns + MS / 2 });
	push(k, (struct event){ .kind = EVENT_UNSEEN, .pid = PID, .unseen.why = UNSEEN_LOST,
				.unseen.count = 1,
				.start_ns = start_ns, .end_ns = start_ns + MS / 2 });
}

static uint64_t play_late(unsigned int works, uint64_t late_ms, void (*also)(struct capture_sink *k, uint32_t number))
{
	struct capture_sink *k = capture_set_new(&(struct capture_sink_plan){
		.max_bytes = FILE_BYTES }, lib_path, &lib_funcs);
	struct capture_sink_stats stats;

	assert_non_null(k);
	begin(k);
	for (unsigned int i = 0; i < works; i++) {
		work(k, i, late_ms);
		if (also)
			also(k, i);
	}
	push(k, (struct event){ .kind = EVENT_STOP, .end_ns = 102 * SEC + (works + late_ms) * MS });
	assert_int_equal(capture_sink_close(k, &stats), 0);
	return stats.files;
}

static uint64_t play(unsigned int works, void (*also)(struct capture_sink *k, uint32_t number))
{
	return play_late(works, LATE_MS, also);
}

static void check_range(const struct model *m, bool is_first)
{
	const struct snapshot *snap = snap_of(m);
	const struct model_session s = snap->session;
	struct range_sum sum;

	assert_int_equal(snap->processes.v[0].ranges.n, is_first ? 3 : 1);
	sum = snap->processes.v[0].ranges.v[0];
	assert_string_equal(sum.name, "epoch");
	assert_int_equal(sum.count, is_first);
	assert_int_equal(sum.open, 1);
	assert_int_equal(sum.wall_ns, s.stop_ns - (is_first ? 101 * SEC : s.start_ns));
	assert_true(sum.launches > 0);
}

static void check_memory(const struct model *m, bool is_first)
{
	const struct memory_sums *sums = snap_of(m)->processes.v[0].memory.v;

	assert_int_equal(sums->live_bytes, 2000);
	assert_int_equal(sums->allocs, is_first ? 3 : 0);
	assert_int_equal(sums->frees, is_first);
}

TEST(each_file_has_the_names_of_the_first)
{
	const uint64_t files = play(20000, NULL);

	assert_true(files > 2);
	for (uint64_t i = 1; i <= files; i++) {
		struct model *m = keep_read_file(i, FILE_BYTES, NULL);
		const struct snapshot_device *s = &snap_of(m)->devices.v[0];

		assert_string_equal(s->facts.uuid, device.uuid);
		assert_string_equal(s->host->name, "H100");
		check_range(m, i == 1);
		check_memory(m, i == 1);
		model_free(m);
	}
}

static uint64_t matched_in(uint64_t files)
{
	uint64_t seen = 0;

	for (uint64_t i = 1; i <= files; i++) {
		struct model *m = keep_read_file(i, FILE_BYTES, NULL);
		struct model_counts counts;

		model_counts(m, &counts);
		assert_int_equal(counts.invalid[EVENT_WORK], 0);
		assert_int_equal(counts.orphan, 0);
		seen += counts.matched;
		model_free(m);
	}
	return seen;
}

TEST(files_together_hold_every_work_once)
{
	const uint64_t works = 20000, files = play(works, NULL);

	assert_true(files > 2);
	assert_int_equal(matched_in(files), works);
}

/* An eighth of a file is not enough for it. */
TEST(a_file_keeps_space_for_late_device_records)
{
	const uint64_t works = 20000, files = play_late(works, 800, NULL);

	assert_true(files > 2);
	assert_int_equal(matched_in(files), works);
}

struct late {			/* of all files */
	uint64_t start_ns, stop_ns;	/* of this one */
	uint64_t unseen_ns, unseen;
};

static int hear_unseen(void *ctx, const struct event *ev)
{
	struct late *l = ctx;

	if (ev->kind == EVENT_START)
		l->start_ns = ev->start_ns;
	if (ev->kind == EVENT_STOP)
		l->stop_ns = ev->end_ns;
	if (ev->kind != EVENT_UNSEEN || ev->unseen.of & UNSEEN_OF_BEFORE)
		return 0;
	l->unseen += ev->unseen.count;
	l->unseen_ns += (l->stop_ns ? num_min(ev->end_ns, l->stop_ns) : ev->end_ns) -
			num_max(ev->start_ns, l->start_ns);
	return 0;
}

static void sum_unseen(struct late *l, uint64_t file)
{
	struct capture_reader *c;
	char path[PATH_MAX];

	l->stop_ns = 0;
	assert_int_equal(capture_file_name(path, lib_path, file), 0);
	c = capture_open(path);
	assert_non_null(c);
	assert_int_equal(capture_read(c, &(struct event_sink){ hear_unseen, l }), 0);
	capture_free(c);
}

static struct range_sum range_of(const struct model *m, const char *name)
{
	const struct snapshot_process *p = &snap_of(m)->processes.v[0];

	for (size_t i = 0; i < p->ranges.n; i++)
		if (!strcmp(p->ranges.v[i].name, name))
			return p->ranges.v[i];
	return (struct range_sum){ .count = 0 };
}

TEST(late_records_are_in_exactly_one_file)
{
	const uint64_t works = 20000, files = play(works, report);
	uint64_t got = 0, steps = 0, marks = 0, wall_ns = 0;
	struct late l = { 0 };

	assert_true(files > 2);
	for (uint64_t i = 1; i <= files; i++) {
		struct model_counts counts;
		struct model *m;

		sum_unseen(&l, i);
		m = keep_read_file(i, FILE_BYTES, NULL);
		model_counts(m, &counts);
		assert_int_equal(counts.late[EVENT_CUPTI_CALL], 0);
		got += counts.cupti_calls;
		steps += range_of(m, "step").count;
		marks += range_of(m, "mark").count;
		wall_ns += range_of(m, "step").wall_ns;
		model_free(m);
	}
	assert_int_equal(got, works);
	assert_int_equal(steps, works);
	assert_int_equal(marks, works);
	assert_int_equal(wall_ns, works * MS / 2);
	assert_int_equal(l.unseen, works);
	assert_int_equal(l.unseen_ns, works * MS / 2);
}

TEST_GROUP(lib_setup, lib_teardown);
