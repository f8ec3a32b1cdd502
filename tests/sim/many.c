// SPDX-License-Identifier: BSD-3-Clause
/*
 * Writes a capture of very many things that live to its end, as a hostile one could have: what a
 * report keeps of each must be small. It launches nothing and needs no privilege.
 *
 *   many CAPTURE KIND N
 *
 *   named      N processes that did nothing
 *   works      N processes with one kernel each, all on a device of unknown UUID
 *   sharing    N processes with one kernel each, all on one device of the host
 *   calls      N processes with one call each
 *   threads    one process, N threads with one call each
 *   devices    one process, N devices with a UUID and one kernel each
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/capture.h"
#include "event/event.h"
#include "lib/work_named.h"

enum { FIRST_PID = 4000, US = 1000, MS = 1000000 };
#define BEGIN 1000000000000ull

static const struct funcs funcs = {
	.n = 1,
	.v = { { "cudaLaunchKernel", "cudart", CLASS_LAUNCH, 0 } },
};

struct many {
	struct capture_writer *writer;
	uint64_t now_ns;
};

static void push(struct many *m, uint32_t pid, struct event ev)
{
	ev.pid = ev.process = pid;
	if (capture_push(m->writer, &ev))
		exit(1);
}

static void push_process(struct many *m, uint32_t pid)
{
	push(m, pid, (struct event){ .kind = EVENT_PROCESS, .tid = pid, .start_ns = BEGIN,
				     .task.comm = "many" });
}

static void push_call(struct many *m, uint32_t pid, uint32_t tid)
{
	push(m, pid, (struct event){ .kind = EVENT_CALL, .has = HAS_RESULT | HAS_END, .tid = tid,
				     .seq = 1, .start_ns = m->now_ns, .end_ns = m->now_ns + US });
}

static void push_device(struct many *m, uint32_t pid, uint32_t device, uint32_t number)
{
	struct event ev = { .kind = EVENT_DEVICE, .end_ns = m->now_ns };

	ev.device.facts.device = device;
	snprintf(ev.device.facts.uuid, sizeof(ev.device.facts.uuid),
		 "GPU-00000000-0000-0000-0000-%012x", number);
	push(m, pid, ev);
}

static void push_work(struct many *m, uint32_t pid, uint32_t device)
{
	const struct work w = { .kind = WORK_KIND_KERNEL, .device = device, .context = 1,
				.stream = 7, .correlation = 1 };

	push(m, pid, (struct event){ .kind = EVENT_WORK, .start_ns = m->now_ns,
				     .end_ns = m->now_ns + US, .work = work_named(w, "a_kernel") });
}

static void add_named(struct many *m, uint32_t i)
{
	push_process(m, FIRST_PID + i);
}

static void add_works(struct many *m, uint32_t i)
{
	push_process(m, FIRST_PID + i);
	push_work(m, FIRST_PID + i, 0);
}

static void add_sharing(struct many *m, uint32_t i)
{
	push_process(m, FIRST_PID + i);
	push_device(m, FIRST_PID + i, 0, 0);
	push_work(m, FIRST_PID + i, 0);
}

static void add_calls(struct many *m, uint32_t i)
{
	push_process(m, FIRST_PID + i);
	push_call(m, FIRST_PID + i, FIRST_PID + i);
}

static void add_thread(struct many *m, uint32_t i)
{
	if (!i)
		push_process(m, FIRST_PID);
	push_call(m, FIRST_PID, FIRST_PID + i);
}

static void add_device(struct many *m, uint32_t i)
{
	if (!i)
		push_process(m, FIRST_PID);
	push_device(m, FIRST_PID, i, i);
	push_work(m, FIRST_PID, i);
}

static const struct {
	const char *name;
	void (*add)(struct many *m, uint32_t i);
} kinds[] = {
	{ "named", add_named }, { "works", add_works }, { "sharing", add_sharing },
	{ "calls", add_calls }, { "threads", add_thread }, { "devices", add_device },
};

int main(int argc, char **argv)
{
	struct many m = { .now_ns = BEGIN };
	const size_t n_kinds = sizeof(kinds) / sizeof(kinds[0]);
	size_t kind = 0;
	uint32_t n = argc == 4 ? (uint32_t)strtoul(argv[3], NULL, 10) : 0;

	while (n && kind < n_kinds && strcmp(argv[2], kinds[kind].name))
		kind++;
	if (!n || kind == n_kinds) {
		fputs("usage: many CAPTURE named|works|sharing|calls|threads|devices N\n", stderr);
		return 2;
	}
	m.writer = capture_create(argv[1], &funcs);
	if (!m.writer)
		return 1;
	push(&m, 0, (struct event){ .kind = EVENT_START, .start_ns = BEGIN });
	for (uint32_t i = 0; i < n; i++) {
		kinds[kind].add(&m, i);
		m.now_ns += 10 * US;
		if (i % 1000 == 999)
			push(&m, 0, (struct event){ .kind = EVENT_WATERMARK, .end_ns = m.now_ns });
	}
	push(&m, 0, (struct event){ .kind = EVENT_STOP, .end_ns = m.now_ns + MS });
	return capture_close(m.writer, NULL) != 0;
}
