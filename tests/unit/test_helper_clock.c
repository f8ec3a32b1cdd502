// SPDX-License-Identifier: BSD-3-Clause
/*
 * The clock of CUPTI's records in the host's time: the header's example, slewed and set clocks, and
 * whatever a hostile helper may say.
 */
#include <stdlib.h>

#include "lib/random.h"
#include "lib/test.h"
#include "source/helper/clock.h"

static struct gp_ring_clock at(uint64_t before, uint64_t device, uint64_t after)
{
	return (struct gp_ring_clock){ before, device, after };
}

static void assert_host(const struct helper_clock *c, uint64_t device, uint64_t host, uint64_t error)
{
	uint64_t h, e;

	assert_true(helper_clock_host(c, device, &h, &e));
	assert_int_equal(h, host);
	assert_int_equal(e, error);
}

TEST(the_example_of_the_header)
{
	struct gp_ring_clock one = at(1000, 5000, 1010), two = at(2000, 6010, 2030);
	struct helper_clock c = { .n = 0 };
	uint64_t h, e;

	assert_false(helper_clock_host(&c, 5000, &h, &e));
	assert_true(helper_clock_add(&c, &one));
	assert_host(&c, 5505, 1510, 5);
	assert_true(helper_clock_add(&c, &two));
	assert_host(&c, 5000, 1005, 15);
	assert_host(&c, 6010, 2015, 15);
	assert_host(&c, 5505, 1510, 15);
	assert_host(&c, 4900, 905, 5);
	assert_host(&c, 6110, 2115, 15);
	assert_int_equal(c.steps, 0);
	assert_int_equal(helper_clock_settled(&c), 6010);
}

TEST(an_offset_that_the_next_reading_allows_stays)
{
	struct gp_ring_clock one = at(1000, 5000, 1010), wandered = at(2000, 6000, 2030),
			     apart = at(3000, 6900, 3010);
	struct helper_clock c = { .n = 0 };

	assert_true(helper_clock_add(&c, &one));
	assert_true(helper_clock_add(&c, &wandered));
	assert_host(&c, 6000, 2005, 25);
	assert_host(&c, 5400, 1405, 25);
	assert_host(&c, 5437, 1442, 25);
	assert_true(helper_clock_add(&c, &apart));
	assert_host(&c, 6900, 3005, 5);
}

/* 400 ppm fast, read every 100 ms: its own steps of 4 ns are all that is left. */
TEST(a_slewed_clock_is_followed)
{
	struct helper_clock c = { .n = 0 };
	uint64_t base = 1700000000ull * 1000000000ull, h, e;

	for (uint64_t t = 0; t <= 50; t++) {
		uint64_t host = 1000000000ull + t * 100000000ull;
		struct gp_ring_clock r = at(host - 50, base + host + host / 10000 * 4, host + 50);

		assert_true(helper_clock_add(&c, &r));
	}
	assert_int_equal(c.steps, 0);
	for (uint64_t host = 1000000000ull; host < 6000000000ull; host += 1234560) {
		assert_true(helper_clock_host(&c, base + host + host / 10000 * 4, &h, &e));
		assert_true(h + 5 >= host && h <= host + 5);
		assert_int_equal(e, 50);
	}
}

TEST(a_clock_that_was_set_is_uncertain_there_alone)
{
	struct helper_clock c = { .n = 0 };
	struct gp_ring_clock r[] = { at(1000000, 91000000, 1000010), at(2000000, 92000000, 2000010),
				     at(3000000, 193000000, 3000010),
				     at(4000000, 194000000, 4000010) };

	for (int i = 0; i < 4; i++)
		assert_true(helper_clock_add(&c, &r[i]));
	assert_int_equal(c.steps, 1);
	assert_host(&c, 91500000, 1500005, 5);
	assert_host(&c, 92500000, 2500005, 5 + 100000000);
	assert_host(&c, 193500000, 3500005, 5);
}

TEST(readings_that_contradict_are_ignored)
{
	struct gp_ring_clock good = at(1000, 5000, 1010), early = at(900, 5100, 910),
			     turned = at(2000, 6000, 1990), endless = at(2000, 6000, UINT64_MAX);
	struct helper_clock c = { .n = 0 };

	assert_true(helper_clock_add(&c, &good));
	assert_false(helper_clock_add(&c, &early));
	assert_false(helper_clock_add(&c, &turned));
	assert_false(helper_clock_add(&c, &endless));
	assert_int_equal(c.n, 1);
}

/* Nothing to compare with: that it ends, and UBSan. */
TEST(any_input_is_handled)
{
	for (int round = 0; round < random_rounds(2000); round++) {
		struct helper_clock c = { .n = 0 };
		uint64_t host = random_next() << 20, h, e;

		for (int i = 0; i < 100; i++) {
			struct gp_ring_clock r = at(host, random_next() << (round % 40), host + 10);

			host += below(1ull << 31);
			helper_clock_add(&c, &r);
			assert_true(helper_clock_host(&c, random_next() << (i % 40), &h, &e));
		}
		assert_true(c.n <= HELPER_CLOCK_READINGS);
	}
}

TEST_GROUP(random_seed, NULL);
