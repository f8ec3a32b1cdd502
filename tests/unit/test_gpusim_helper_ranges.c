// SPDX-License-Identifier: BSD-3-Clause
/*
 * NVTX through the helper: every range of every library that has a copy of it, also before CUDA
 * starts, with its thread, its name and its domain; as records and as events. And what else the
 * helper reports of a process: its devices, and the injection that was chained.
 */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/test.h"
#include "source/helper/decode.h"
#include "event/event.h"
#include "lib/helper_run.h"

#define N 100
#define STRING(x) STRING_OF(x)
#define STRING_OF(x) #x
#define PROGRAM "build/sim/ranges"

struct got {
	struct helper_decoder *decoder;
	uint64_t what[RANGE_WHAT_END];
	uint64_t in_part, registered, wide, marks[2], before, nameless, other_thread, backwards;
	uint64_t id, last_ns;
	uint32_t tid;
	struct device_facts device;
	uint64_t devices;
	char device_name[64];
};

static void take_mark(struct got *t, const struct event *ev)
{
	unsigned int i;

	t->before += !strcmp(ev->range.name, "before CUDA");
	if (sscanf(ev->range.name, "mark %u", &i) == 1 && i < 2)
		t->marks[i]++;
}

static void take_range(struct got *t, const struct event *ev)
{
	t->what[ev->range.what]++;
	t->backwards += ev->start_ns < t->last_ns;
	t->last_ns = ev->start_ns;
	t->in_part += ev->range.domain && !strcmp(ev->range.domain, "part");
	if (ev->range.what == RANGE_END)
		t->other_thread += ev->tid != t->tid && ev->range.id == t->id;
	if (ev->range.what == RANGE_START)
		t->id = ev->range.id;
	if (ev->range.what == RANGE_POP || ev->range.what == RANGE_END)
		return;
	t->nameless += !ev->range.name;
	if (!ev->range.name)
		return;
	t->tid = ev->tid;
	t->registered += !strcmp(ev->range.name, "registered");
	t->wide += !strcmp(ev->range.name, "w\303\257de");
	if (ev->range.what == RANGE_MARK)
		take_mark(t, ev);
}

static int take(void *ctx, const struct event *ev)
{
	struct got *t = ctx;

	if (ev->kind == EVENT_RANGE)
		take_range(t, ev);
	if (ev->kind == EVENT_DEVICE) {
		t->device = ev->device.facts;
		snprintf(t->device_name, sizeof(t->device_name), "%s", ev->range.name ? ev->range.name : "");
		t->devices++;
	}
	return 0;
}

static void decode(struct helper_seen *seen, uint16_t kind, const void *payload)
{
	struct got *t = seen->ctx;

	assert_int_equal(helper_decode(t->decoder, kind, payload, GP_RING_RECORD_MAX - 8,
				       &(struct event_sink){ .push = take, .ctx = t }), 0);
}

static void watch(struct helper_run *r, struct got *t, const char *const *argv,
		  const char *const *environment)
{
	struct helper_run without;

	memset(t, 0, sizeof(*t));
	helper_run_start(r, argv, environment);
	t->decoder = helper_decoder_new(r->pid, 0, NULL);
	assert_non_null(t->decoder);
	r->seen.on_record = decode;
	r->seen.ctx = t;
	helper_run_watch(r);
	helper_decoder_free(t->decoder);
	helper_run_without(&without, argv);
	assert_int_equal(r->status, without.status);
	assert_string_equal(r->out, without.out);
}

TEST(every_range_of_every_library_comes_with_its_thread)
{
	const char *const argv[] = { PROGRAM, STRING(N), NULL };
	struct helper_run r;
	struct got t;

	if (access(PROGRAM, X_OK)) {
		print_message("skipped: no NVTX header on this machine\n");
		skip();
	}
	watch(&r, &t, argv, NULL);
	assert_int_equal(t.what[RANGE_PUSH], 3 * N);
	assert_int_equal(t.what[RANGE_POP], 3 * N);
	assert_int_equal(t.what[RANGE_START], N);
	assert_int_equal(t.what[RANGE_END], N);
	assert_int_equal(t.other_thread, N);
	assert_int_equal(t.what[RANGE_MARK], 2 * N + 1);
	assert_int_equal(t.before, 1);
	assert_int_equal(t.marks[0], N / 2);
	assert_int_equal(t.marks[1], N / 2);
	assert_int_equal(t.in_part, 3 * N);
	assert_int_equal(t.registered, N);
	assert_int_equal(t.wide, N);
	assert_int_equal(t.nameless, 0);
	assert_int_equal(t.backwards, 0);
	assert_int_equal(t.tid, r.pid);
	assert_int_equal(r.seen.kind[GP_RING_KERNEL], N);
	assert_int_equal(r.head.state, GP_HELPER_ENDED);
}

TEST(its_devices_are_reported)
{
	const char *const argv[] = { "build/sim/train", "--steps", "40", "--quiet", NULL };
	struct helper_run r;
	struct got t;

	watch(&r, &t, argv, NULL);
	assert_true(t.devices >= 1);
	assert_int_equal(t.device.multiprocessors, 132);
	assert_int_equal(t.device.cc_major, 9);
	assert_int_equal(t.device.threads_per_sm, 2048);
	assert_int_equal(t.device.registers_per_sm, 65536);
	assert_int_equal(t.device.shared_per_sm, 233472);
	assert_int_equal(t.device.shared_reserved, 1024);
	assert_true(t.device.memory_bytes > 0);
	assert_memory_equal(t.device.uuid, "GPU-", 4);
	assert_true(strlen(t.device_name) > 0);
}

TEST(another_injection_is_loaded_after_ours)
{
	const char *const argv[] = { "build/sim/lives", "end", NULL };
	static const struct {
		const char *path, *said;
	} cases[] = {
		{ "build/sim/libchained.so", GP_CHAIN_LOADED },
		{ "/nonexistent.so", "it cannot be loaded" },
		{ "build/sim/libgpusim.so", "it has no InitializeInjection" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct helper_run r;
		struct got t;

		watch(&r, &t, argv, (const char *const[]){ "GPUPROF_CHAIN_INJECTION", cases[i].path,
							   NULL });
		assert_string_equal(r.head.chained, cases[i].said);
		assert_int_equal(r.seen.kind[GP_RING_KERNEL], 500);
	}
	{
		struct helper_run r;
		struct got t;

		watch(&r, &t, argv, (const char *const[]){ "GPUPROF_CHAIN_INJECTION",
							   "build/sim/libchained.so",
							   "CHAINED_FAILS", "1", NULL });
		assert_string_equal(r.head.chained, "its InitializeInjection failed");
	}
}
