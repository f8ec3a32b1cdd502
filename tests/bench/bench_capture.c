// SPDX-License-Identifier: BSD-3-Clause
/*
 * What an event costs in a capture: encoding, compressing and writing, reading back; in ns and
 * bytes. The stream is a training step on each of four threads: launches with their noise in gaps
 * and durations, some copies, a sync. One thread does it all, events are made beforehand.
 *
 *   bench_capture [EVENTS [FILE]]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/time.h"
#include "event/capture.h"
#include "event/capture_encode.h"

#define THREADS 4
#define STEP 200		/* calls of a step */
#define KERNELS 40

static struct funcs funcs = {
	.n = 4,
	.v = {
		{ "cudaLaunchKernel", "cudart", CLASS_LAUNCH, 0 },
		{ "cudaMemcpyAsync", "cudart", CLASS_COPY, 0 },
		{ "cudaStreamSynchronize", "cudart", CLASS_SYNC, 1 },
		{ "cudaMemsetAsync", "cudart", CLASS_SET, 0 },
	},
};

struct driver {
	uint64_t now_ns;
	uint32_t seq;
	uint32_t call;		/* within the step */
	bool in_sync;
	uint64_t sync_start_ns;
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

static void make_sync(struct driver *d, struct event *ev, uint64_t *state)
{
	ev->func = 2;
	ev->has = HAS_STREAM;
	ev->start_ns = d->sync_start_ns;
	if (!d->in_sync) {
		ev->kind = EVENT_ENTER;
		ev->start_ns = d->sync_start_ns = d->now_ns;
		d->in_sync = true;
		return;
	}
	d->now_ns += random_ns(state, 100000, 1000000);
	ev->end_ns = d->now_ns;
	ev->has |= HAS_RESULT | HAS_END;
	d->in_sync = false;
	d->call = 0;
}

static void make_event(struct driver *d, uint32_t tid, struct event *ev, uint64_t *state)
{
	uint32_t kernel = d->call * 7 % KERNELS;

	*ev = (struct event){ .kind = EVENT_CALL, .pid = 4000, .tid = tid, .seq = ++d->seq,
			      .stream = 0x55d000001000 };
	if (!d->in_sync)
		d->now_ns += random_ns(state, 800, 6000);
	if (d->call == STEP - 1) {
		make_sync(d, ev, state);
		return;
	}
	ev->has = HAS_RESULT | HAS_END | HAS_STREAM;
	ev->start_ns = d->now_ns;
	ev->end_ns = d->now_ns += random_ns(state, 2100, 3000);
	if (d->call++ % 50 == 49) {
		ev->func = 1;
		ev->has |= HAS_BYTES | HAS_DIR;
		ev->dir = COPY_H2D;
		ev->bytes = 1 << 20;
		return;
	}
	ev->has |= HAS_SHAPE | HAS_ENTITY;
	ev->entity = 0x55d000400000 + kernel * 64;
	ev->shape = (struct launch_shape){ { 128 + kernel, 1, 1 }, { 256, 1, 1 }, kernel % 3 * 4096 };
}

static struct event *make_events(size_t n)
{
	struct event *ev = calloc(n, sizeof(*ev));
	struct driver driver[THREADS];
	uint64_t state = 88172645463325252ull;

	if (!ev)
		return NULL;
	memset(driver, 0, sizeof(driver));
	for (uint32_t i = 0; i < THREADS; i++)
		driver[i].now_ns = 1000000000000ull + i * 777;
	/* Threads take turns in bursts, as a ring delivers them. */
	for (size_t i = 0, t = 0; i < n; i++) {
		if (random_next(&state) % 4 == 0)
			t = random_next(&state) % THREADS;
		make_event(&driver[t], 4000 + (uint32_t)t, &ev[i], &state);
	}
	return ev;
}

static int encode_only(const struct event *ev, size_t n, size_t *raw_bytes)
{
	struct capture_encoder *e = capture_encoder_new(&funcs);
	struct capture_block *b;
	int err = e ? 0 : -1;

	*raw_bytes = 0;
	for (size_t i = 0; i < n && !err; i++) {
		err = capture_encode(e, &ev[i]);
		if (!err)
			continue;
		b = capture_encoder_take(e);
		*raw_bytes += b->raw_bytes;
		capture_encoder_give(e, b);
		err = capture_encode(e, &ev[i]);
	}
	capture_encoder_free(e);
	return err;
}

static int record(const char *path, const struct event *ev, size_t n, struct capture_stats *stats)
{
	struct capture_writer *w = capture_create(path, &funcs);
	int err = w ? 0 : -1;

	for (size_t i = 0; i < n && !err; i++)
		err = capture_push(w, &ev[i]);
	if (w && !err)
		err = capture_flush(w);
	return w ? capture_close(w, stats) : err;
}

struct sum {
	uint64_t events, ns;
};

static int add(void *ctx, const struct event *ev)
{
	struct sum *s = ctx;

	s->events++;
	s->ns += ev->end_ns - ev->start_ns;
	return 0;
}

static int replay(const char *path, struct sum *sum)
{
	struct capture_reader *r = capture_open(path);
	struct event_sink sink = { add, sum };
	int err = r ? capture_read(r, &sink) : -1;

	if (r && capture_state(r) != CAPTURE_COMPLETE)
		err = -1;
	capture_free(r);
	return err;
}

static void print_row(const char *what, uint64_t ns, size_t n)
{
	double each = (double)ns / (double)n;

	printf("%-28s %8.1f ns/event %8.2f M events/s\n", what, each, 1000 / each);
}

int main(int argc, char **argv)
{
	size_t n = argc > 1 ? strtoul(argv[1], NULL, 10) : 4000000, raw_bytes;
	const char *path = argc > 2 ? argv[2] : "/tmp/bench_capture.gpr";
	struct event *ev = n ? make_events(n) : NULL;
	struct capture_stats stats;
	struct sum sum = { 0, 0 };
	uint64_t t0, t1, t2, t3;

	if (!ev) {
		fprintf(stderr, "usage: bench_capture [EVENTS [FILE]]\n");
		return 2;
	}
	t0 = time_now_ns();
	if (encode_only(ev, n, &raw_bytes))
		return 1;
	t1 = time_now_ns();
	if (record(path, ev, n, &stats))
		return 1;
	t2 = time_now_ns();
	if (replay(path, &sum) || sum.events != n)
		return 1;
	t3 = time_now_ns();
	print_row("encode", t1 - t0, n);
	print_row("encode, compress, write", t2 - t1, n);
	print_row("read, decompress, decode", t3 - t2, n);
	printf("%-28s %8.2f bytes/event\n", "raw", (double)stats.raw_bytes / (double)n);
	printf("%-28s %8.2f bytes/event\n", "file", (double)stats.file_bytes / (double)n);
	free(ev);
	return argc > 2 ? 0 : unlink(path) != 0;
}
