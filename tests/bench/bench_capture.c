// SPDX-License-Identifier: BSD-3-Clause
/*
 * What an event costs in a capture: encoding, compressing and writing, reading back; in ns and
 * bytes, of the stream of stream.h. Thread CPU time, because wall time is disturbed by other
 * load, the best of three passes. Events are made in batches that stay in the cache, as they do
 * between the drain and the writer.
 *
 *   bench_capture [EVENTS [FILE]]
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bench/stream.h"
#include "capture/capture.h"
#include "capture/capture_codec.h"

#define PASSES 3
#define BATCH 4096

struct pass {
	uint64_t ns;		/* CPU time that the events took */
	struct event batch[BATCH];
};

static uint64_t cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* Pushes n events into sink; the time that making them takes is not counted. */
static int push_all(struct pass *pass, size_t n, const struct event_sink *sink)
{
	struct stream stream;
	int err = 0;

	stream_init(&stream);
	for (size_t done = 0; done < n && !err; done += BATCH) {
		size_t batch = n - done < BATCH ? n - done : BATCH;
		uint64_t start;

		for (size_t i = 0; i < batch; i++)
			stream_next(&stream, &pass->batch[i]);
		start = cpu_ns();
		for (size_t i = 0; i < batch && !err; i++)
			err = sink->push(sink->ctx, &pass->batch[i]);
		pass->ns += cpu_ns() - start;
	}
	return err;
}

static int push_encoder(void *encoder, const struct event *ev)
{
	int err = capture_encode(encoder, ev);

	if (err != -EAGAIN)
		return err;
	capture_encoder_give(encoder, capture_encoder_take(encoder));
	return capture_encode(encoder, ev);
}

static int encode(struct pass *pass, size_t n)
{
	struct capture_encoder *e = capture_encoder_new(&stream_funcs);
	struct event_sink sink = { push_encoder, e };
	int err = e ? push_all(pass, n, &sink) : -ENOMEM;

	capture_encoder_free(e);
	return err;
}

static int push_writer(void *writer, const struct event *ev)
{
	return capture_push(writer, ev);
}

static int record(struct pass *pass, size_t n, const char *path, struct capture_stats *stats)
{
	struct event_sink sink = { .push = push_writer };
	struct capture_writer *w;
	uint64_t start;
	int err;

	unlink(path);
	w = capture_create(path, &stream_funcs);
	sink.ctx = w;
	if (!w)
		return -errno;
	err = push_all(pass, n, &sink);
	start = cpu_ns();
	if (!err)
		err = capture_flush(w);
	pass->ns += cpu_ns() - start;
	return capture_close(w, stats) ? -EIO : err;
}

static int count(void *n, const struct event *ev)
{
	*(size_t *)n += ev->kind == EVENT_CALL || ev->kind == EVENT_ENTER;
	return 0;
}

static int replay(struct pass *pass, size_t n, const char *path)
{
	struct capture_reader *r = capture_open(path);
	size_t got = 0;
	struct event_sink sink = { count, &got };
	uint64_t start = cpu_ns();
	int err = r ? capture_read(r, &sink) : -errno;

	pass->ns += cpu_ns() - start;
	if (r && (capture_state(r) != CAPTURE_COMPLETE || got != n))
		err = -EIO;
	capture_free(r);
	return err;
}

static void print_row(const char *what, uint64_t ns, size_t n)
{
	double each = (double)ns / (double)n;

	printf("%-28s %8.1f ns/event %8.2f M events/s\n", what, each, 1000 / each);
}

static int measure(struct pass *pass, size_t n, const char *path)
{
	uint64_t best[3] = { UINT64_MAX, UINT64_MAX, UINT64_MAX };
	struct capture_stats stats = { 0 };
	int err = 0;

	for (int i = 0; i < PASSES * 3 && !err; i++) {
		pass->ns = 0;
		switch (i % 3) {
		case 0: err = encode(pass, n); break;
		case 1: err = record(pass, n, path, &stats); break;
		case 2: err = replay(pass, n, path); break;
		}
		if (pass->ns < best[i % 3])
			best[i % 3] = pass->ns;
	}
	if (err)
		return err;
	print_row("encode", best[0], n);
	print_row("encode, compress, write", best[1], n);
	print_row("read, decompress, decode", best[2], n);
	printf("%-28s %8.2f bytes/event\n", "raw", (double)stats.raw_bytes / (double)n);
	printf("%-28s %8.2f bytes/event\n", "file", (double)stats.file_bytes / (double)n);
	return 0;
}

int main(int argc, char **argv)
{
	size_t n = argc > 1 ? strtoul(argv[1], NULL, 10) : 4000000;
	const char *path = argc > 2 ? argv[2] : "/tmp/bench_capture.gpr";
	struct pass *pass = n ? calloc(1, sizeof(*pass)) : NULL;
	int err;

	if (!pass) {
		fprintf(stderr, "usage: bench_capture [EVENTS [FILE]]\n");
		return 2;
	}
	err = measure(pass, n, path);
	if (err)
		fprintf(stderr, "bench_capture: %s\n", strerror(-err));
	free(pass);
	unlink(path);
	return err != 0;
}
