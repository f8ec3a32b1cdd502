// SPDX-License-Identifier: BSD-3-Clause
/*
 * Occupancy: examples worked out with the toolkit's calculator, and laws. tests/cupti/occupancy.c
 * holds the function against that calculator itself on random launches.
 */
#include <string.h>

#include "facts/sm_occupancy.h"
#include "lib/test.h"

static const struct occupancy_device h100 = {
	.cc_major = 9, .multiprocessors = 132, .threads_per_sm = 2048, .blocks_per_sm = 32,
	.registers_per_sm = 65536, .shared_per_sm = 233472, .shared_reserved = 1024,
};

static void assert_occupancy(uint32_t threads, uint32_t registers, uint64_t shared, uint32_t blocks,
			     double share, const char *limiter)
{
	struct occupancy_launch l = { .blocks = 1320, .threads = threads, .registers = registers,
				      .shared_bytes = shared };
	struct occupancy o;

	assert_true(occupancy_of(&h100, &l, &o));
	assert_int_equal(o.blocks, blocks);
	assert_true(o.share == share);
	assert_string_equal(occupancy_limiter_name(o.limiter), limiter);
	assert_true(o.waves == 1320.0 / (blocks * 132.0));
}

TEST(examples)
{
	assert_occupancy(128, 32, 0, 16, 1.0, "warps");
	assert_occupancy(256, 168, 96 << 10, 1, 0.125, "registers");
	assert_occupancy(1024, 64, 0, 1, 0.5, "registers");
	assert_occupancy(128, 255, 0, 2, 0.125, "registers");
	assert_occupancy(32, 16, 0, 32, 0.5, "blocks");
	assert_occupancy(128, 32, 100 << 10, 2, 0.125, "shared");
}

TEST(oversized_or_unknown_events_are_reported)
{
	struct occupancy_launch l = { .blocks = 1, .threads = 1024, .registers = 255 };
	struct occupancy_device unknown = { .multiprocessors = 0 };
	struct occupancy o;

	assert_false(occupancy_of(&h100, &l, &o));
	l = (struct occupancy_launch){ .blocks = 1, .threads = 0, .registers = 32 };
	assert_false(occupancy_of(&h100, &l, &o));
	l.threads = 32;
	assert_false(occupancy_of(&unknown, &l, &o));
	l.shared_bytes = 1 << 20;
	assert_false(occupancy_of(&h100, &l, &o));
	assert_int_equal(o.limiter, LIMIT_UNKNOWN);
	assert_null(occupancy_limiter_name(o.limiter));
}
