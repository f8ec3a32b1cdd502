/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Processes that come and go, two at a time on one of two devices: calls (some fail, some never return),
 * kernels, copies, sets, ranges, memory that is not freed. What number n does depends on n alone.
 */
#ifndef UNIT_PAST_LOAD_H
#define UNIT_PAST_LOAD_H

#include <stdio.h>

#include "capture/capture.h"
#include "lib/cmocka.h"
#include "model_room.h"
#include "lib/work_named.h"

#define LOAD_BASE 1000000000000ull
#define LOAD_STEP 500000000ull		/* two processes after the other */
#define LOAD_PID 1000u
#define LOAD_CALLS 8u			/* of a process, in its first thread */
#define LOAD_KERNELS 6u

static struct capture_writer *load_writer;	/* gets all of it, too; NULL: there is none */

static inline void load_push(struct model *m, struct event ev)
{
	ev = stamped(&ev);
	if (load_writer)
		assert_int_equal(capture_push(load_writer, &ev), 0);
	assert_int_equal(model_push(m, &ev), 0);
}

static inline uint64_t load_begin(uint32_t n)
{
	return LOAD_BASE + n / 2 * LOAD_STEP + n % 2 * 300000;
}

static inline void load_birth(struct model *m, uint32_t n)
{
	const uint32_t pid = LOAD_PID + n;
	const uint64_t begin = load_begin(n);
	struct device_facts facts = { .device = 0, .multiprocessors = 100 };

	snprintf(facts.uuid, sizeof(facts.uuid), "GPU-%u", n / 2 % 2);
	load_push(m, (struct event){ .kind = EVENT_PROCESS, .pid = pid, .tid = pid,
				     .task.process_ns = begin,
				     .task.comm = n % 3 ? "train" : "infer" });
	load_push(m, (struct event){ .kind = EVENT_THREAD, .pid = pid, .tid = pid, .start_ns = begin,
				     .task.process_ns = begin });
	load_push(m, (struct event){ .kind = EVENT_DEVICE, .pid = pid, .device.facts = facts,
				     .device.name = "SIM" });
}

static inline void load_work(struct model *m, uint32_t n, uint32_t correlation, uint64_t at, uint64_t ns)
{
	struct work w = { .kind = (uint8_t)(correlation % 4 == 3 ? WORK_KIND_COPY : WORK_KIND_KERNEL),
			  .correlation = correlation, .stream = correlation % 3, .context = 1,
			  .bytes = 4096, .has = WORK_HAS_DIR, .dir = COPY_H2D, .memory = MEMORY_PAGEABLE,
			  .grid = { 1 + correlation % 2, 1, 1 }, .block = { 128, 1, 1 } };
	char name[32];

	snprintf(name, sizeof(name), "kernel_%u", (n + correlation) % 5);
	load_push(m, (struct event){ .kind = EVENT_API, .pid = LOAD_PID + n, .tid = LOAD_PID + n,
				     .api.correlation = correlation, .api.cbid = 211,
				     .api.domain = 5, .start_ns = at + 200, .end_ns = at + 900 });
	load_push(m, (struct event){ .kind = EVENT_WORK, .pid = LOAD_PID + n, .start_ns = at + 5000,
				     .end_ns = at + 5000 + ns, .work = work_named(w, name) });
}

static inline void load_calls(struct model *m, uint32_t n)
{
	const uint32_t pid = LOAD_PID + n;

	for (uint32_t i = 1; i <= LOAD_CALLS; i++) {
		uint64_t at = load_begin(n) + i * 100000;

		load_push(m, (struct event){ .kind = EVENT_CALL, .pid = pid, .tid = pid, .seq = i, .func = L,
					     .start_ns = at, .end_ns = at + 1000 + n % 500,
					     .has = HAS_END | HAS_RESULT | HAS_SHAPE,
					     .call.result = n % 10 == 0 && i == 3 ? 700 : 0,
					     .call.shape = { { i % 4, 1, 1 }, { 64, 1, 1 }, 0 } });
		load_work(m, n, i, at, 20000 + n % 1000 * i);
	}
	load_push(m, (struct event){ .kind = EVENT_CALL, .pid = pid, .tid = pid + 1000000, .seq = 1, .func = C,
				     .start_ns = load_begin(n) + 50000, .end_ns = load_begin(n) + 90000,
				     .has = HAS_END | HAS_BYTES, .call.bytes = 1000 + n });
}

static inline void load_rest(struct model *m, uint32_t n)
{
	const uint32_t pid = LOAD_PID + n;
	const uint64_t begin = load_begin(n);

	load_push(m, (struct event){ .kind = EVENT_RANGE, .range.what = RANGE_PUSH, .pid = pid,
				     .tid = pid, .start_ns = begin + 10000,
				     .range.name = n % 2 ? "odd" : "even" });
	if (n % 5)
		load_push(m, (struct event){ .kind = EVENT_RANGE, .range.what = RANGE_POP,
					     .pid = pid, .tid = pid, .start_ns = begin + 900000 });
	for (uint32_t i = 0; i < 3; i++)
		load_push(m, (struct event){ .kind = EVENT_MEMORY, .memory.op = MEMORY_ALLOC,
					     .pid = pid, .memory.kind = MEMORY_KIND_DEVICE,
					     .start_ns = begin + 20000 + i,
					     .memory.address = 4096 + i * 4096,
					     .memory.bytes = 1000 + n, .has = HAS_BYTES });
	load_push(m, (struct event){ .kind = EVENT_MEMORY, .memory.op = MEMORY_FREE, .pid = pid,
				     .memory.kind = MEMORY_KIND_DEVICE, .start_ns = begin + 800000,
				     .memory.address = 4096 });
}

/* It ends, some inside a call. */
static inline void load_exit(struct model *m, uint32_t n)
{
	const uint32_t pid = LOAD_PID + n;
	const uint64_t end = load_begin(n) + 1200000 + n % 977 * 100;
	const uint32_t seq = LOAD_CALLS;

	if (n % 7 == 0)
		load_push(m, (struct event){ .kind = EVENT_ENTER, .pid = pid, .tid = pid, .seq = seq + 1, .func = S,
					     .start_ns = end - 200000 });
	load_push(m, (struct event){ .kind = EVENT_EXIT, .pid = pid, .tid = pid + 1000000, .seq = 2,
				     .start_ns = load_begin(n) + 40000, .end_ns = end - 100000 });
	load_push(m, (struct event){ .kind = EVENT_EXIT, .pid = pid, .tid = pid, .seq = seq + 1 + !(n % 7),
				     .start_ns = load_begin(n), .end_ns = end });
}

/* Processes [from, to), both even. */
static inline void load_run(struct model *m, uint32_t from, uint32_t to)
{
	for (uint32_t n = from; n < to; n += 2) {
		for (uint32_t i = 0; i < 2; i++)
			load_birth(m, n + i);
		for (uint32_t i = 0; i < 2; i++) {
			load_rest(m, n + i);
			load_calls(m, n + i);
		}
		for (uint32_t i = 0; i < 2; i++)
			load_exit(m, n + i);
		load_push(m, (struct event){ .kind = EVENT_WATERMARK, .end_ns = load_begin(n) + LOAD_STEP - 1 });
	}
}

static inline void load_stop(struct model *m, uint32_t n)
{
	load_push(m, (struct event){ .kind = EVENT_STOP, .end_ns = load_begin(n) + LOAD_STEP });
	assert_int_equal(model_finish(m), 0);
}

#endif
