// SPDX-License-Identifier: BSD-3-Clause
/*
 * What a helper says of threads, functions and times is checked: a process that lies harms what is
 * said of itself alone, and within bounds.
 */
#include <string.h>
#include <unistd.h>

#include "source/helper/api_calls.c"
#include "lib/test.h"
#include "source/helper/decode.h"
#include "gpuprof/ring.h"
#include "gpuprof/work.h"

#define S 1000000000ull
#define NOW (1000 * S)
#define OFFSET 5000		/* of CUPTI's clock to the host's */
#define NO_PID 4194000u		/* no pid that this machine has */

struct room {
	struct helper_decoder *d;
	struct helper_threads *threads;
	struct event last;
	unsigned int n, others;
};

static int push(void *ctx, const struct event *ev)
{
	struct room *r = ctx;

	r->last = *ev;
	r->n++;
	r->others += ev->work.name && !strcmp(ev->work.name, "[other]");
	return 0;
}

static void give(struct room *r, uint16_t kind, const void *payload, size_t len)
{
	assert_int_equal(helper_decode(r->d, kind, payload, len, &(struct event_sink){ push, r }), 0);
}

static void read_clock(struct room *r, uint64_t host_ns)
{
	give(r, GP_RING_CLOCK, &(struct gp_ring_clock){ host_ns, host_ns + OFFSET, host_ns + 10 },
	     sizeof(struct gp_ring_clock));
}

static void call(struct room *r, uint32_t tid, uint64_t start, uint64_t end)
{
	struct gp_ring_api api = { .start = start + OFFSET, .end = end + OFFSET, .tid = tid, .cbid = 211,
				   .domain = 5 };

	give(r, GP_RING_API, &api, sizeof(api));
}

static struct helper_counts counts_of(const struct room *r)
{
	struct helper_counts c;

	helper_decoder_counts(r->d, &c);
	return c;
}

static void open_room(struct room *r, pid_t own_pid)
{
	*r = (struct room){ .threads = helper_threads_new(getpid(), own_pid) };
	r->d = helper_decoder_new(getpid(), 0, r->threads);
	helper_decoder_now(r->d, NOW);
	read_clock(r, NOW - 100 * S);
}

static void close_room(struct room *r)
{
	helper_decoder_free(r->d);
	helper_threads_free(r->threads);
}

static void name_and_run(struct room *r, uint32_t id, size_t len)
{
	static struct {
		struct gp_ring_name name;
		char text[4096];
	} named;
	struct gp_ring_kernel kernel = { .start = NOW - 90 * S + OFFSET, .end = NOW - 89 * S + OFFSET,
					 .name = id };

	named.name = (struct gp_ring_name){ id, (uint32_t)len };
	memset(named.text, 'k', len);
	give(r, GP_RING_NAME_IS, &named, sizeof(named.name) + len);
	give(r, GP_RING_KERNEL, &kernel, sizeof(kernel));
}

/* 65536 names of 4096 bytes would be 256 MiB. */
TEST(names_have_a_room_and_then_are_other)
{
	struct room r;

	open_room(&r, getpid());
	for (uint32_t id = 1; id <= 3000; id++)
		name_and_run(&r, id, 4096);
	read_clock(&r, NOW - 10 * S);
	assert_int_equal(r.n, 3000);
	assert_int_equal(r.others, 3000 - (8 << 20) / 4096);
	close_room(&r);
}

TEST(thread_zero_is_zero_in_a_namespace)
{
	struct room r;

	open_room(&r, 1);	/* it says that it is 1 of a namespace; we are not in one */
	call(&r, NO_PID, NOW - 90 * S, NOW - 89 * S);
	read_clock(&r, NOW - 10 * S);
	assert_int_equal(r.n, 1);
	assert_int_equal(r.last.tid, 0);
	assert_int_equal(counts_of(&r).no_thread, 1);
	close_room(&r);
}

TEST(an_exited_thread_is_known_to_earlier_observers)
{
	struct room r;

	open_room(&r, 1);
	call(&r, 7, NOW - 90 * S, NOW - 89 * S);
	helper_threads_add(r.threads, &(struct helper_thread){ .tid = NO_PID, .own_tid = 7 });
	read_clock(&r, NOW - 10 * S);
	assert_int_equal(r.last.tid, NO_PID);
	assert_int_equal(counts_of(&r).no_thread, 0);
	close_room(&r);
}

TEST(invented_threads_are_bounded)
{
	struct room r;

	open_room(&r, getpid());
	for (uint32_t i = 0; i < 10 * HELPER_THREADS_GUESSED; i++)
		call(&r, 1u + (1u << 30) + i, NOW - 90 * S, NOW - 89 * S);
	read_clock(&r, NOW - 10 * S);
	assert_int_equal(r.n, 10 * HELPER_THREADS_GUESSED);
	assert_int_equal(counts_of(&r).no_thread, 9 * HELPER_THREADS_GUESSED);
	close_room(&r);
}

TEST(a_record_from_the_future_is_invalid)
{
	struct gp_ring_range range = { .time_ns = NOW + 3600 * S, .tid = (uint32_t)getpid(),
				       .what = GP_RANGE_PUSH };
	struct room r;

	open_room(&r, getpid());
	call(&r, (uint32_t)getpid(), NOW - S, NOW + 3600 * S);
	give(&r, GP_RING_RANGE, &range, sizeof(range));
	read_clock(&r, NOW + 7200 * S);		/* nor does the clock say so */
	read_clock(&r, NOW);
	assert_int_equal(helper_decode_end(r.d, &(struct event_sink){ push, &r }), 0);
	assert_int_equal(r.n, 0);
	assert_int_equal(counts_of(&r).invalid, 3);
	close_room(&r);
}

TEST(nodes_that_cannot_be_are_invalid)
{
	struct gp_ring_node node = { .time_ns = NOW - S, .node = 5, .tid = (uint32_t)getpid() };
	struct room r;

	open_room(&r, getpid());
	give(&r, GP_RING_NODE, &node, sizeof(node));
	assert_int_equal(r.n, 1);
	assert_int_equal(r.last.kind, EVENT_NODE);
	assert_int_equal(r.last.node.id, 5);
	assert_int_equal(r.last.tid, getpid());
	assert_int_equal(r.last.start_ns, NOW - S);
	give(&r, GP_RING_NODE, &node, sizeof(node) - 1);
	node.original = 5;			/* of itself */
	give(&r, GP_RING_NODE, &node, sizeof(node));
	node.node = 0;
	give(&r, GP_RING_NODE, &node, sizeof(node));
	node = (struct gp_ring_node){ .time_ns = NOW + 3600 * S, .node = 6 };
	give(&r, GP_RING_NODE, &node, sizeof(node));
	assert_int_equal(r.n, 1);
	assert_int_equal(counts_of(&r).invalid, 4);
	close_room(&r);
}

TEST(times_that_cannot_be_are_invalid)
{
	struct room r;

	open_room(&r, getpid());
	call(&r, 1, NOW - 89 * S, NOW - 90 * S);	/* backwards */
	give(&r, GP_RING_API, &(struct gp_ring_api){ .end = NOW, .tid = 1 }, sizeof(struct gp_ring_api));
	call(&r, 1, NOW - 990 * S, UINT64_MAX - OFFSET);	/* without end */
	give(&r, GP_RING_CLOCK, &(struct gp_ring_clock){ NOW, NOW, NOW - S }, sizeof(struct gp_ring_clock));
	assert_int_equal(counts_of(&r).invalid, 4);
	assert_int_equal(r.n, 0);
	close_room(&r);
}

TEST(functions_that_cannot_be_are_invalid)
{
	struct gp_ring_api api = { .start = NOW - S, .end = NOW, .tid = 1, .cbid = 65536 + 211, .domain = 5 };
	struct room r;

	open_room(&r, getpid());
	give(&r, GP_RING_API, &api, sizeof(api));
	api.cbid = FUNCS_MAX;
	give(&r, GP_RING_API, &api, sizeof(api));
	api.cbid = 211;
	api.domain = 256 + 5;
	give(&r, GP_RING_API, &api, sizeof(api));
	assert_int_equal(counts_of(&r).invalid, 3);
	close_room(&r);
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
	api_rows_free(rows);
}
