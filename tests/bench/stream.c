// SPDX-License-Identifier: BSD-3-Clause
/* Makes the events of stream.h; knows nothing of what is done with them. */
#include "bench/stream.h"

#include <string.h>

#define STEP 200		/* calls of a step */
#define KERNELS 40
#define PID 4000
#define FIRST_NS 1000000000000ull

enum { LAUNCH, COPY, SYNC };

const struct funcs stream_funcs = {
	.n = 3,
	.v = {
		[LAUNCH] = { "cudaLaunchKernel", "cudart", CLASS_LAUNCH, 0 },
		[COPY] = { "cudaMemcpyAsync", "cudart", CLASS_COPY, 0 },
		[SYNC] = { "cudaStreamSynchronize", "cudart", CLASS_SYNC, 1 },
	},
};

static uint64_t random_next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* A skewed time like those of real calls: most near the least, few far. */
static uint64_t random_ns(uint64_t *state, uint64_t least, uint64_t spread)
{
	uint64_t r = random_next(state);

	return least + (r & 0xffff) * ((r >> 16) & 0xffff) / 65536 * spread / 65536 +
	       ((r >> 32) % 997 == 0 ? spread * 20 : 0);
}

static void make_sync(struct stream_thread *t, struct event *ev, uint64_t *state)
{
	ev->func = SYNC;
	ev->has = HAS_STREAM;
	ev->start_ns = t->sync_start_ns;
	if (!t->in_sync) {
		ev->kind = EVENT_ENTER;
		ev->start_ns = t->sync_start_ns = t->now_ns;
		t->in_sync = true;
		return;
	}
	t->now_ns += random_ns(state, 100000, 1000000);
	ev->end_ns = t->now_ns;
	ev->has |= HAS_RESULT | HAS_END;
	t->in_sync = false;
	t->call = 0;
}

static void make_launch(struct event *ev, uint32_t kernel)
{
	ev->func = LAUNCH;
	ev->has |= HAS_SHAPE | HAS_ENTITY;
	ev->call.entity = 0x55d000400000 + kernel * 64;
	ev->call.shape = (struct launch_shape){ { 128 + kernel, 1, 1 }, { 256, 1, 1 },
					   kernel % 3 * 4096 };
}

static void make_copy(struct event *ev)
{
	ev->func = COPY;
	ev->has |= HAS_BYTES | HAS_DIR;
	ev->call.dir = COPY_H2D;
	ev->call.bytes = 1 << 20;
}

static void make_event(struct stream_thread *t, struct event *ev, uint64_t *state)
{
	uint32_t kernel = t->call * 7 % KERNELS;

	ev->seq = ++t->seq;
	if (!t->in_sync)
		t->now_ns += random_ns(state, 800, 6000);
	if (t->call == STEP - 1) {
		make_sync(t, ev, state);
		return;
	}
	ev->has = HAS_RESULT | HAS_END | HAS_STREAM;
	ev->start_ns = t->now_ns;
	ev->end_ns = t->now_ns += random_ns(state, 2100, 3000);
	if (t->call++ % 50 == 49)
		make_copy(ev);
	else
		make_launch(ev, kernel);
}

void stream_init(struct stream *s)
{
	memset(s, 0, sizeof(*s));
	s->random = 88172645463325252ull;
	for (uint32_t i = 0; i < STREAM_THREADS; i++)
		s->thread[i].now_ns = FIRST_NS + i * 777;
}

void stream_next(struct stream *s, struct event *ev)
{
	/* Threads take turns in bursts, as a ring delivers them. */
	if (random_next(&s->random) % 4 == 0)
		s->turn = random_next(&s->random) % STREAM_THREADS;
	*ev = (struct event){ .kind = EVENT_CALL, .process = PID, .pid = PID, .tid = PID + s->turn,
			      .call.stream = 0x55d000001000 };
	make_event(&s->thread[s->turn], ev, &s->random);
}

uint64_t stream_now(const struct stream *s)
{
	uint64_t ns = 0;

	for (uint32_t i = 0; i < STREAM_THREADS; i++)
		if (s->thread[i].now_ns > ns)
			ns = s->thread[i].now_ns;
	return ns;
}
