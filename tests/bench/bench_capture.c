// SPDX-License-Identifier: BSD-3-Clause
/*
 * What an event costs in a capture: encoding, compressing and writing, reading back; in ns and
 * bytes, of the stream of stream.h. One thread does it all, events are made beforehand.
 *
 *   bench_capture [EVENTS [FILE]]
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/time.h"
#include "bench/stream.h"
#include "event/capture.h"
#include "event/capture_encode.h"

static struct event *make_events(size_t n)
{
	struct event *ev = calloc(n, sizeof(*ev));
	struct stream stream;

	if (!ev)
		return NULL;
	stream_init(&stream);
	for (size_t i = 0; i < n; i++)
		stream_next(&stream, &ev[i]);
	return ev;
}

static int encode_only(const struct event *ev, size_t n, size_t *raw_bytes)
{
	struct capture_encoder *e = capture_encoder_new(&stream_funcs);
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
	struct capture_writer *w = capture_create(path, &stream_funcs);
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

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * NS_PER_SEC + (uint64_t)t.tv_nsec;
}

struct cost {
	uint64_t encode_ns, record_ns, replay_ns;
};

static void keep_best(uint64_t *best, uint64_t ns)
{
	if (!*best || ns < *best)
		*best = ns;
}

static int run_round(const struct event *ev, size_t n, const char *path, struct cost *best,
		     struct capture_stats *stats)
{
	uint64_t t0 = cpu_ns(), t1, t2;
	struct sum sum = { 0, 0 };
	size_t raw_bytes;

	if (encode_only(ev, n, &raw_bytes))
		return -1;
	t1 = cpu_ns();
	if (record(path, ev, n, stats))
		return -1;
	t2 = cpu_ns();
	if (replay(path, &sum) || sum.events != n)
		return -1;
	keep_best(&best->encode_ns, t1 - t0);
	keep_best(&best->record_ns, t2 - t1);
	keep_best(&best->replay_ns, cpu_ns() - t2);
	return 0;
}

int main(int argc, char **argv)
{
	size_t n = argc > 1 ? strtoul(argv[1], NULL, 10) : 4000000;
	const char *path = argc > 2 ? argv[2] : "/tmp/bench_capture.gpr";
	struct event *ev = n ? make_events(n) : NULL;
	struct capture_stats stats;
	struct cost best = { 0, 0, 0 };

	if (!ev) {
		fprintf(stderr, "usage: bench_capture [EVENTS [FILE]]\n");
		return 2;
	}
	for (int i = 0; i < 3; i++)
		if (run_round(ev, n, path, &best, &stats))
			return 1;
	print_row("encode", best.encode_ns, n);
	print_row("encode, compress, write", best.record_ns, n);
	print_row("read, decompress, decode", best.replay_ns, n);
	printf("%-28s %8.2f bytes/event\n", "raw", (double)stats.raw_bytes / (double)n);
	printf("%-28s %8.2f bytes/event\n", "file", (double)stats.file_bytes / (double)n);
	free(ev);
	return argc > 2 ? 0 : unlink(path) != 0;
}
