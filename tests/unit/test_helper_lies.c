// SPDX-License-Identifier: BSD-3-Clause
/*
 * What a helper says of threads, functions and times is checked: a process that lies harms what is
 * said of itself alone, and within bounds.
 */
#include <string.h>
#include <unistd.h>

#include "source/helper/helpers.c"
#include "lib/test.h"
#include "source/helper/decode.h"
#include "gpuprof/ring.h"
#include "gpuprof/work.h"

#define S 1000000000ull
#define NOW (1000 * S)
#define OFFSET 5000		/* of CUPTI's clock to the host's */
#define NO_PID 4194000u		/* no pid that this machine has */

static struct {
	struct helper_decoder *d;
	struct helper_threads *threads;
	struct event last;
	unsigned int n, others;
} r;

static int push(void *ctx, const struct event *ev)
{
	(void)ctx;
	r.last = *ev;
	r.n++;
	r.others += ev->work.name && !strcmp(ev->work.name, "[other]");
	return 0;
}

static void give(uint16_t kind, const void *payload, size_t len)
{
	assert_int_equal(helper_decode(r.d, kind, payload, len,
				       &(struct event_sink){ push, NULL }), 0);
}

static void read_clock(uint64_t host_ns)
{
	give(GP_RING_CLOCK, &(struct gp_ring_clock){ host_ns, host_ns + OFFSET, host_ns + 10 },
	     sizeof(struct gp_ring_clock));
}

static void call(uint32_t tid, uint64_t start, uint64_t end)
{
	struct gp_ring_api api = { .start = start + OFFSET, .end = end + OFFSET, .tid = tid, .cbid = 211,
				   .domain = 5 };

	give(GP_RING_API, &api, sizeof(api));
}

static struct helper_counts counts_of(void)
{
	return helper_decoder_progress(r.d).counts;
}

static void close_room(void)
{
	helper_decoder_free(r.d);
	helper_threads_free(r.threads);
	memset(&r, 0, sizeof(r));
}

static void restart(pid_t own_pid)
{
	close_room();
	r.threads = helper_threads_new(getpid(), own_pid);
	r.d = helper_decoder_new(getpid(), 0, r.threads);
	helper_decoder_now(r.d, NOW, 0);
	read_clock(NOW - 100 * S);
}

BEFORE_EACH
{
	restart(getpid());
}

AFTER_EACH
{
	close_room();
}

static void name_and_run(uint32_t id, size_t len)
{
	static struct {
		struct gp_ring_name name;
		char text[4096];
	} named;
	struct gp_ring_kernel kernel = { .start = NOW - 90 * S + OFFSET, .end = NOW - 89 * S + OFFSET,
					 .name = id };

	named.name = (struct gp_ring_name){ id, (uint32_t)len };
	memset(named.text, 'k', len);
	give(GP_RING_NAME_IS, &named, sizeof(named.name) + len);
	give(GP_RING_KERNEL, &kernel, sizeof(kernel));
}

/* 65536 names of 4096 bytes would be 256 MiB. */
TEST(names_have_a_room_and_then_are_other)
{
	for (uint32_t id = 1; id <= 3000; id++)
		name_and_run(id, 4096);
	read_clock(NOW - 10 * S);
	assert_int_equal(r.n, 3000);
	assert_int_equal(r.others, 3000 - (8 << 20) / 4096);
}

TEST(thread_zero_is_zero_in_a_namespace)
{
	restart(1);	/* it says that it is 1 of a namespace; we are not in one */
	call(NO_PID, NOW - 90 * S, NOW - 89 * S);
	read_clock(NOW - 10 * S);
	assert_int_equal(r.n, 1);
	assert_int_equal(r.last.tid, 0);
	assert_int_equal(counts_of().no_thread, 1);
}

TEST(an_exited_thread_is_known_to_earlier_observers)
{
	restart(1);
	call(7, NOW - 90 * S, NOW - 89 * S);
	helper_threads_add(r.threads, &(struct helper_thread){ .tid = NO_PID, .own_tid = 7 });
	read_clock(NOW - 10 * S);
	assert_int_equal(r.last.tid, NO_PID);
	assert_int_equal(counts_of().no_thread, 0);
}

TEST(invented_threads_are_bounded)
{
	for (uint32_t i = 0; i < 10 * HELPER_THREADS_GUESSED; i++)
		call(1u + (1u << 30) + i, NOW - 90 * S, NOW - 89 * S);
	read_clock(NOW - 10 * S);
	assert_int_equal(r.n, 10 * HELPER_THREADS_GUESSED);
	assert_int_equal(counts_of().no_thread, 9 * HELPER_THREADS_GUESSED);
}

TEST(a_record_from_the_future_is_invalid)
{
	struct gp_ring_range range = { .time_ns = NOW + 3600 * S, .tid = (uint32_t)getpid(),
				       .what = GP_RANGE_PUSH };

	call((uint32_t)getpid(), NOW - S, NOW + 3600 * S);
	give(GP_RING_RANGE, &range, sizeof(range));
	read_clock(NOW + 7200 * S);		/* nor does the clock say so */
	read_clock(NOW);
	assert_int_equal(helper_decode_end(r.d, &(struct event_sink){ push, NULL }), 0);
	assert_int_equal(r.n, 0);
	assert_int_equal(counts_of().invalid, 3);
}

TEST(nodes_that_cannot_be_are_invalid)
{
	struct gp_ring_node node = { .time_ns = NOW - S, .node = 5, .tid = (uint32_t)getpid() };

	give(GP_RING_NODE, &node, sizeof(node));
	assert_int_equal(r.n, 1);
	assert_int_equal(r.last.kind, EVENT_NODE);
	assert_int_equal(r.last.node.id, 5);
	assert_int_equal(r.last.tid, getpid());
	assert_int_equal(r.last.start_ns, NOW - S);
	give(GP_RING_NODE, &node, sizeof(node) - 1);
	node.original = 5;			/* of itself */
	give(GP_RING_NODE, &node, sizeof(node));
	node.node = 0;
	give(GP_RING_NODE, &node, sizeof(node));
	node = (struct gp_ring_node){ .time_ns = NOW + 3600 * S, .node = 6 };
	give(GP_RING_NODE, &node, sizeof(node));
	assert_int_equal(r.n, 1);
	assert_int_equal(counts_of().invalid, 4);
}

TEST(times_that_cannot_be_are_invalid)
{
	call(1, NOW - 89 * S, NOW - 90 * S);	/* backwards */
	give(GP_RING_API, &(struct gp_ring_api){ .end = NOW, .tid = 1 },
	     sizeof(struct gp_ring_api));
	call(1, NOW - 990 * S, UINT64_MAX - OFFSET);	/* without end */
	give(GP_RING_CLOCK, &(struct gp_ring_clock){ NOW, NOW, NOW - S },
	     sizeof(struct gp_ring_clock));
	assert_int_equal(counts_of().invalid, 4);
	assert_int_equal(r.n, 0);
}

/* ---- another profiler replaces CUPTI's clock ------------------------------------------------- */

struct log {
	struct event works[8], unseen[8];
	unsigned int n_works, n_unseen;
};

static int push_log(void *ctx, const struct event *ev)
{
	struct log *l = ctx;

	if (ev->kind == EVENT_WORK)
		l->works[l->n_works++ % 8] = *ev;
	if (ev->kind == EVENT_UNSEEN)
		l->unseen[l->n_unseen++ % 8] = *ev;
	return 0;
}

static void ran(struct log *l, uint64_t start, uint64_t end)
{
	const struct gp_ring_kernel kernel = { .start = start, .end = end };

	assert_int_equal(helper_decode(r.d, GP_RING_KERNEL, &kernel, sizeof(kernel),
				       &(struct event_sink){ push_log, l }), 0);
}

/* Of ticks of half a nanosecond, if it is replaced. */
static void read_of(struct log *l, uint64_t host_ns, bool replaced)
{
	const struct gp_ring_clock c = { host_ns, replaced ? 2 * host_ns : host_ns + OFFSET, host_ns + 10 };

	assert_int_equal(helper_decode(r.d, GP_RING_CLOCK, &c, sizeof(c),
				       &(struct event_sink){ push_log, l }), 0);
}

static void assert_time(const struct event *ev, uint64_t start_ns, uint64_t end_ns)
{
	assert_in_range(ev->start_ns, start_ns, start_ns + 10);
	assert_in_range(ev->end_ns, end_ns, end_ns + 10);
}

TEST(where_the_clock_is_replaced_works_have_no_time_and_it_is_unknown)
{
	struct log l = { .n_works = 0 };

	ran(&l, NOW - 95 * S + OFFSET, NOW - 94 * S + OFFSET);
	read_of(&l, NOW - 90 * S, false);
	ran(&l, NOW - 88 * S + OFFSET, NOW - 87 * S + OFFSET);	/* since the reading */
	read_of(&l, NOW - 80 * S, true);
	ran(&l, NOW - 85 * S + OFFSET, 2 * (NOW - 79 * S));		/* over the change */
	ran(&l, 2 * (NOW - 78 * S), 2 * (NOW - 77 * S));
	read_of(&l, NOW - 70 * S, true);
	assert_int_equal(l.n_works, 2);			/* its rate is not known yet */
	assert_int_equal(counts_of().clock_replaced, 0);
	read_of(&l, NOW - 60 * S, true);
	assert_int_equal(l.n_works, 4);
	assert_time(&l.works[0], NOW - 95 * S, NOW - 94 * S);
	assert_time(&l.works[3], NOW - 78 * S, NOW - 77 * S);
	assert_int_equal(l.works[1].end_ns, 0);
	assert_int_equal(l.works[2].end_ns, 0);
	assert_int_equal(l.n_unseen, 2);
	assert_time(&l.unseen[0], NOW - 90 * S, NOW - 80 * S);
	assert_time(&l.unseen[1], NOW - 80 * S, NOW - 79 * S);
	assert_int_equal(l.unseen[0].unseen.why, UNSEEN_UNKNOWN);
	assert_int_equal(counts_of().unplaced, 2);
	assert_int_equal(counts_of().clock_replaced, 1);
	assert_int_equal(counts_of().clock_steps, 0);
	assert_int_equal(counts_of().tick_ps, 500);
}

/* ---- what CUPTI itself gets wrong ----------------------------------------------------------- */

static void ran_in_graph(struct log *l)
{
	const struct gp_ring_kernel kernel = { .start = NOW - 95 * S + OFFSET, .end = NOW - 94 * S + OFFSET,
					       .has = GP_KERNEL_HAS_GRAPH, .graph = 3, .correlation = 17 };

	assert_int_equal(helper_decode(r.d, GP_RING_KERNEL, &kernel, sizeof(kernel),
				       &(struct event_sink){ push_log, l }), 0);
	read_of(l, NOW - 90 * S, false);
}

TEST(graphs_of_a_second_session_before_13_1_u1_have_no_launch)
{
	static const struct {
		uint32_t version, sessions;
		bool has_launch;
	} of[] = { { 130000, 1, true }, { 130000, 0, true }, { 130000, 2, false }, { 24, 3, false },
		   { 130101, 2, true }, { 0, 2, true } };

	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		const struct gp_ring_head head = { .cupti_version = of[i].version, .sessions = of[i].sessions };
		struct log l = { .n_works = 0 };

		restart(getpid());
		helper_decoder_head(r.d, &head);
		ran_in_graph(&l);
		assert_int_equal(l.n_works, 1);
		assert_int_equal(l.works[0].work.correlation, of[i].has_launch ? 17 : 0);
		assert_int_equal(!(l.works[0].work.has & WORK_HAS_NO_LAUNCH), of[i].has_launch);
		assert_int_equal(counts_of().no_launch, !of[i].has_launch);
	}
}

/* It was in flight when CUPTI was disabled, and comes with the next session, which it seems to reach. */
TEST(works_of_before_the_helper_was_awake_are_invalid)
{
	struct gp_ring_head head = { .state = GP_HELPER_AWAKE, .start_ns = NOW - 500 * S,
				     .state_ns = NOW - 95 * S };
	struct log l = { .n_works = 0 };

	helper_decoder_head(r.d, &head);
	ran(&l, NOW - 99 * S + OFFSET, NOW - 94 * S + OFFSET);
	ran(&l, NOW - 95 * S - S / 2 + OFFSET, NOW - 94 * S + OFFSET);	/* as clocks go */
	read_of(&l, NOW - 90 * S, false);
	assert_int_equal(l.n_works, 2);
	assert_int_equal(l.works[0].end_ns, 0);
	assert_time(&l.works[1], NOW - 95 * S - S / 2, NOW - 94 * S);
	assert_int_equal(counts_of().invalid, 1);
	assert_int_equal(l.n_unseen, 0);
	head.state = GP_HELPER_ENDED;		/* since when it was awake is still known */
	head.state_ns = NOW - 80 * S;
	helper_decoder_head(r.d, &head);
	ran(&l, NOW - 85 * S + OFFSET, NOW - 84 * S + OFFSET);
	read_of(&l, NOW - 70 * S, false);
	assert_int_equal(counts_of().invalid, 1);
}

/* CUPTI was disabled from -60 s to -58 s: one that ran before and seems to run after, one that ended
 * when it was enabled, one of before and one of after. */
TEST(works_in_flight_at_a_renewal_are_invalid_and_lost_until_then)
{
	const struct gp_ring_loss renewed = { .cause = GP_LOSS_RENEWED, .since_ns = NOW - 60 * S,
					      .until_ns = NOW - 58 * S };
	struct log l = { .n_works = 0 };

	ran(&l, NOW - 61 * S + OFFSET, NOW - 57 * S + OFFSET);
	ran(&l, NOW - 59 * S + OFFSET, NOW - 58 * S + OFFSET);
	ran(&l, NOW - 62 * S + OFFSET, NOW - 61 * S + OFFSET);
	ran(&l, NOW - 57 * S + OFFSET, NOW - 56 * S + OFFSET);
	assert_int_equal(helper_decode(r.d, GP_RING_LOSS, &renewed, sizeof(renewed),
				       &(struct event_sink){ push_log, &l }), 0);
	assert_int_equal(l.n_unseen, 1);
	assert_int_equal(l.unseen[0].unseen.why, UNSEEN_UNKNOWN);
	assert_time(&l.unseen[0], NOW - 60 * S, NOW - 58 * S);
	read_of(&l, NOW - 50 * S, false);
	assert_int_equal(l.n_works, 4);
	assert_int_equal(l.works[0].end_ns, 0);
	assert_int_equal(l.works[1].end_ns, 0);
	assert_time(&l.works[2], NOW - 62 * S, NOW - 61 * S);
	assert_time(&l.works[3], NOW - 57 * S, NOW - 56 * S);
	assert_int_equal(counts_of().invalid, 2);
	assert_int_equal(l.n_unseen, 2);
	assert_int_equal(l.unseen[1].unseen.why, UNSEEN_LOST);
	assert_int_equal(l.unseen[1].unseen.count, 2);
	assert_time(&l.unseen[1], NOW - 61 * S, NOW - 60 * S);
}

TEST(functions_that_cannot_be_are_invalid)
{
	struct gp_ring_api api = { .start = NOW - S, .end = NOW, .tid = 1, .cbid = 65536 + 211, .domain = 5 };

	give(GP_RING_API, &api, sizeof(api));
	api.cbid = FUNCS_MAX;
	give(GP_RING_API, &api, sizeof(api));
	api.cbid = 211;
	api.domain = 256 + 5;
	give(GP_RING_API, &api, sizeof(api));
	assert_int_equal(counts_of().invalid, 3);
}

/* Of the numbers of functions that there may be, only those of the catalogue are calls. */
TEST(any_function_number_of_any_domain_is_a_row_or_none)
{
	struct api_rows *rows = api_rows_new();
	unsigned int known = 0;

	for (unsigned int domain = 0; domain < 256; domain++)
		for (unsigned int cbid = 0; cbid < 65536; cbid++) {
			const struct event api = { .api = { .domain = (uint8_t)domain, .cbid = cbid } };
			unsigned int row = api_rows_find(rows, &api);

			known += row != 0;
			assert_true(row < FUNCS_MAX);
			assert_true(!row || domain == 4 || domain == 5);
		}
	assert_true(known > 300);
	free(rows);
}
