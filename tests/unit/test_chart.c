// SPDX-License-Identifier: BSD-3-Clause
/* The timeline as text: which letter a cell has. */
#include "view/chart.h"

#include <string.h>

#include "lib/work_named.h"
#include "model_each.h"

#define BASE 1000000000000ull
#define MS 1000000ull

static struct strbuf out;

BEFORE_EACH
{
	const struct consumers list = { .v = { &chart_consumer }, .n = 1 };

	m = model_new(&funcs);
	assert_non_null(m);
	assert_int_equal(model_use_consumers(m, &list), 0);
	push(m, (struct event){ .kind = EVENT_START, .start_ns = BASE });
	push(m, (struct event){ .kind = EVENT_STOP, .end_ns = BASE + 100 * MS });
	push(m, (struct event){ .kind = EVENT_PROCESS, .pid = 7, .tid = 7, .start_ns = BASE - MS,
				.task.comm = "mix" });
	strbuf_reset(&out);
}

static void call(uint32_t seq, uint16_t func, uint64_t from, uint64_t to)
{
	push(m, (struct event){ .kind = EVENT_CALL, .pid = 7, .tid = 7, .seq = seq, .func = func,
				.start_ns = BASE + from * MS, .end_ns = BASE + to * MS });
}

static void off(uint32_t seq, bool ends, uint64_t from, uint64_t to, uint64_t woken)
{
	push(m, (struct event){ .kind = EVENT_OFF, .pid = 7, .tid = 7, .seq = seq,
				.has = ends ? HAS_END : 0, .start_ns = BASE + from * MS,
				.end_ns = BASE + to * MS,
				.off = { .reason = OFF_LOCK, .woken_ns = woken * MS } });
}

static void kernel(uint64_t from, uint64_t to, const char *name)
{
	const struct work w = { .kind = WORK_KIND_KERNEL, .has = WORK_HAS_NO_LAUNCH };

	push(m, (struct event){ .kind = EVENT_WORK, .pid = 7, .work = work_named(w, name),
				.start_ns = BASE + from * MS, .end_ns = BASE + to * MS });
}

/* The line that begins with that, from its cells on. */
static const char *cells(const char *label, unsigned int columns)
{
	const struct screen_shape shape = { .columns = columns, .lines = 20, .ascii = true };
	struct summary s;
	char *at, *end;

	assert_int_equal(model_finish(m), 0);
	s = summary_read(snap_of(m), false);
	assert_int_equal(chart_add(&out, &s, &shape), 0);
	at = strstr(out.s, label);
	if (!at)
		fail_msg("no line '%s' in\n%s", label, out.s);
	end = strchr(at, '\n');
	*end = '\0';
	return strlen(at) > 20 ? at + 20 : "";
}

TEST(a_cell_of_a_thread_has_what_took_most_of_it)
{
	call(1, S, 20, 40);
	call(2, L, 40, 41);	/* all of its cell */
	off(3, true, 50, 70, 5);
	call(4, C, 90, 130);
	assert_string_equal(cells("7 mix", 40), "----SSSS--lllr----CC");
}

TEST(what_lasts_is_counted_once)
{
	call(1, S, 0, 20);
	off(1, false, 20, 40, 0);
	off(1, false, 20, 60, 0);
	off(2, true, 20, 80, 0);
	assert_string_equal(cells("7 mix", 40), "SSSSllllllllllll----");
}

/* The kernels here have no launch, so why the device idled before them is unknown. */
TEST(a_cell_of_a_device_has_what_ran_and_how_busy_it_was)
{
	call(1, S, 0, 100);
	kernel(10, 20, "sgemm");
	kernel(20, 30, "ncclDevKernel_AllReduce");
	kernel(40, 42, "sgemm");
	assert_string_equal(cells("GPU 0", 40), "??CCcc??C...........");
}

TEST(and_below_it_how_busy_it_was)
{
	call(1, S, 0, 100);
	kernel(10, 20, "sgemm");
	kernel(40, 42, "sgemm");
	assert_string_equal(cells("  busy", 40), "??88????3...........");
}

TEST(it_is_a_hundred_cells_wide_at_most)
{
	call(1, S, 0, 100);
	assert_int_equal(strlen(cells("7 mix", 200)), 100);
}
