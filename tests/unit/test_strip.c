// SPDX-License-Identifier: BSD-3-Clause
/*
 * Strips: busy, idle and unknown time of the bins add up to the book's time, busy time to that of its works; whatever
 * the gaps, their order and the width of bins are; and a reading leaves nothing in the book's strip.
 */
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "ledger/devices.h"
#include "lib/random.h"
#include "lib/test.h"
#include "lib/work_named.h"

#define OPEN 1000
#define ADD(...) assert_int_equal(strip_add(__VA_ARGS__), 0)

static void has(const struct strip *s, uint64_t start, uint64_t end, struct strip_time want)
{
	const struct strip_time got = strip_read(s, OPEN + start, OPEN + end);

	assert_int_equal(got.busy_ns, want.busy_ns);
	assert_int_equal(got.idle_ns, want.idle_ns);
	assert_int_equal(got.unknown_ns, want.unknown_ns);
}

/* With bins, and with gaps as they are. */
TEST(examples_of_the_header)
{
	for (int bins = 0; bins < 2; bins++) {
		struct strip s = { .open_ns = OPEN, .close_ns = OPEN + 1024 };

		ADD(&s, OPEN, OPEN + 512, 0);
		has(&s, 0, 512, (struct strip_time){ 0, 512, 0 });
		has(&s, 512, 1024, (struct strip_time){ 512, 0, 0 });
		has(&s, 0, UINT64_MAX - OPEN, (struct strip_time){ 512, 512, 0 });
		for (uint64_t i = 0; i < STRIP_FEW && bins; i++)
			ADD(&s, OPEN + 1020 + i, OPEN + 1021 + i, 0);
		assert_int_equal(s.bins != NULL, bins);
		assert_int_equal(s.shift, bins ? 2 : 0);
		s.close_ns = OPEN + 800;
		has(&s, 256, 1024, (struct strip_time){ 288, 256, 0 });
		strip_free(&s);
		s.close_ns = OPEN + 1024;
		ADD(&s, OPEN, OPEN + 512, 256);
		for (uint64_t i = 0; i < STRIP_FEW && bins; i++)
			ADD(&s, OPEN + 1020 + i, OPEN + 1021 + i, 0);
		has(&s, 0, 4, (struct strip_time){ 0, 2, 2 });
		has(&s, 512, 1020, (struct strip_time){ 508, 0, 0 });
		strip_free(&s);
	}
}

TEST(of_time_outside_of_the_book_nothing_is_known)
{
	struct strip s = { .open_ns = OPEN, .close_ns = OPEN + 100 };

	assert_int_equal(strip_read(&s, 0, OPEN).busy_ns, 0);
	assert_int_equal(strip_read(&s, 0, OPEN + 1).busy_ns, 1);
	assert_int_equal(strip_read(&s, OPEN + 99, UINT64_MAX).busy_ns, 1);
	assert_int_equal(strip_read(&s, OPEN + 100, UINT64_MAX).busy_ns, 0);
	s.close_ns = 0;		/* it was not read yet */
	assert_int_equal(strip_read(&s, 0, UINT64_MAX).busy_ns, 0);
}

TEST(the_last_moment_has_a_bin)
{
	struct strip s = { .open_ns = 0, .close_ns = UINT64_MAX };

	for (uint64_t i = STRIP_FEW + 1; i > 0; i--)
		ADD(&s, UINT64_MAX - i, UINT64_MAX - i + 1, 1);
	ADD(&s, 0, UINT64_MAX - STRIP_FEW - 1, UINT64_MAX / 3);
	assert_int_equal(s.shift, 56);
	assert_int_equal(strip_read(&s, 0, UINT64_MAX).unknown_ns, UINT64_MAX / 3 + STRIP_FEW + 1);
	assert_int_equal(strip_read(&s, 0, UINT64_MAX).busy_ns, 0);
	strip_free(&s);
}

#define LONGEST 5000

/* Each nanosecond is busy, idle or unknown; gaps are runs of the same. */
static void push_gaps(struct strip *s, const char *kinds, size_t n)
{
	size_t starts[LONGEST], n_starts = 0;

	for (size_t i = 0; i < n; i++)
		if (kinds[i] != 'b' && (!i || kinds[i] != kinds[i - 1]))
			starts[n_starts++] = i;
	while (n_starts) {
		size_t *start = &starts[below(n_starts)], end = *start;

		while (end < n && kinds[end] == kinds[*start])
			end++;
		ADD(s, OPEN + *start, OPEN + end, kinds[*start] == '?' ? end - *start : 0);
		*start = starts[--n_starts];
	}
}

TEST(each_bin_is_exact_whatever_the_order_of_gaps)
{
	char kinds[LONGEST];

	for (int round = 0; round < random_rounds(2000); round++) {
		const size_t n = 1 + below(LONGEST), width = 1 + below(n / (1 + below(20)));
		struct strip s = { .open_ns = OPEN, .close_ns = OPEN + n };
		size_t step;

		for (size_t i = 0; i < n; i++)
			kinds[i] = i && below(width) ? kinds[i - 1] : "b.?"[below(3)];
		push_gaps(&s, kinds, n);
		step = s.bins ? (size_t)1 << s.shift : 1 + below(n);
		for (size_t i = 0; i < n; i += step) {
			struct strip_time want = { 0, 0, 0 };

			for (size_t k = i; k < n && k < i + step; k++)
				*(kinds[k] == 'b' ? &want.busy_ns : kinds[k] == '.' ? &want.idle_ns :
				  &want.unknown_ns) += 1;
			has(&s, i, i + step, want);
		}
		strip_free(&s);
	}
}

/* ---- of devices ------------------------------------------------------------------------------ */

static struct unseen unseen;

static const struct unseen *unseen_of(void *ctx, uint32_t process)
{
	(void)ctx;
	(void)process;
	return &unseen;
}

static int divide_seen(void *ctx, const struct device_gap *part)
{
	uint64_t *ns = ctx, length = part->end_ns - part->start_ns;

	/* Some of it for other reasons: anywhere in it. */
	ns[IDLE_UNARMED] += length / 3;
	ns[IDLE_OTHER] += length - length / 3;
	return 0;
}

static int divide(void *ctx, uint32_t process, const struct device_gap *gap, uint64_t *ns,
		  struct stalls *stalls)
{
	(void)ctx;
	(void)process;
	(void)stalls;
	return unseen_divide(&unseen, gap, ns, divide_seen, ns);
}

static uint64_t sum_of(const uint64_t *ns, size_t n)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += ns[i];
	return sum;
}

static void balances(const struct device_state *s, uint64_t now, const struct devices_divide *by)
{
	struct strip before, strip;
	uint64_t idle[IDLE_CAUSES] = { 0 }, cells = 1 + below(200);
	struct strip_time all, cell, sum = { 0, 0, 0 };
	struct device_sum book;

	assert_int_equal(strip_copy(&before, &s->strip), 0);
	assert_int_equal(devices_read(s, now, by, &book, &(struct device_idle){ .ns = idle, .strip = &strip }), 0);
	assert_memory_equal(s->strip.few, before.few, sizeof(before.few));
	assert_int_equal(s->strip.shift, before.shift);
	if (before.bins)
		assert_memory_equal(s->strip.bins, before.bins, STRIP_BINS * sizeof(*before.bins));
	strip_free(&before);
	all = strip_read(&strip, 0, UINT64_MAX);
	assert_int_equal(all.busy_ns + all.idle_ns + all.unknown_ns, book.close_ns - book.open_ns);
	assert_int_equal(all.busy_ns, sum_of(book.owned_ns, DEVICE_BUCKETS));
	assert_int_equal(all.unknown_ns, idle_unknown_ns(idle) + (*by->other_is_unknown ? idle[IDLE_OTHER] : 0));
	assert_int_equal(all.idle_ns + all.unknown_ns, book.idle_ns);
	for (uint64_t i = 0; i < cells; i++) {
		cell = strip_read(&strip, num_scale(book.close_ns, i, cells), num_scale(book.close_ns, i + 1, cells));
		sum.busy_ns += cell.busy_ns;
		sum.idle_ns += cell.idle_ns + cell.unknown_ns;
	}
	assert_int_equal(sum.busy_ns, all.busy_ns);
	assert_int_equal(sum.idle_ns, book.idle_ns);
	strip_free(&strip);
}

static void play(const struct devices_divide *by)
{
	const uint64_t gap = 1 + below(3000), length = 1 + below(1000);
	struct devices *d = devices_new();
	uint64_t at = OPEN, settled = OPEN;

	for (int i = 0; i < 200; i++) {
		struct work w = { .kind = below(3) ? WORK_KIND_KERNEL : WORK_KIND_COPY, .stream = (uint32_t)below(3) };
		struct event ev = { .kind = EVENT_WORK, .process = 1, .pid = 1, .work = w };

		at += below(gap);
		ev.start_ns = num_max(settled, at - below(num_min(at, 500)));
		ev.end_ns = ev.start_ns + below(length);
		assert_int_equal(devices_push_work(d, &ev, NULL, OPEN), 0);
		if (!below(5))
			assert_int_equal(unseen_add(&unseen, below(2) ? UNSEEN_LOST : UNSEEN_UNKNOWN, at + below(100),
						    at + 100 + below(gap)), 0);
		if (!below(10))
			balances(devices_get(d, 0), at + below(2000), by);
		if (!below(4)) {
			settled = num_max(settled, num_sub(at, below(1000)));
			assert_int_equal(devices_settle(d, DEVICES_OF_ALL, settled, by), 0);
			balances(devices_get(d, 0), DEVICE_BOOK_SETTLED, by);
		}
	}
	balances(devices_get(d, 0), at + below(100000), by);
	devices_free(d);
	unseen_free(&unseen);
}

TEST(bins_of_a_device_add_up_to_its_book_at_any_moment)
{
	bool other_is_unknown = false;
	const struct devices_divide by = { .divide = divide, .unseen = unseen_of,
					   .other_is_unknown = &other_is_unknown };

	for (int round = 0; round < random_rounds(300); round++) {
		other_is_unknown = below(2);
		play(&by);
	}
}

TEST(unknown_time_lies_where_nothing_was_seen)
{
	const struct devices_divide by = { .divide = divide, .unseen = unseen_of };
	struct event ev = { .kind = EVENT_WORK, .process = 1, .pid = 1, .work = { .kind = WORK_KIND_COPY },
			    .start_ns = OPEN + 100000, .end_ns = OPEN + 100001 };
	struct devices *d = devices_new();
	uint64_t idle[IDLE_CAUSES];
	struct device_sum book;
	struct strip_time seen;
	struct strip strip;

	assert_int_equal(devices_push_work(d, &ev, NULL, OPEN), 0);
	assert_int_equal(unseen_add(&unseen, UNSEEN_UNKNOWN, 0, OPEN + 51200), 0);
	assert_int_equal(devices_read(devices_get(d, 0), OPEN + 100001, &by, &book,
				      &(struct device_idle){ .ns = idle, .strip = &strip }), 0);
	has(&strip, 0, 51200, (struct strip_time){ 0, 0, 51200 });
	seen = strip_read(&strip, OPEN + 51200, UINT64_MAX);
	assert_int_equal(seen.busy_ns, 1);
	assert_int_equal(seen.unknown_ns, (100000 - 51200) / 3);
	strip_free(&strip);
	devices_free(d);
	unseen_free(&unseen);
}

TEST_GROUP(random_seed, NULL);
