// SPDX-License-Identifier: BSD-3-Clause
/*
 * The clock of CUPTI's records in the host's time: the header's examples; slewed, set and replaced
 * clocks against an executable truth; and whatever a hostile helper may say.
 */
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "lib/random.h"
#include "lib/test.h"
#include "source/helper/clock.h"

static struct gp_ring_clock at(uint64_t before, uint64_t device, uint64_t after)
{
	return (struct gp_ring_clock){ before, device, after };
}

/* One that came with the latest reading. */
static bool helper_clock_host(const struct helper_clock *c, uint64_t device, uint64_t *host,
			      uint64_t *error)
{
	struct helper_span span;
	bool has = helper_clock_place(c, device, device, c->total, &span);

	*host = span.start_ns;
	*error = span.error_ns;
	return has;
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
	assert_true(helper_clock_add(&c, &one, 0));
	assert_host(&c, 5505, 1510, 5);
	assert_true(helper_clock_add(&c, &two, 0));
	assert_host(&c, 5000, 1005, 15);
	assert_host(&c, 6010, 2015, 15);
	assert_host(&c, 5505, 1510, 15);
	assert_host(&c, 4900, 905, 5);
	assert_host(&c, 6110, 2115, 15);
	assert_int_equal(c.steps, 0);
	assert_int_equal(c.reading[c.n - 1].device, 6010);
}

TEST(an_offset_that_the_next_reading_allows_stays)
{
	struct gp_ring_clock one = at(1000, 5000, 1010), wandered = at(2000, 6000, 2030),
			     apart = at(3000, 6975, 3010);
	struct helper_clock c = { .n = 0 };

	assert_true(helper_clock_add(&c, &one, 0));
	assert_true(helper_clock_add(&c, &wandered, 0));
	assert_host(&c, 6000, 2005, 25);
	assert_host(&c, 5400, 1405, 25);
	assert_host(&c, 5437, 1442, 25);
	assert_true(helper_clock_add(&c, &apart, 0));
	assert_host(&c, 6975, 3005, 25);
}

/* The first reading took long and came at its end: the next one, which its middle misses, is no slew. */
TEST(a_clock_that_keeps_its_distance_keeps_its_rate)
{
	struct gp_ring_clock slow = at(1000, 10002600, 2600), quick = at(100000000, 110000050, 100000100);
	struct helper_clock c = { .n = 0 };

	assert_true(helper_clock_add(&c, &slow, 0));
	assert_true(helper_clock_add(&c, &quick, 0));
	for (uint64_t device = 20000000; device < 110000000; device += 12345678)
		assert_host(&c, device, device - 10000800, 850);
	assert_int_equal(c.steps, 0);
}

/* 400 ppm fast, read every 100 ms: its own steps of 4 ns are all that is left. */
TEST(a_slewed_clock_is_followed)
{
	struct helper_clock c = { .n = 0 };
	uint64_t base = 1700000000ull * 1000000000ull, h, e;

	for (uint64_t t = 0; t <= 50; t++) {
		uint64_t host = 1000000000ull + t * 100000000ull;
		struct gp_ring_clock r = at(host - 50, base + host + host / 10000 * 4, host + 50);

		assert_true(helper_clock_add(&c, &r, 0));
	}
	assert_int_equal(c.steps, 0);
	for (uint64_t host = 1000000000ull; host < 6000000000ull; host += 1234560) {
		assert_true(helper_clock_host(&c, base + host + host / 10000 * 4, &h, &e));
		assert_true(h + 5 >= host && h <= host + 5);
		assert_int_equal(e, 50);
	}
}

static struct helper_clock clock_of(const struct gp_ring_clock *readings, unsigned int n)
{
	struct helper_clock c = { .n = 0 };

	for (unsigned int i = 0; i < n; i++)
		assert_true(helper_clock_add(&c, &readings[i], 0));
	return c;
}

TEST(a_clock_that_was_set_has_no_places_there_alone)
{
	struct gp_ring_clock r[] = { at(1000000, 91000000, 1000010), at(2000000, 92000000, 2000010),
				     at(3000000, 193000000, 3000010),
				     at(4000000, 194000000, 4000010) };
	struct helper_clock c = clock_of(r, 4);
	struct helper_span span;
	uint64_t h, e;

	assert_int_equal(c.steps, 1);
	assert_int_equal(c.replaced, 0);
	assert_host(&c, 91500000, 1500005, 5);
	assert_false(helper_clock_host(&c, 92500000, &h, &e));
	assert_host(&c, 193500000, 3500005, 5);
	assert_false(helper_clock_place(&c, 91500000, 193500000, 4, &span));
	assert_int_equal(span.start_ns, 1500005);
	assert_int_equal(span.end_ns, 3500005);
}

/* Set back by 1.5 ms: a time that was shown twice, and the second time in the break, has no place. */
TEST(a_time_that_a_clock_set_back_shows_twice_is_the_later_one)
{
	struct gp_ring_clock r[] = { at(1000000, 91000000, 1000010), at(2000000, 92000000, 2000010),
				     at(3000000, 91500000, 3000010),
				     at(4000000, 92500000, 4000010) };
	struct helper_clock c = clock_of(r, 4);
	struct helper_span span;
	uint64_t h, e;

	assert_true(helper_clock_place(&c, 91400000, 91450000, 1, &span));
	assert_int_equal(span.start_ns, 1400005);
	assert_false(helper_clock_place(&c, 91400000, 91450000, 2, &span));
	assert_false(helper_clock_place(&c, 91400000, 91450000, 3, &span));
	assert_int_equal(span.end_ns, 0);
	assert_host(&c, 91600000, 3100005, 5);
	assert_false(helper_clock_host(&c, 90600000, &h, &e));	/* 2.1 ms, if the line began there */
}

/* Milliseconds: that is the header's example. */
TEST(a_clock_of_another_rate_takes_the_place)
{
	static const uint64_t device[] = { 100, 200, 4000, 4210, 4420 };
	struct helper_clock c = { .n = 0 };
	struct helper_span span;
	uint64_t h, e;

	for (unsigned int i = 0; i < 5; i++) {
		struct gp_ring_clock r = at((i + 1) * 100000000, device[i] * 1000000,
					    (i + 1) * 100000000 + 10);

		assert_true(helper_clock_add(&c, &r, 0));
		assert_int_equal(helper_clock_decided(&c), i == 2 ? 2 : i == 3 ? 3 : i + 1);
	}
	assert_int_equal(c.steps, 0);
	assert_int_equal(c.replaced, 1);
	assert_int_equal(c.tick_ps, 476);
	assert_host(&c, 150000000, 150000005, 5);
	assert_host(&c, 4105000000, 350000005, 5);
	assert_false(helper_clock_host(&c, 250000000, &h, &e));
	assert_false(helper_clock_place(&c, 150000000, 4105000000, 5, &span));
	assert_int_equal(span.start_ns, 150000005);
	assert_int_equal(span.end_ns, 350000005);
	assert_false(helper_clock_place(&c, 250000000, 4105000000, 5, &span));
	assert_int_equal(span.start_ns, 300000005);
	assert_int_equal(span.end_ns, 350000005);
}

/* ---- against a truth ------------------------------------------------------------------------- */

#define EVERY_NS 100000000ull
#define WALL_NS 1700000000000000000ull
#define BORN_NS 1000000000000ull
#define READINGS 400
#define KNOTS_MAX (2 * READINGS)

/* The clock is a line from each knot to the next, but from a break: there it is set or replaced. */
struct knot {
	uint64_t host_ns, device;
	uint64_t wall_ns;	/* CLOCK_REALTIME there - CLOCK_MONOTONIC */
	bool is_break;
};

struct truth {
	struct knot knot[KNOTS_MAX];
	unsigned int n;
	uint64_t breaks;
};

static uint64_t device_at(const struct truth *t, uint64_t host_ns)
{
	unsigned int i = t->n - 2;

	while (i && (t->knot[i].host_ns > host_ns || t->knot[i].is_break))
		i--;
	return t->knot[i].device +
	       (uint64_t)((unsigned __int128)(host_ns - t->knot[i].host_ns) *
			  (t->knot[i + 1].device - t->knot[i].device) /
			  (t->knot[i + 1].host_ns - t->knot[i].host_ns));
}

/* The time of day, set by up to a minute, or a counter since the boot. */
static double begin_clock(struct knot *at)
{
	const double rate = below(3) ? 0.3 + (double)below(3700001) / 1000000 : 1.0;

	at->wall_ns = WALL_NS + below(60) * NS_PER_SEC;
	at->device = rate == 1.0 ? at->host_ns + at->wall_ns :
				   (uint64_t)((double)at->host_ns * rate);
	return rate;
}

static void go_on(struct truth *t, struct knot *at, uint64_t ns, double rate)
{
	t->knot[t->n++] = *at;
	at->host_ns += ns;
	at->device += (uint64_t)((double)ns * rate);
	at->is_break = false;
}

/* A knot about every 100 ms, where the rate wanders by up to 1 ppm; now and then a break. */
static void make_truth(struct truth *t)
{
	struct knot at = { .host_ns = BORN_NS };
	double rate = begin_clock(&at);
	unsigned int next = 10 + (unsigned int)below(40);

	t->n = 0;
	t->breaks = 0;
	for (unsigned int i = 0; i < READINGS; i++) {
		go_on(t, &at, EVERY_NS / 2, rate);
		if (i == next) {
			at.is_break = true;
			t->knot[t->n++] = at;
			at.is_break = false;
			rate = begin_clock(&at);
			next += 10 + (unsigned int)below(40);
			t->breaks++;
		} else if (rate != 1.0) {
			rate *= 1 + (double)below(2001) / 1e9 - 1e-6;
		}
	}
	t->knot[t->n++] = at;
}

static bool has_break(const struct truth *t, uint64_t from_ns, uint64_t to_ns)
{
	for (unsigned int i = 0; i < t->n; i++)
		if (t->knot[i].is_break && t->knot[i].host_ns >= from_ns &&
		    t->knot[i].host_ns <= to_ns)
			return true;
	return false;
}

struct tile {			/* works without a gap between them */
	uint64_t start_ns, end_ns, since;
};

struct run {			/* of tiles that have places */
	uint64_t truth_ns, sum_ns, error_ns;
};

static void end_run(struct run *r)
{
	const uint64_t apart = r->sum_ns > r->truth_ns ? r->sum_ns - r->truth_ns :
							 r->truth_ns - r->sum_ns;

	assert_true(apart <= 2 * r->error_ns + 100);
	*r = (struct run){ 0 };
}

static bool is_near(uint64_t a, uint64_t b, uint64_t error)
{
	return a <= b + error && b <= a + error;
}

/* Its place is right, or it has none because of a break between the readings around it. */
static void check_tile(const struct helper_clock *c, const struct truth *t, const struct tile *tile,
		       struct run *run)
{
	struct helper_span span;

	if (!helper_clock_place(c, device_at(t, tile->start_ns), device_at(t, tile->end_ns),
				tile->since, &span)) {
		assert_true(has_break(t, tile->start_ns - EVERY_NS * 2, tile->end_ns + EVERY_NS * 2));
		if (span.end_ns)
			assert_true(span.start_ns <= tile->start_ns + span.error_ns + 100 ||
				    has_break(t, tile->start_ns - EVERY_NS * 2,
					      span.start_ns + span.error_ns));
		end_run(run);
		return;
	}
	assert_true(is_near(span.start_ns, tile->start_ns, span.error_ns + 100));
	assert_true(is_near(span.end_ns, tile->end_ns, span.error_ns + 100));
	run->truth_ns += tile->end_ns - tile->start_ns;
	run->sum_ns += span.end_ns - span.start_ns;
	run->error_ns = num_max(run->error_ns, span.error_ns);
}

/* It comes soon after its end. */
static void next_tile(const struct helper_clock *c, struct tile *tile)
{
	tile->start_ns = tile->end_ns;
	tile->end_ns += 1000 + below(EVERY_NS / (below(50) ? 20 : 1));
	tile->since = c->total;
	for (unsigned int i = c->n; i-- && c->reading[i].before_ns > tile->end_ns;)
		tile->since--;
}

/* Reads it within the bracket. */
static void read_truth(struct helper_clock *c, const struct truth *t, uint64_t host_ns)
{
	const uint64_t width = 40 + below(below(8) ? 200 : 20000), before = host_ns - below(width);
	const struct gp_ring_clock r = at(before, device_at(t, host_ns), before + width);
	unsigned int i = t->n - 1;

	while (i && t->knot[i].host_ns > host_ns)
		i--;
	assert_true(helper_clock_add(c, &r, t->knot[i].wall_ns));
}

TEST(works_have_their_true_times_or_none_whatever_the_clock_is)
{
	static struct truth t;
	uint64_t placed = 0, breaks = 0, replaced = 0;

	for (int round = 0; round < random_rounds(200); round++) {
		struct helper_clock c = { .edge_ns = BORN_NS };
		struct tile tile = { BORN_NS + EVERY_NS / 4, BORN_NS + EVERY_NS / 4, 0 };
		struct run run = { 0 };

		make_truth(&t);
		for (uint64_t host = BORN_NS + EVERY_NS / 3; host < t.knot[t.n - 1].host_ns - EVERY_NS;
		     host += EVERY_NS / 2 + below(EVERY_NS)) {
			read_truth(&c, &t, host);
			/* What ended two readings ago. */
			while (tile.since + 2 <= helper_clock_decided(&c)) {
				if (tile.start_ns < tile.end_ns)
					check_tile(&c, &t, &tile, &run);
				placed++;
				next_tile(&c, &tile);
			}
		}
		end_run(&run);
		helper_clock_end(&c);
		breaks += t.breaks;
		replaced += c.steps + c.replaced;
	}
	assert_true(placed > 1000);
	/* Two of one rate may be the same, and those at the ends are not read. */
	assert_true(replaced <= breaks && replaced >= breaks / 2);
}

TEST(readings_that_contradict_are_ignored)
{
	struct gp_ring_clock good = at(1000, 5000, 1010), early = at(900, 5100, 910),
			     turned = at(2000, 6000, 1990), endless = at(2000, 6000, UINT64_MAX);
	struct helper_clock c = { .n = 0 };

	assert_true(helper_clock_add(&c, &good, 0));
	assert_false(helper_clock_add(&c, &early, 0));
	assert_false(helper_clock_add(&c, &turned, 0));
	assert_false(helper_clock_add(&c, &endless, 0));
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
			helper_clock_add(&c, &r, 0);
			helper_clock_host(&c, random_next() << (i % 40), &h, &e);
		}
		assert_true(c.n <= HELPER_CLOCK_READINGS);
	}
}

TEST_GROUP(random_seed, NULL);
