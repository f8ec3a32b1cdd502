// SPDX-License-Identifier: BSD-3-Clause
/*
 * Each rule of the table is planted in a clean book once so that it must be found, alone, and once a
 * little less, so that it must not. A rule without a plant here fails.
 */
#include <string.h>

#include "findings/findings_rules.h"
#include "lib/test.h"

#define MS 1000000ull
#define WALL (10000 * MS)
#define MUCH (WALL / 10)
#define LITTLE (WALL / 200)	/* less than a line is worth */

struct plant {
	const char *rule;
	int kind;			/* enum stall_kind of what is lost; -1: none */
	void (*more)(struct finding_book *b, uint64_t ns);
};

static void expose(struct finding_book *b, uint64_t ns)
{
	b->comms = 10;
	b->comm_ns = b->comm_busy_ns = ns;
}

static void unpin(struct finding_book *b, uint64_t ns)
{
	b->pageable = (struct finding_copies){ 10, 1 << 30, ns, ns };
}

static void make_small(struct finding_book *b, uint64_t ns)
{
	(void)ns;
	b->kernels = 1000000;
}

static void wait_for_others(struct finding_book *b, uint64_t ns)
{
	b->has_waited = true;
	b->waited_ns = ns;
}

static void leave(struct finding_book *b, uint64_t ns)
{
	b->has_memory = true;
	b->leaks = 1;
	b->leaked_bytes = ns == MUCH ? 3 << 20 : 1 << 19;
	b->peak_bytes = 8 << 20;
}

static void break_context(struct finding_book *b, uint64_t ns)
{
	static const struct func launch = { "cuLaunchKernel", "cuda", CLASS_LAUNCH, 0 };

	if (ns != MUCH)
		return;
	b->fatal_function = &launch;
	b->fatal_result = 719;
	b->fatal_calls = 1;
}

static void break_device(struct finding_book *b, uint64_t ns)
{
	static struct sample_fault fault = { FAULT_XID, 79, 0, 1 };
	static struct sampled_device broken = { .number = 1, .faults = { &fault, 1, 1 } };
	static const struct sampled_device whole;

	b->sampled = ns == MUCH ? &broken : &whole;
}

static void throttle(struct finding_book *b, uint64_t ns)
{
	static struct sampled_device d = { .reasons_ns = WALL };

	d.reason_ns[__builtin_ctzll(CLOCK_THERMAL)] = ns;
	b->sampled = &d;
}

static void use_unwatched(struct finding_book *b, uint64_t ns)
{
	static const struct sampled_device d;

	b->sampled = &d;
	b->unwatched_ns = ns;
	b->shared_ns = WALL;
}

/* One process makes calls, and no helper records its works. */
static const struct snapshot *snapshot_of_a_silent_process(void)
{
	static const struct funcs funcs = { .n = 2, .v = { [1] = { .name = "cudaLaunchKernel", .class = CLASS_LAUNCH } } };
	static struct snapshot *snap;
	static struct model *m;

	if (!snap) {
		m = model_new(&funcs);
		model_push(m, &(struct event){ .kind = EVENT_CALL, .process = 77, .pid = 77,
						     .tid = 77, .seq = 1, .func = 1,
					       .start_ns = 10, .end_ns = 20 });
		snap = snapshot_take(m, 0);
	}
	return snap;
}

static void use_without_helper(struct finding_book *b, uint64_t ns)
{
	static struct sample_user user = { .process = 77, .pid = 77, .seen_ns = 20 };
	static const struct sampled_device d = { .users = { &user, 1, 1 } };

	use_unwatched(b, ns);
	b->sampled = &d;
	b->others.snap = snapshot_of_a_silent_process();
}

static const struct plant plants[] = {
	{ "needless-sync", STALL_SYNC, NULL },
	{ "needless-sync", STALL_COPY_SMALL, NULL },
	{ "input-stall", STALL_HOST, NULL },
	{ "exposed-comm", -1, expose },
	{ "cpu-starved", STALL_RUNQUEUE, NULL },
	{ "stopped", STALL_STOPPED, NULL },
	{ "launch-bound", STALL_LAUNCH, NULL },
	{ "unpinned-copies", -1, unpin },
	{ "blocking-copies", STALL_COPY, NULL },
	{ "steady-compile", STALL_COMPILE, NULL },
	{ "alloc-stall", STALL_ALLOC, NULL },
	{ "comm-call", STALL_COLLECTIVE, NULL },
	{ "small-kernels", STALL_QUEUED, make_small },
	{ "device-wait", STALL_WAITED, NULL },
	{ "other-process", -1, wait_for_others },
	{ "never-freed", -1, leave },
	{ "cuda-error", -1, break_context },
	{ "device-fault", -1, break_device },
	{ "throttled", -1, throttle },
	{ "unwatched-process", -1, use_unwatched },
	{ "untold-process", -1, use_without_helper },
};

#define PLANTS (sizeof(plants) / sizeof(plants[0]))

/* Everything that is judged, with `ns` of one fault. */
static struct findings judge(const struct plant *p, uint64_t ns)
{
	struct finding_stall row = { .stall = { .key.tid = 13, .key.kind = (uint8_t)p->kind, .ns = ns, .gaps = 10,
					      .longest_ns = ns / 5 },
				    .comm = "train", .function = "cudaSomething", .late_ns = ns };
	struct finding_book b = {
		.pid = 12, .device = 1, .wall_ns = WALL, .compute_ns = WALL - 2 * MUCH,
		.compute_busy_ns = WALL - 2 * MUCH, .kernels = 5000, .kernels_ns = WALL - 2 * MUCH,
		.pinned = { 100, 1 << 30, 100 * MS, 10 * MS },
		.stalls = &row, .n_stalls = p->kind >= 0,
	};
	struct findings f = { 0 };

	if (p->more)
		p->more(&b, ns);
	assert_int_equal(findings_judge(&f, &b), 0);
	return f;
}

TEST(each_rule_finds_its_planted_fault_and_nothing_else)
{
	for (size_t i = 0; i < PLANTS; i++) {
		struct findings f = judge(&plants[i], MUCH);

		if (f.all.n != 1)
			fail_msg("%s: %zu findings", plants[i].rule, f.all.n);
		assert_string_equal(f.all.v[0].name, plants[i].rule);
		assert_true(*f.all.v[0].cause.s && *f.all.v[0].evidence.s && *f.all.v[0].next.s);
		findings_free(&f);
	}
}

TEST(no_rule_fires_below_its_threshold)
{
	for (size_t i = 0; i < PLANTS; i++) {
		struct findings f = judge(&plants[i], LITTLE);

		if (f.all.n)
			fail_msg("%s finds %s", plants[i].rule, f.all.v[0].name);
	}
}

TEST(every_rule_is_planted)
{
	for (size_t r = 0; r < finding_rules_n; r++) {
		bool is = false;

		for (size_t i = 0; i < PLANTS; i++)
			is |= !strcmp(plants[i].rule, finding_rules[r].name);
		if (!is)
			fail_msg("%s is not", finding_rules[r].name);
	}
}
