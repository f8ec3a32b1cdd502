// SPDX-License-Identifier: BSD-3-Clause
/*
 * Files of one session whose devices work across their borders: together they say of launches and works
 * what one file of all of it says, each of them once. Random sessions: GP_SEED repeats one.
 */
#include "keep_room.h"

#include <string.h>

#include "base/num.h"
#include "event/event.h"
#include "facts/kernel_configs.h"
#include "lib/test.h"
#include "lib/work_named.h"
#include "snap_of.h"

#define SEC 1000000000ull
#define MS 1000000ull
#define FILE_BYTES (512u << 10)	/* what is open at a cut fits into an eighth */
#define BEHIND_NS (10 * MS)	/* the watermark is */
#define PID 10
#define LAUNCHES 50000

/* When each record comes. */
struct got {
	uint64_t at_ns;
	uint32_t order;
	struct event ev;
	struct work work;
};

struct session {
	VEC(struct got) all;
	struct capture_sink *k;
	struct model *m;
};

static void report_at(struct session *s, uint64_t at_ns, const struct event *ev, const struct work *work)
{
	struct got *t = VEC_PUSH(&s->all);

	assert_non_null(t);
	*t = (struct got){ .at_ns = at_ns, .order = (uint32_t)s->all.n, .ev = *ev };
	if (work)
		t->work = *work;
}

/* A launch of a kernel, or of a graph of some; each is recorded when it is over, sooner or later. */
static void launch(struct session *s, uint32_t number, uint64_t start_ns)
{
	const uint64_t end_ns = start_ns + 1000 + lib_below(100000);
	const unsigned int works = lib_below(8) ? 1 : (unsigned int)lib_below(6);	/* none: it is lost */
	uint64_t ns = start_ns + lib_below(20 * MS);

	report_at(s, end_ns, &(struct event){ .kind = EVENT_API, .has = HAS_RESULT | HAS_END, .pid = PID,
					    .tid = PID + number % 3, .api.correlation = number + 1,
					    .api.cbid = works == 1 ? 211 : 311, .api.domain = 5,
					    .start_ns = start_ns, .end_ns = end_ns }, NULL);
	for (unsigned int i = 0; i < works; i++) {
		const struct work w = { .kind = WORK_KIND_KERNEL, .correlation = number + 1,
					.context = number % 2000,	/* so that rows are long */
					.has = works > 1 ? WORK_HAS_GRAPH : 0, .graph = works > 1,
					.graph_node = works > 1 ? 100 + i : 0 };
		const uint64_t last_ns = ns + 1 + lib_below(5 * MS);

		report_at(s, last_ns + BEHIND_NS + MS + lib_below(200 * MS),
			&(struct event){ .kind = EVENT_WORK, .pid = PID, .start_ns = ns,
					 .end_ns = last_ns, .work.name = "gemm" }, &w);
		ns = last_ns + lib_below(10 * MS);
	}
}

static int by_time(const void *a, const void *b)
{
	const struct got *x = a, *y = b;
	int cmp = num_compare(x->at_ns, y->at_ns);

	return cmp ? cmp : num_compare(x->order, y->order);
}

static void push(struct session *s, struct event ev)
{
	ev = stamped(&ev);
	assert_int_equal(capture_sink_push(s->k, &ev), 0);
	assert_int_equal(model_push(s->m, &ev), 0);
}

static void open_session(struct session *s)
{
	s->k = capture_set_new(&(struct capture_sink_plan){
		.max_bytes = FILE_BYTES }, lib_path, &lib_funcs);
	s->m = model_new(&lib_funcs);
	assert_non_null(s->k);
	assert_non_null(s->m);
	model_use_launches(s->m);
	push(s, (struct event){ .kind = EVENT_START, .start_ns = 100 * SEC });
	push(s, (struct event){ .kind = EVENT_PROCESS, .pid = PID, .tid = PID, .start_ns = 5 * SEC,
				.task.comm = "train" });
	for (uint32_t i = 0; i < 3; i++)
		push(s, (struct event){ .kind = EVENT_THREAD, .pid = PID, .tid = PID + i, .start_ns = 5 * SEC });
}

/* Returns how many files it made. */
static uint64_t play(struct session *s)
{
	uint64_t ns = 101 * SEC;
	struct capture_sink_stats stats;

	for (uint32_t i = 0; i < LAUNCHES; i++)
		launch(s, i, ns += lib_below(500000));
	qsort(s->all.v, s->all.n, sizeof(s->all.v[0]), by_time);
	open_session(s);
	for (size_t i = 0; i < s->all.n; i++) {
		struct got *t = &s->all.v[i];

		if (t->ev.kind == EVENT_WORK)
			t->ev.work = work_named(t->work, t->ev.work.name);
		push(s, t->ev);
		if (!lib_below(4))
			push(s, (struct event){ .kind = EVENT_WATERMARK, .end_ns = t->at_ns - BEHIND_NS });
	}
	push(s, (struct event){ .kind = EVENT_STOP, .end_ns = ns + SEC });
	assert_int_equal(model_finish(s->m), 0);
	assert_int_equal(capture_sink_close(s->k, &stats), 0);
	VEC_FREE(&s->all);
	return stats.files;
}

struct sums {
	uint64_t launches, met, awaited, matched, orphan, invalid, kernels, kernel_ns;
};

static void add(struct sums *to, const struct model *m)
{
	const struct kernel_configs *l = snap_of(m)->kernel_configs;
	struct model_counts c;

	model_counts(m, &c);
	assert_true(c.met + c.awaited + c.unmet_lost <= c.launches);
	to->launches += c.launches;
	to->met += c.met;
	to->awaited += c.awaited;
	to->matched += c.matched;
	to->orphan += c.orphan;
	to->invalid += c.invalid[EVENT_WORK];
	for (size_t i = 0; i < kernel_configs_count(l); i++) {
		to->kernels += kernel_configs_at(l, i)->count;
		to->kernel_ns += kernel_configs_at(l, i)->total_ns;
	}
}

TEST(files_together_equal_one_whole_file)
{
	struct session s = { .k = NULL };
	struct sums whole = { 0 }, files = { 0 };
	const uint64_t n = play(&s);

	assert_true(n > 2);
	add(&whole, s.m);
	model_free(s.m);
	for (uint64_t i = 1; i <= n; i++) {
		struct model *m = keep_read_file(i, FILE_BYTES, model_use_launches);

		assert_int_equal(snapshot_fact(snap_of(m), "goes_on") != NULL, i < n);
		add(&files, m);
		model_free(m);
	}
	assert_int_equal(whole.orphan, 0);
	assert_int_equal(files.launches, whole.launches);
	assert_int_equal(files.matched + files.orphan, whole.matched);
	assert_true(files.orphan < whole.matched / 10);	/* their launches are in the file before */
	assert_int_equal(files.invalid, 0);
	assert_int_equal(files.kernels, whole.kernels);
	assert_int_equal(files.kernel_ns, whole.kernel_ns);
	/* What a file does not meet is awaited there. */
	assert_true(files.met < whole.met);
	assert_true(files.met + files.awaited >= whole.met);
}

TEST_GROUP(lib_setup, lib_teardown);
