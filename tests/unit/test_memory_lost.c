// SPDX-License-Identifier: BSD-3-Clause
/*
 * What lost records do to what is known of memory: nothing where they were of works alone, and nothing
 * where every call was seen; else its rows are incomplete. And what a helper's losses are of.
 */
#include "source/helper/helpers.c"

#include <string.h>

#include "source/helper/decode.c"
#include "lib/test.h"
#include "event/event.h"
#include "gpuprof/ring.h"
#include "model/model.h"
#include "snap_of.h"

#define BASE 1000000000000ull
#define MS 1000000ull
#define PID 12

enum { MALLOC, FREE, RESET };

static const struct funcs funcs = {
	.n = 3,
	.v = {
		[MALLOC] = { "cudaMalloc", "cudart", CLASS_ALLOC, 0 },
		[FREE] = { "cudaFree", "cudart", CLASS_FREE, 0 },
		[RESET] = { "cudaDeviceReset", "cudart", CLASS_INIT, 0 },
	},
};

struct lost {			/* what a session has beside four allocations, of which two are freed */
	const char *what;
	uint16_t of;		/* UNSEEN_OF_* of a loss at [30,40) ms */
	uint8_t why;		/* 0: there is none */
	uint8_t calls;		/* bit n: that call was seen; their numbers show the holes */
	uint8_t records;	/* bit n: that record came */
	bool numbers_go_on;	/* who did not see a call does not know of it either */
	bool blind;		/* the first call's address is not known */
	bool unarmed;		/* [35,36) ms */
	bool without_probes;
	bool incomplete;
};

static const struct lost cases[] = {
	{ "nothing", 0, 0, 0x3f, 0x3f, .incomplete = false },
	{ "works alone", UNSEEN_OF_WORKS, UNSEEN_LOST, 0, 0x3f, .incomplete = false },
	{ "works alone, all calls seen", UNSEEN_OF_WORKS, UNSEEN_LOST, 0x3f, 0x3f, .incomplete = false },
	{ "memory, all calls seen", UNSEEN_OF_MEMORY, UNSEEN_LOST, 0x3f, 0x2b, .incomplete = false },
	{ "anything, all calls seen", 0, UNSEEN_LOST, 0x3f, 0x2b, .incomplete = false },
	{ "all records, all calls seen", 0, UNSEEN_LOST, 0x3f, 0, .incomplete = false },
	{ "memory, of no call", UNSEEN_OF_MEMORY, UNSEEN_LOST, 0, 0x2b, .incomplete = true },
	{ "anything, of no call", 0, UNSEEN_LOST, 0, 0x2b, .incomplete = true },
	{ "memory, a call is lost", UNSEEN_OF_MEMORY, UNSEEN_LOST, 0x37, 0x37, .incomplete = true },
	{ "memory, a call was not probed", UNSEEN_OF_MEMORY, UNSEEN_LOST, 0x3b, 0x2f,
	  .numbers_go_on = true, .incomplete = true },
	{ "memory, and probes came late", UNSEEN_OF_MEMORY, UNSEEN_LOST, 0x3f, 0x2b, .unarmed = true,
	  .incomplete = true },
	{ "memory, and where a call allocated", UNSEEN_OF_MEMORY, UNSEEN_LOST, 0x3f, 0x3f, .blind = true,
	  .incomplete = true },
	{ "a helper that slept", 0, UNSEEN_UNKNOWN, 0x3f, 0x0f, .incomplete = false },
	{ "a helper that slept, no probes", 0, UNSEEN_UNKNOWN, 0, 0x0f, .without_probes = true,
	  .incomplete = true },
	{ "memory, no probes", UNSEEN_OF_MEMORY, UNSEEN_LOST, 0, 0x2b, .without_probes = true,
	  .incomplete = true },
	{ "works alone, no probes", UNSEEN_OF_WORKS, UNSEEN_LOST, 0, 0x3f, .without_probes = true,
	  .incomplete = false },
};

static void push(struct model *m, struct event ev)
{
	ev.pid = PID;
	ev.process = 1;
	assert_int_equal(model_push(m, &ev), 0);
}

/* The third and the fourth free the first two. */
static void push_acts(struct model *m, const struct lost *c)
{
	uint32_t seq = 0;

	for (unsigned int i = 0; i < 6; i++) {
		bool frees = i == 2 || i == 3;
		uint64_t at = BASE + (10 + 10 * i) * MS, address = 4096 * (1 + (frees ? i - 2 : i));

		seq += !c->numbers_go_on || c->calls >> i & 1;
		if (c->calls >> i & 1)
			push(m, (struct event){ .kind = EVENT_CALL, .tid = PID, .seq = seq,
				.func = frees ? FREE : MALLOC, .has = HAS_BYTES | HAS_RESULT,
				.call.bytes = frees ? 0 : 100, .start_ns = at, .end_ns = at + 1000,
				.call.address = c->blind && !i ? 0 : address });
		if (c->records >> i & 1)
			push(m, (struct event){ .kind = EVENT_MEMORY, .has = HAS_BYTES,
						.memory.bytes = 100,
				.memory.op = frees ? MEMORY_FREE : MEMORY_ALLOC,
				.memory.kind = MEMORY_KIND_DEVICE,
				.start_ns = at + 500, .memory.address = address });
	}
}

TEST(memory_is_incomplete_where_something_may_be_missing)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct lost *c = &cases[i];
		struct model *m = model_new(&funcs);

		assert_non_null(m);
		if (c->without_probes)
			push(m, (struct event){ .kind = EVENT_FACT, .fact.key = "without_probes",
						.fact.value = "yes" });
		push(m, (struct event){ .kind = EVENT_START, .start_ns = BASE });
		push_acts(m, c);
		if (c->unarmed)
			push(m, (struct event){ .kind = EVENT_UNARMED, .start_ns = BASE + 35 * MS,
						.end_ns = BASE + 36 * MS });
		if (c->why)
			push(m, (struct event){ .kind = EVENT_UNSEEN, .unseen.why = c->why,
						.unseen.of = c->of,
						.start_ns = BASE + 30 * MS, .end_ns = BASE + 40 * MS });
		push(m, (struct event){ .kind = EVENT_STOP, .end_ns = BASE + 100 * MS });
		assert_int_equal(model_finish(m), 0);
		if (snap_of(m)->processes.v[0].memory_incomplete != c->incomplete)
			fail_msg("%s: %s", c->what, c->incomplete ? "complete" : "incomplete");
		model_free(m);
	}
}

/* By calls, by records, by both: the second is freed after the end, and two more come then. */
TEST(memory_is_as_it_was_when_the_session_ended)
{
	static const struct lost seen[] = { { .calls = 0x3f }, { .records = 0x3f },
					    { .calls = 0x3f, .records = 0x3f } };

	for (size_t i = 0; i < sizeof(seen) / sizeof(seen[0]); i++) {
		struct model *m = model_new(&funcs);
		const struct memory_sums *row;

		assert_non_null(m);
		push(m, (struct event){ .kind = EVENT_START, .start_ns = BASE });
		push(m, (struct event){ .kind = EVENT_STOP, .end_ns = BASE + 35 * MS });
		push_acts(m, &seen[i]);
		assert_int_equal(model_finish(m), 0);
		assert_int_equal(snap_of(m)->processes.v[0].memory.n, 1);
		row = &snap_of(m)->processes.v[0].memory.v[0];
		assert_int_equal(row->allocs, 2);
		assert_int_equal(row->frees, 1);
		assert_int_equal(row->live_bytes, 100);
		model_free(m);
	}
}

/* Many processes begin at once, and a helper's first records come 1.9 s after their calls. */
TEST(a_helper_that_is_heard_of_late_gives_memory_its_device)
{
	const uint64_t at = BASE + 10 * MS, heard = at + 1900 * MS;
	struct model *m = model_new(&funcs);
	const struct memory_sums *row;

	assert_non_null(m);
	push(m, (struct event){ .kind = EVENT_START, .start_ns = BASE });
	push(m, (struct event){ .kind = EVENT_CALL, .tid = PID, .seq = 1, .func = MALLOC,
				.has = HAS_BYTES | HAS_RESULT, .call.bytes = 100, .start_ns = at,
				.end_ns = at + 1000, .call.address = 4096 });
	for (uint64_t ns = at; ns < heard; ns += 100 * MS)
		push(m, (struct event){ .kind = EVENT_WATERMARK, .end_ns = ns });
	push(m, (struct event){ .kind = EVENT_MEMORY, .has = HAS_BYTES, .start_ns = at + 500,
				.memory = { .bytes = 100, .address = 4096, .device = 3,
					    .op = MEMORY_ALLOC, .kind = MEMORY_KIND_DEVICE } });
	push(m, (struct event){ .kind = EVENT_STOP, .end_ns = heard });
	assert_int_equal(model_finish(m), 0);
	assert_int_equal(snap_of(m)->processes.v[0].memory.n, 1);
	row = &snap_of(m)->processes.v[0].memory.v[0];
	assert_int_equal(row->key.device, 3);
	assert_int_equal(row->allocs, 1);
	assert_int_equal(row->live_bytes, 100);
	model_free(m);
}

struct reset {
	const char *what;
	uint8_t acts;		/* bit n: as above; two live after all of them */
	bool early;		/* before them */
	int32_t result;
	bool incomplete;
};

static const struct reset resets[] = {
	{ "two lived", 0x3f, .incomplete = true },
	{ "it failed", 0x3f, .result = 46, .incomplete = false },
	{ "all was freed", 0x0f, .incomplete = false },
	{ "nothing was allocated yet", 0x3f, .early = true, .incomplete = false },
};

static void push_reset(struct model *m, const struct reset *r)
{
	const uint64_t at = BASE + (r->early ? 2 : 80) * MS;

	push(m, (struct event){ .kind = EVENT_CALL, .tid = PID + 1, .seq = 1, .func = RESET,
				.has = HAS_RESULT, .call.result = r->result, .start_ns = at,
				.end_ns = at + MS });
}

TEST(memory_freed_by_a_reset_is_unknown_if_any_lived)
{
	for (size_t i = 0; i < sizeof(resets) / sizeof(resets[0]); i++) {
		const struct reset *r = &resets[i];
		struct model *m = model_new(&funcs);

		assert_non_null(m);
		push(m, (struct event){ .kind = EVENT_START, .start_ns = BASE });
		if (r->early)
			push_reset(m, r);
		push_acts(m, &(struct lost){ .calls = r->acts, .records = r->acts });
		assert_false(snap_of(m)->processes.v[0].memory_incomplete);
		if (!r->early)
			push_reset(m, r);
		push(m, (struct event){ .kind = EVENT_STOP, .end_ns = BASE + 100 * MS });
		assert_int_equal(model_finish(m), 0);
		if (snap_of(m)->processes.v[0].memory_incomplete != r->incomplete)
			fail_msg("%s: %s", r->what, r->incomplete ? "complete" : "incomplete");
		model_free(m);
	}
}

/* ---- what a helper's losses are of ------------------------------------------------------------ */

TEST(a_loss_is_of_the_kinds_that_it_names)
{
	static const struct {
		struct gp_ring_loss loss;
		uint16_t of;
	} losses[] = {
		{ { .cause = GP_LOSS_DROPPED }, 0 },
		{ { .cause = GP_LOSS_BUFFERS }, 0 },
		{ { .cause = GP_LOSS_NO_TIME }, UNSEEN_OF_WORKS },
		{ { .cause = GP_LOSS_UNKNOWN }, 0 },
		{ { .cause = GP_LOSS_UNKNOWN, .kinds = 1u << GP_RING_KERNEL }, UNSEEN_OF_WORKS },
		{ { .cause = GP_LOSS_UNKNOWN, .kinds = 1u << GP_RING_MEMORY }, UNSEEN_OF_MEMORY },
		{ { .cause = GP_LOSS_UNKNOWN, .kinds = 1u << GP_RING_MEMORY | 1u << GP_RING_SET },
		  UNSEEN_OF_WORKS | UNSEEN_OF_MEMORY },
		{ { .cause = GP_LOSS_UNKNOWN, .kinds = UINT32_MAX }, UNSEEN_OF_WORKS | UNSEEN_OF_MEMORY },
	};

	for (size_t i = 0; i < sizeof(losses) / sizeof(losses[0]); i++)
		assert_int_equal(helper_work_unseen_of(&losses[i].loss), losses[i].of);
}

static int take(void *ctx, const struct event *ev)
{
	assert_int_equal(ev->kind, EVENT_UNSEEN);
	assert_int_equal(ev->unseen.why, UNSEEN_LOST);
	*(unsigned int *)ctx = ev->unseen.of;
	return 0;
}

TEST(ring_losses_are_reported_once_with_their_kind)
{
	static const struct {
		struct helper_lost lost;
		unsigned int of;
	} steps[] = {
		{ { 0, 0 }, 0 }, { { 3, 0 }, UNSEEN_OF_WORKS }, { { 3, 0 }, 0 }, { { 3, 1 }, UNSEEN_OF_MEMORY },
		{ { 4, 2 }, UNSEEN_OF_WORKS | UNSEEN_OF_MEMORY }, { { 4, 2 }, 0 },
	};
	struct helper_lost got = { 0 };
	unsigned int of;

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		of = 0;
		assert_int_equal(helper_gap_lost(&got, &steps[i].lost, PID, 10, 20,
						  &(struct event_sink){ take, &of }), 0);
		assert_int_equal(of, steps[i].of);
	}
}
