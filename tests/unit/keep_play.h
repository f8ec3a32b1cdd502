/* SPDX-License-Identifier: BSD-3-Clause */
/* A session that is played to who keeps it, and what its files say then. */
#ifndef UNIT_KEEP_PLAY_H
#define UNIT_KEEP_PLAY_H

#include "lib/capture_lib.h"
#include "lib/stamped.h"

#include "capture/capture_sink.h"
#include "model/model.h"
#include "lib/cmocka.h"
#include "snap_of.h"

#define SEC 1000000000ull
#define MS 1000000ull

/* ---- a session: threads that launch (function 1: one record) and sync (3: two) -------------- */

struct play {
	struct capture_sink *keep;
	uint64_t now_ns;
	uint32_t seq[4];
	uint64_t calls;
};

static inline void push(struct play *p, struct event ev)
{
	ev = stamped(&ev);
	assert_int_equal(capture_sink_push(p->keep, &ev), 0);
}

static inline void begin(struct play *p)
{
	p->now_ns = 100 * SEC;
	push(p, (struct event){ .kind = EVENT_FACT, .fact.key = "host",
				.fact.value = "somewhere" });
	push(p, (struct event){ .kind = EVENT_START, .start_ns = p->now_ns });
	push(p, (struct event){ .kind = EVENT_PROCESS, .pid = 10, .tid = 10, .start_ns = 5 * SEC,
				.task.comm = "train", .task.cmdline = "./train --fast" });
	push(p, (struct event){ .kind = EVENT_IDENTITY, .pid = 10, .tid = 10, .fact.key = "rank",
				.fact.value = "3" });
	for (uint32_t t = 0; t < 4; t++)
		push(p, (struct event){ .kind = EVENT_THREAD, .pid = 10, .tid = 10 + t,
					.start_ns = 5 * SEC, .task.comm = "thread" });
}

static inline void call(struct play *p, uint32_t t, uint64_t ns)
{
	push(p, (struct event){ .kind = EVENT_CALL, .pid = 10, .tid = 10 + t, .seq = ++p->seq[t],
				.func = 6, .has = HAS_ENTITY, .call.entity = lib_below(1u << 20),
				.start_ns = p->now_ns, .end_ns = p->now_ns + ns });
	p->now_ns += ns;
	p->calls++;
}

static inline void enter(struct play *p, uint32_t t)
{
	push(p, (struct event){ .kind = EVENT_ENTER, .pid = 10, .tid = 10 + t, .seq = ++p->seq[t],
				.func = 1, .start_ns = p->now_ns });
}

static inline void end(struct play *p, struct capture_sink_stats *stats)
{
	push(p, (struct event){ .kind = EVENT_STOP, .end_ns = p->now_ns });
	assert_int_equal(capture_sink_close(p->keep, stats), 0);
}

/* ---- what a file says ----------------------------------------------------------------------- */

struct got {
	uint64_t calls, enters, lost, start_ns, stop_ns;
	uint64_t counted_hits, counted_received, counted_lost;	/* of calls, as counted last */
	uint64_t first_seq[4];
	bool complete, has_host, memory_unsure;
};

struct reading {
	struct got *got;
	struct model *model;
};

static inline int hear(void *ctx, const struct event *ev)
{
	struct reading *r = ctx;

	r->got->calls += ev->kind == EVENT_CALL;
	r->got->enters += ev->kind == EVENT_ENTER;
	if ((ev->kind == EVENT_CALL || ev->kind == EVENT_ENTER) && !r->got->first_seq[ev->tid - 10])
		r->got->first_seq[ev->tid - 10] = ev->seq;
	if (ev->kind == EVENT_START)
		r->got->start_ns = ev->start_ns;
	if (ev->kind == EVENT_STOP)
		r->got->stop_ns = ev->end_ns;
	if (ev->kind == EVENT_COUNT) {
		r->got->counted_hits = ev->count.hits;
		r->got->counted_received = ev->count.received;
		r->got->counted_lost = ev->count.lost;
	}
	return model_push(r->model, ev);
}

static inline struct got read_file(const char *path)
{
	struct capture_reader *c = capture_open(path);
	struct got got = { 0 };
	struct model_counts counts;
	struct reading r = { .got = &got };

	assert_non_null(c);
	r.model = model_new(capture_funcs(c));
	assert_int_equal(capture_read(c, &(struct event_sink){ hear, &r }), 0);
	model_counts(r.model, &counts);
	got.lost = counts.lost;
	got.complete = capture_state(c) == CAPTURE_COMPLETE;
	got.memory_unsure = snap_of(r.model)->processes.v[0].memory_incomplete;
	got.has_host = snapshot_fact(snap_of(r.model), "host") != NULL;
	assert_int_equal(model_processes(r.model), 1);
	assert_string_equal(model_process(r.model, 0)->cmdline, "./train --fast");
	assert_string_equal(snapshot_identity(&snap_of(r.model)->processes.v[0], "rank"), "3");
	model_free(r.model);
	capture_free(c);
	unlink(path);	/* for the next test */
	return got;
}

static inline void name(char *out, uint64_t number)
{
	char path[PATH_MAX];

	assert_int_equal(capture_file_name(path, lib_path, number), 0);
	assert_true(strlen(path) < 128);
	strcpy(out, path);
}

#endif
