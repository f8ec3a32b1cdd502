// SPDX-License-Identifier: BSD-3-Clause
/* Makes the events of work_stream.h; knows nothing of what is done with them. */
#include "bench/work_stream.h"

#include <stdio.h>
#include <string.h>

#include "base/num.h"

#define PID 4000
#define FIRST_NS 1000000000000ull
#define LAUNCH_CBID 211		/* cudaLaunchKernel */
#define RUNTIME 5
#define COPY_EVERY 50

static uint64_t random_below(struct work_stream *s, uint64_t n)
{
	s->random ^= s->random << 13;
	s->random ^= s->random >> 7;
	s->random ^= s->random << 17;
	return s->random % n;
}

void work_stream_init(struct work_stream *s, const struct work_load *load)
{
	memset(s, 0, sizeof(*s));
	s->load = *load;
	s->random = 88172645463325252ull;
	for (uint32_t i = 0; i < load->processes; i++)
		s->process[i].now_ns = FIRST_NS + i * 777;
	for (uint32_t i = 0; i < load->names; i++) {
		snprintf(s->name[i], sizeof(s->name[i]),
			 "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_15CUDAFunctor_addIfEE"
			 "St5arrayIPcLm3EEEEviT0_T1_%u_%s", i, i % 5 ? "sm90_gemm_tn" : "layer_norm");
		s->name_hash[i] = event_text_hash(s->name[i]);
	}
}

static void make_call(struct event *ev, uint64_t start_ns, uint32_t number, uint8_t kind)
{
	ev->kind = kind;
	ev->api.correlation = number;
	ev->start_ns = start_ns;
	ev->end_ns = start_ns + 1800;
	if (kind == EVENT_CALL) {
		ev->has = HAS_RESULT | HAS_END;
		return;
	}
	ev->start_ns += 200;
	ev->end_ns -= 200;
	ev->api.cbid = LAUNCH_CBID;
	ev->api.domain = RUNTIME;
}

static void make_work(struct work_stream *s, struct event *ev, uint32_t number, uint64_t launched_ns)
{
	uint32_t stream = number % s->load.streams, name = number * 7 % s->load.names;
	uint64_t *free_ns = &s->process[s->turn].free_ns[stream];

	s->work = (struct work){ .kind = WORK_KIND_KERNEL, .context = 1, .stream = 7 + stream,
				 .correlation = number, .registers = 64,
				 .grid = { 128 + name, 1, 1 }, .block = { 256, 1, 1 } };
	if (number % COPY_EVERY == 0) {
		s->work = (struct work){ .kind = WORK_KIND_COPY, .has = WORK_HAS_DIR, .dir = COPY_H2D,
					 .memory = MEMORY_PINNED, .context = 1, .stream = 7 + stream,
					 .correlation = number, .bytes = 1 << 20 };
	}
	ev->kind = EVENT_WORK;
	ev->tid = 0;
	ev->start_ns = num_max(launched_ns + 3000 + random_below(s, 500), *free_ns);
	ev->end_ns = *free_ns = ev->start_ns + 900 * s->load.streams + random_below(s, 1500);
	ev->work = s->work;
	if (s->work.kind != WORK_KIND_KERNEL)
		return;
	ev->work.name = s->name[name];
	ev->work.name_hash = s->name_hash[name];
}

/* Of each launch: its call (if asked for), its API record, the work of `lag` launches before. */
void work_stream_next(struct work_stream *s, struct event *ev)
{
	for (;;) {
		uint32_t pid = PID + s->turn, part = s->part++;
		uint32_t n = s->process[s->turn].launches;

		*ev = (struct event){ .process = pid, .pid = pid, .tid = pid };
		switch (part) {
		case 0:
			n = ++s->process[s->turn].launches;
			s->process[s->turn].now_ns += 2000 + random_below(s, 500);
			s->process[s->turn].began_ns[n % WORK_STREAM_LAG] = s->process[s->turn].now_ns;
			if (!s->load.calls)
				continue;
			make_call(ev, s->process[s->turn].now_ns, n, EVENT_CALL);
			return;
		case 1:
			make_call(ev, s->process[s->turn].now_ns, n, EVENT_API);
			return;
		case 2:
			if (n <= s->load.lag)
				continue;
			n -= s->load.lag;
			make_work(s, ev, n, s->process[s->turn].began_ns[n % WORK_STREAM_LAG]);
			return;
		default:
			s->part = 0;
			if (random_below(s, 16) == 0)
				s->turn = (uint32_t)random_below(s, s->load.processes);
		}
	}
}

uint64_t work_stream_now(const struct work_stream *s)
{
	uint64_t ns = 0;

	for (uint32_t i = 0; i < s->load.processes; i++)
		ns = num_max(ns, s->process[i].now_ns);
	return ns;
}
