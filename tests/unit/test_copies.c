// SPDX-License-Identifier: BSD-3-Clause
/* Copies and sets whose work never came: those that give work for certain are lost, of others nobody knows. */
#include "join_room.h"

#define COPY_CBID 41		/* cudaMemcpyAsync */
#define SYNC_COPY_CBID 31	/* cudaMemcpy */
#define SET_CBID 51		/* cudaMemsetAsync */
#define TWO_K 2048u

static void record(struct join *j, uint32_t correlation, uint16_t func, int result, uint64_t start)
{
	push(j, &(struct event){ .kind = EVENT_API, .pid = 1, .tid = 5, .seq = correlation, .func = func,
				 .dir = RUNTIME, .result = result, .start_ns = start,
				 .end_ns = start + 10 });
}

static void gave(struct join *j, uint32_t correlation, const struct work *like, uint64_t start)
{
	struct work w = *like;

	w.correlation = correlation;
	w.stream = w.context = 7;
	push(j, &(struct event){ .kind = EVENT_WORK, .pid = 1, .start_ns = start, .end_ns = start + 10,
				 .work = &w });
}

struct asked {			/* what a probe saw of a call */
	uint8_t has, dir;
	int32_t result;
	uint64_t bytes;
};

static void probed(struct join *j, const struct asked *call, uint64_t start)
{
	assert_int_equal(join_copied(j, &(struct event){
		.kind = EVENT_CALL, .has = call->has, .dir = call->dir, .result = call->result,
		.bytes = call->bytes, .pid = 1, .tid = 5, .start_ns = start - 5,
		.end_ns = start + 15 }), 0);
}

#define KNOWN (HAS_BYTES | HAS_DIR | HAS_RESULT)

static const struct work to_device = { .kind = WORK_KIND_COPY, .has = WORK_HAS_DIR, .dir = COPY_H2D,
				       .memory = MEMORY_PINNED, .bytes = 200 };
static const struct work on_device = { .kind = WORK_KIND_COPY, .has = WORK_HAS_DIR, .dir = COPY_D2D,
				       .bytes = 200 };
static const struct work managed = { .kind = WORK_KIND_COPY, .has = WORK_HAS_DIR, .dir = COPY_H2D,
				     .bytes = 200 };
static const struct work on_host = { .kind = WORK_KIND_COPY, .has = WORK_HAS_DIR, .dir = COPY_H2H,
				     .bytes = 200 };
static const struct work set = { .kind = WORK_KIND_SET, .bytes = 200 };

static const struct certainty {
	const char *what;
	const struct work *like;	/* what the first call gave */
	uint16_t first, func;		/* of the first call, of the second */
	struct asked call;		/* the second */
	bool lost;
} certainties[] = {
	{ "as large", &to_device, COPY_CBID, COPY_CBID, { KNOWN, COPY_H2D, 0, 256 }, true },
	{ "larger", &to_device, COPY_CBID, COPY_CBID, { KNOWN, COPY_H2D, 0, TWO_K }, true },
	{ "a bit smaller", &to_device, COPY_CBID, COPY_CBID, { KNOWN, COPY_H2D, 0, 255 }, false },
	{ "of 0 bytes", &to_device, COPY_CBID, COPY_CBID, { KNOWN, COPY_H2D, 0, 0 }, false },
	{ "the other way", &to_device, COPY_CBID, COPY_CBID, { KNOWN, COPY_D2H, 0, TWO_K }, false },
	{ "any way", &to_device, COPY_CBID, COPY_CBID, { KNOWN, COPY_DEFAULT, 0, TWO_K }, false },
	{ "no way", &to_device, COPY_CBID, COPY_CBID, { HAS_BYTES, 0, 0, TWO_K }, false },
	{ "failed", &to_device, COPY_CBID, COPY_CBID, { KNOWN, COPY_H2D, 2, TWO_K }, false },
	{ "unprobed", &to_device, COPY_CBID, COPY_CBID, { 0, 0, 0, 0 }, false },
	{ "another function", &to_device, COPY_CBID, SYNC_COPY_CBID, { KNOWN, COPY_H2D, 0, TWO_K }, false },
	{ "within the device", &on_device, COPY_CBID, COPY_CBID, { KNOWN, COPY_D2D, 0, 256 }, true },
	{ "managed", &managed, COPY_CBID, COPY_CBID, { KNOWN, COPY_H2D, 0, TWO_K }, false },
	{ "within the host", &on_host, COPY_CBID, COPY_CBID, { KNOWN, COPY_H2H, 0, TWO_K }, false },
	{ "a set", &set, SET_CBID, SET_CBID, { HAS_BYTES | HAS_RESULT, 0, 0, 256 }, true },
	{ "a small set", &set, SET_CBID, SET_CBID, { HAS_BYTES | HAS_RESULT, 0, 0, 16 }, false },
};

/* Three calls, of which the second one gave no work; late: what its probe saw comes last. */
static struct join_counts lose_second(struct seen *seen, const struct certainty *c, bool late)
{
	struct join *j = new_join(seen);
	struct join_counts counts;

	record(j, 1, c->first, 0, BASE);
	gave(j, 1, c->like, BASE + 50);
	if (!late)
		probed(j, &c->call, BASE + 100);
	record(j, 2, c->func, 0, BASE + 100);
	record(j, 3, c->first, 0, BASE + 200);
	gave(j, 3, c->like, BASE + 250);
	if (late)
		probed(j, &c->call, BASE + 100);
	assert_int_equal(join_end(j), 0);
	counts = counts_of(j);
	join_free(j);
	return counts;
}

static void a_copy_that_gave_no_work_is_lost_where_it_must_have_given_one(void **state)
{
	(void)state;
	for (size_t i = 0; i < 2 * sizeof(certainties) / sizeof(certainties[0]); i++) {
		const struct certainty *c = &certainties[i / 2];
		struct seen seen;
		struct join_counts counts = lose_second(&seen, c, i & 1);

		if (counts.untold != c->lost)
			fail_msg("%s: %d lost", c->what, (int)counts.untold);
		assert_int_equal(counts.launches, 3);
		assert_int_equal(counts.met, 2);
		if (c->lost) {
			assert_int_equal(seen.untold_start, BASE + 100);
			assert_int_equal(seen.untold_end, BASE + 250);
		}
	}
}

static void nothing_is_certain_before_a_work_was_seen_nor_with_managed_memory(void **state)
{
	static const struct asked call = { KNOWN, COPY_H2D, 0, TWO_K };

	(void)state;
	for (int managed_first = 0; managed_first < 2; managed_first++) {
		struct seen seen;
		struct join *j = new_join(&seen);

		if (managed_first) {
			record(j, 1, COPY_CBID, 0, BASE);
			gave(j, 1, &to_device, BASE + 50);
		}
		probed(j, &call, BASE + 100);
		record(j, 2, COPY_CBID, 0, BASE + 100);
		if (managed_first)
			assert_int_equal(join_managed(j, 1), 0);
		record(j, 3, COPY_CBID, 0, BASE + 200);
		gave(j, 3, &to_device, BASE + 250);
		assert_int_equal(join_end(j), 0);
		assert_int_equal(counts_of(j).untold, 0);
		join_free(j);
	}
}

static void of_a_copy_whose_stream_did_not_go_on_nothing_is_known(void **state)
{
	static const struct asked call = { KNOWN, COPY_H2D, 0, TWO_K };
	struct seen seen;
	struct join *j = new_join(&seen);

	(void)state;
	record(j, 1, COPY_CBID, 0, BASE);
	gave(j, 1, &to_device, BASE + 50);
	probed(j, &call, BASE + 100);
	record(j, 2, COPY_CBID, 0, BASE + 100);
	assert_int_equal(join_end(j), 0);
	assert_int_equal(counts_of(j).untold, 0);
	join_free(j);
}

static void copies_alone_make_no_process_known(void **state)
{
	static const struct asked call = { KNOWN, COPY_H2D, 0, TWO_K };
	struct seen seen;
	struct join *j = new_join(&seen);

	(void)state;
	for (uint64_t i = 0; i < 100000; i++)	/* bounded */
		probed(j, &call, BASE + 100 * i);
	assert_false(join_knows(j, 1));
	record(j, 2, COPY_CBID, 0, BASE);
	assert_true(join_knows(j, 1));
	join_free(j);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_copy_that_gave_no_work_is_lost_where_it_must_have_given_one),
		cmocka_unit_test(nothing_is_certain_before_a_work_was_seen_nor_with_managed_memory),
		cmocka_unit_test(of_a_copy_whose_stream_did_not_go_on_nothing_is_known),
		cmocka_unit_test(copies_alone_make_no_process_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
