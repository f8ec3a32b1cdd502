// SPDX-License-Identifier: BSD-3-Clause
/* Which launches need probes: probe/launches.h. */
#include "base/time.h"
#include "catalog/catalog.h"
#include "lib/test.h"
#include "probe/launches.h"

/* A session as it goes on: what launches_choose wants is done at once. */
struct session {
	struct launches *launches;
	struct attach_launches now;
	uint64_t ns;
	pid_t recorded, ended;
};

static bool is_recorded(void *ctx, pid_t pid)
{
	const struct session *s = ctx;

	return pid == s->recorded;
}

static bool has_ended(void *ctx, pid_t pid)
{
	const struct session *s = ctx;

	return pid == s->ended;
}

static struct session begin(void)
{
	struct session s = { .launches = launches_new(), .ns = 1000 * NS_PER_MS,
			     .now = { .until = PLAN_PARTS, .since_ns = 700 * NS_PER_MS } };

	assert_non_null(s.launches);
	return s;
}

static void end(struct session *s)
{
	launches_free(s->launches);
}

static enum plan_part choose(struct session *s)
{
	const struct launches_facts facts = { is_recorded, has_ended, s, s->ns };
	enum plan_part until = launches_choose(s->launches, &s->now, &facts);

	if (until != s->now.until)
		s->now = (struct attach_launches){ .until = until, .since_ns = s->ns };
	return until;
}

/* A process makes calls of a function; then it is decided which launches need probes. */
static enum plan_part calls(struct session *s, pid_t pid, const char *function, unsigned int n)
{
	struct event ev = { .kind = EVENT_CALL, .pid = (uint32_t)pid };

	choose(s);
	for (unsigned int row = 1; row < catalog_n_rows(); row++)
		if (catalog_row(row) == catalog_find(function))
			ev.func = (uint16_t)row;
	assert_int_not_equal(ev.func, 0);
	for (unsigned int i = 0; i < n; i++) {
		ev.start_ns = ev.end_ns = ++s->ns;
		launches_push(s->launches, &ev);
	}
	s->ns += NS_PER_MS;
	return choose(s);
}

static void later(struct session *s, uint64_t ms)
{
	s->ns += ms * NS_PER_MS;
}

#define ALL PLAN_PARTS
#define RUNTIME PLAN_DRIVER_LAUNCHES	/* without the driver's */
#define NONE PLAN_RUNTIME_LAUNCHES
#define P 10
#define D 11

TEST_TITLED("launches: enough of the runtime's show that the driver's need no probes",
	    enough_of_the_runtimes)
{
	struct session s = begin();

	assert_int_equal(calls(&s, P, "cudaMalloc", 5), ALL);
	assert_int_equal(calls(&s, P, "cudaLaunchKernel", LAUNCHES_ENOUGH - 1), ALL);
	assert_int_equal(calls(&s, P, "cudaLaunchKernel", 1), RUNTIME);
	end(&s);
}

TEST_TITLED("launches: after a while all are looked at again",
	    all_are_looked_at_again)
{
	struct session s = begin();

	assert_int_equal(calls(&s, P, "cudaLaunchKernel", LAUNCHES_ENOUGH), RUNTIME);
	later(&s, LAUNCHES_LOOK_NS / NS_PER_MS);
	assert_int_equal(calls(&s, P, "cudaLaunchKernel", 1), ALL);
	assert_int_equal(calls(&s, P, "cudaLaunchKernel", LAUNCHES_ENOUGH), ALL);	/* so soon */
	later(&s, LAUNCHES_SETTLE_NS / NS_PER_MS);
	assert_int_equal(calls(&s, P, "cudaLaunchKernel", 1), RUNTIME);
	assert_int_equal(launches_surprise(s.launches), 0);
	end(&s);
}

TEST_TITLED("launches: a process that calls the driver itself needs all, until it ends",
	    a_process_calls_the_driver)
{
	struct session s = begin();

	assert_int_equal(calls(&s, P, "cudaLaunchKernel", LAUNCHES_ENOUGH), RUNTIME);
	assert_int_equal(calls(&s, D, "cuMemAlloc_v2", 1), ALL);
	later(&s, 1000);
	assert_int_equal(calls(&s, P, "cudaLaunchKernel", 5 * LAUNCHES_ENOUGH), ALL);
	s.ended = D;
	later(&s, 1000);		/* whether it has ended is asked for so often */
	assert_int_equal(calls(&s, P, "cudaLaunchKernel", 1), RUNTIME);
	end(&s);
}

TEST_TITLED("launches: a call of the driver now and then: each time twice as many show it",
	    a_call_of_the_driver_now_and_then)
{
	struct session s = begin();

	assert_int_equal(calls(&s, P, "cudaLaunchKernel", LAUNCHES_ENOUGH), RUNTIME);
	for (unsigned int i = 0; i < 4; i++) {
		assert_int_equal(calls(&s, P, "cuMemAlloc_v2", 1), ALL);
		later(&s, LAUNCHES_SETTLE_NS / NS_PER_MS);
		assert_int_equal(calls(&s, P, "cudaLaunchKernel", (LAUNCHES_ENOUGH << i) - 1), ALL);
		assert_int_equal(calls(&s, P, "cudaLaunchKernel", 1), RUNTIME);
	}
	end(&s);
}

TEST_TITLED("launches: one of the runtime that was under way is none of the driver",
	    one_that_was_under_way)
{
	struct session s = begin();

	s.now.since_ns = s.ns;
	assert_int_equal(calls(&s, P, "cuLaunchKernel", 1), ALL);
	later(&s, LAUNCHES_SETTLE_NS / NS_PER_MS);
	assert_int_equal(calls(&s, P, "cudaLaunchKernel", LAUNCHES_ENOUGH), RUNTIME);
	end(&s);
}

TEST_TITLED("launches: a call of the driver that comes when it is not probed is reported once",
	    called_while_not_probed)
{
	struct session s = begin();

	assert_int_equal(calls(&s, P, "cudaLaunchKernel", LAUNCHES_ENOUGH), RUNTIME);
	assert_int_equal(calls(&s, P, "cudaLaunchKernel", 1), RUNTIME);
	assert_int_equal(calls(&s, P, "cuMemAlloc_v2", 1), ALL);
	assert_int_equal(launches_surprise(s.launches), P);
	assert_int_equal(launches_surprise(s.launches), 0);
	end(&s);
}

TEST_TITLED("launches: the driver's that a look finds are reported once",
	    found_by_a_look)
{
	struct session s = begin();

	assert_int_equal(calls(&s, P, "cudaLaunchKernel", LAUNCHES_ENOUGH), RUNTIME);
	assert_int_equal(calls(&s, P, "cudaLaunchKernel", 1), RUNTIME);
	later(&s, LAUNCHES_LOOK_NS / NS_PER_MS);
	assert_int_equal(calls(&s, P, "cudaLaunchKernel", 1), ALL);
	later(&s, LAUNCHES_SETTLE_NS / NS_PER_MS);
	assert_int_equal(calls(&s, P, "cuLaunchKernel", 1), ALL);
	assert_int_equal(launches_surprise(s.launches), P);
	assert_int_equal(calls(&s, P, "cuLaunchKernel", 1), ALL);
	assert_int_equal(launches_surprise(s.launches), 0);
	end(&s);
}

TEST_TITLED("launches: none needs a probe while CUPTI records those of all that call",
	    recorded_by_cupti)
{
	struct session s = begin();

	s.recorded = P;
	assert_int_equal(calls(&s, P, "cuLaunchKernel", 1), NONE);
	assert_int_equal(calls(&s, P, "cudaMalloc", 1), NONE);
	assert_int_equal(calls(&s, D, "cuInit", 1), ALL);
	s.ended = D;
	later(&s, 1000);		/* whether it has ended is asked for so often */
	assert_int_equal(calls(&s, P, "cudaMalloc", 1), NONE);
	assert_int_equal(calls(&s, P, "cudaLaunchKernel", 1), NONE);
	s.recorded = 0;
	assert_int_equal(calls(&s, P, "cudaMalloc", 1), ALL);
	s.recorded = P;
	later(&s, 1000);
	assert_int_equal(calls(&s, P, "cudaMalloc", 1), ALL);
	end(&s);
}

