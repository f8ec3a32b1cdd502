// SPDX-License-Identifier: BSD-3-Clause
/*
 * Writes a capture of any number of events with the writer that `record` uses, as a complete
 * session: start, facts, events with watermarks, tails, stop. Events are calls (stream.h), or with
 * `works` API records and works by turns (work_stream.h).
 *
 *   generate EVENTS FILE [works]
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "bench/stream.h"
#include "bench/work_stream.h"
#include "capture/capture.h"

#define WATERMARK_EVERY 100000

static int push(struct capture_writer *w, struct event ev)
{
	return capture_push(w, &ev);
}

static int write_start(struct capture_writer *w, uint64_t start_ns)
{
	int err = push(w, (struct event){ .kind = EVENT_START, .start_ns = start_ns });

	if (!err)
		err = push(w, (struct event){ .kind = EVENT_FACT, .fact.key = "host",
					      .fact.value = "bench" });
	if (!err)
		err = push(w, (struct event){ .kind = EVENT_PROCESS, .process = 4000, .pid = 4000,
					      .start_ns = start_ns, .task.comm = "bench" });
	return err;
}

/* sent: of each kind */
static int write_events(struct capture_writer *w, struct stream *s, unsigned long n,
			uint64_t sent[EVENT_KIND_END])
{
	struct event ev;
	int err = 0;

	for (unsigned long i = 1; i <= n && !err; i++) {
		stream_next(s, &ev);
		sent[ev.kind]++;
		err = capture_push(w, &ev);
		if (!err && i % WATERMARK_EVERY == 0)
			err = push(w, (struct event){ .kind = EVENT_WATERMARK,
						      .end_ns = stream_now(s) });
	}
	return err;
}

static int write_count(struct capture_writer *w, unsigned int kind, uint64_t n)
{
	return push(w, (struct event){ .kind = EVENT_COUNT, .count.source = "bpf",
				       .count.kind = event_kind_name(kind), .count.hits = n,
				       .count.received = n });
}

static int write_stop(struct capture_writer *w, const struct stream *s,
		      const uint64_t sent[EVENT_KIND_END])
{
	int err = write_count(w, EVENT_CALL, sent[EVENT_CALL]);

	if (!err)
		err = write_count(w, EVENT_ENTER, sent[EVENT_ENTER]);
	for (uint32_t i = 0; i < STREAM_THREADS && !err; i++)
		err = push(w, (struct event){ .kind = EVENT_TAIL, .process = 4000, .pid = 4000,
					      .tid = 4000 + i, .seq = s->thread[i].seq });
	if (!err)
		err = push(w, (struct event){ .kind = EVENT_STOP, .end_ns = stream_now(s) });
	return err;
}

static int write_calls(struct capture_writer *w, unsigned long n)
{
	uint64_t sent[EVENT_KIND_END] = { 0 };
	struct stream s;
	int err;

	stream_init(&s);
	err = write_start(w, s.thread[0].now_ns);
	if (!err)
		err = write_events(w, &s, n, sent);
	return err ? err : write_stop(w, &s, sent);
}

/* Of a process on four streams, 400 kernels, as a helper without probes records them. */
static int write_works(struct capture_writer *w, unsigned long n)
{
	static const struct work_load load = { "works", 1, 4, 400, 100, false };
	struct work_stream *s = malloc(sizeof(*s));
	struct event ev;
	int err = s ? 0 : -ENOMEM;

	if (s)
		work_stream_init(s, &load);
	if (!err)
		err = write_start(w, work_stream_now(s));
	for (unsigned long i = 1; i <= n && !err; i++) {
		work_stream_next(s, &ev);
		err = capture_push(w, &ev);
		if (!err && i % WATERMARK_EVERY == 0)
			err = push(w, (struct event){ .kind = EVENT_WATERMARK,
						      .end_ns = work_stream_now(s) });
	}
	if (!err)
		err = push(w, (struct event){ .kind = EVENT_STOP, .end_ns = work_stream_now(s) });
	free(s);
	return err;
}

int main(int argc, char **argv)
{
	unsigned long n = argc == 3 || argc == 4 ? strtoul(argv[1], NULL, 10) : 0;
	struct capture_writer *w;
	int err, closed;

	if (!n) {
		fprintf(stderr, "usage: generate EVENTS FILE [works]\n");
		return 2;
	}
	unlink(argv[2]);
	w = capture_create(argv[2], &stream_funcs);
	if (!w)
		return 1;
	err = argc == 4 ? write_works(w, n) : write_calls(w, n);
	closed = capture_close(w, NULL);
	return err || closed;
}
