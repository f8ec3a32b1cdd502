/* SPDX-License-Identifier: BSD-3-Clause */
/* Events of one thread and both its books, the streaming one and the specification, for their tests. */
#ifndef UNIT_BOOK_ROOM_H
#define UNIT_BOOK_ROOM_H

#include <stdlib.h>

#include "ledger/thread_book.h"
#include "lib/book_spec.h"
#include "lib/cmocka.h"

enum { L, S, K, O, BAD };	/* functions: launch, sync (two), copy (two), class other, bad class */

static const struct funcs funcs = {
	.n = 5,
	.v = {
		[L] = { "launch", "t", CLASS_LAUNCH, 0 },
		[S] = { "sync", "t", CLASS_SYNC, 1 },
		[K] = { "copy", "t", CLASS_COPY, 1 },
		[O] = { "other", "t", CLASS_OTHER, 0 },
		[BAD] = { "bad", "t", CLASS_END, 0 },
	},
};

static inline struct event call(uint32_t seq, uint16_t func, uint64_t start, uint64_t end)
{
	return (struct event){ .kind = EVENT_CALL, .seq = seq, .func = func, .start_ns = start,
			       .end_ns = end };
}

static inline struct event begun(uint8_t kind, uint32_t seq, uint16_t func, uint64_t start)
{
	return (struct event){ .kind = kind, .seq = seq, .func = func, .start_ns = start };
}

static inline struct event at(uint8_t kind, uint32_t seq, uint64_t start, uint64_t end)
{
	return (struct event){ .kind = kind, .seq = seq, .start_ns = start, .end_ns = end };
}

struct run {
	struct book book;
	struct intervals unarmed;
};

static inline void apply(struct run *r, const struct event *ev)
{
	switch (ev->kind) {
	case 0:
		break;
	case EVENT_THREAD:
		book_birth(&r->book, ev->start_ns);
		break;
	case EVENT_STOP:
		book_stop(&r->book, ev->end_ns);
		break;
	case EVENT_UNARMED:
		if (!intervals_add(&r->unarmed, ev->start_ns, ev->end_ns))
			book_unarmed(&r->book, ev->start_ns, ev->end_ns);
		break;
	default:
		book_push(&r->book, ev, ev->func < funcs.n ? &funcs.v[ev->func] : NULL);
	}
}

static inline void assert_balanced(const struct book_sum *sum)
{
	uint64_t total = 0;

	for (int i = 0; i < BUCKET_END; i++)
		total += sum->ns[i];
	assert_true(sum->open_ns <= sum->close_ns);
	assert_int_equal(total, sum->close_ns - sum->open_ns);
	assert_int_equal(sum->blocked_ns[CLASS_OTHER], 0);
	for (int i = 0; i < CLASS_END; i++)
		assert_true(sum->late_ns[i] <= sum->blocked_ns[i] && sum->blocked_ns[i] <= sum->ns[i]);
}

static inline void trace(const struct event *events, size_t n)
{
	for (size_t i = 0; getenv("TEST_TRACE") && i < n; i++)
		print_message("  %s #%u f%u %llu %llu has %x blocked %llu\n",
			      event_kind_name(events[i].kind), events[i].seq, events[i].func,
			      (unsigned long long)events[i].start_ns,
			      (unsigned long long)events[i].end_ns, events[i].has,
			      (unsigned long long)events[i].call.blocked_ns);
}

static inline void assert_same(const struct book_sum *a, const struct book_sum *b)
{
	assert_int_equal(a->open_ns, b->open_ns);
	assert_int_equal(a->close_ns, b->close_ns);
	for (int i = 0; i < BUCKET_END; i++)
		assert_int_equal(a->ns[i], b->ns[i]);
}

/* Runs both books over the events, in a session [1000, 1000 + 100) whose end is `now`. */
#define BASE 1000
#define NOW (BASE + 100)

static inline struct book_counts book_of(const struct event *events, size_t n, struct book_sum *sum)
{
	struct spec_input in = { events, n, &funcs, BASE, NOW };
	static struct spec_book spec;
	struct book_sum expected;
	struct run r = { 0 };

	trace(events, n);
	book_init(&r.book, BASE, &r.unarmed);
	for (size_t i = 0; i < n; i++)
		apply(&r, &events[i]);
	book_read(&r.book, NOW, sum);
	spec_book(&in, &spec);
	spec_sum(&spec, 0, UINT64_MAX, &expected);
	assert_balanced(sum);
	assert_balanced(&expected);
	assert_same(sum, &expected);
	assert_memory_equal(sum->blocked_ns, spec.blocked_ns, sizeof(spec.blocked_ns));
	assert_memory_equal(sum->late_ns, spec.late_ns, sizeof(spec.late_ns));
	assert_memory_equal(&r.book.counts, &spec.counts, sizeof(spec.counts));
	intervals_free(&r.unarmed);
	return spec.counts;
}

#define T(ns) (BASE + (ns))

/* Readings of a book, each of the time since the one before. Start zeroed. */
struct readings {
	struct book_sum last;
	uint64_t late_ns;
};

static inline void read_on(struct readings *r, const struct book *b, uint64_t now,
			   struct book_sum *sum)
{
	struct book_sum all;

	book_read(b, now, &all);
	*sum = all;
	if (r->last.close_ns)
		r->late_ns += book_sum_subtract(sum, &r->last);
	assert_balanced(sum);
	r->last = all;
}

#endif
