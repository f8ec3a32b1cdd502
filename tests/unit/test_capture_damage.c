// SPDX-License-Identifier: BSD-3-Clause
/*
 * Captures that were cut, flipped, shortened or mixed up: every whole block is delivered, nothing
 * that was not written ever is, and the reader says what it found.
 */
#include "lib/capture_lib.h"
#include "lib/test.h"

#include <errno.h>
#include <gpuprof/capture.h>

#define EVENTS 24
#define BLOCK 6
#define BLOCKS (EVENTS / BLOCK)

/* A small capture, its bytes, and where its blocks begin; the last is the end block. */
struct sample {
	struct events events;
	struct bytes file;
	size_t at[BLOCKS + 2];
};

struct outcome {
	struct events got;
	enum capture_state state;
	struct capture_counts n;
	const struct funcs *funcs;
	struct capture_reader *reader;
};

static void sample_make(struct sample *s)
{
	struct gp_block_header h;
	size_t at = sizeof(struct gp_file_header), n = 0;

	memset(s, 0, sizeof(*s));
	for (uint32_t i = 0; i < EVENTS; i++) {
		struct event ev = { .kind = i % 5 ? EVENT_CALL : EVENT_FACT, .func = i % 3,
				    .pid = 1, .tid = i % 2, .seq = i, .start_ns = 1000 + i,
				    .end_ns = 2000 + i * 3 };

		if (ev.kind == EVENT_FACT)
			ev.fact.key = "host";
		else
			ev.call.bytes = i + 1;
		events_add(&s->events, &ev);
	}
	events_record(&s->events, BLOCK);
	s->file = file_read();
	for (; at < s->file.n; n++) {
		assert_true(n < BLOCKS + 1);
		s->at[n] = at;
		memcpy(&h, s->file.v + at, sizeof(h));
		at += sizeof(h) + h.packed_bytes;
	}
	s->at[n] = at;
	assert_int_equal(n, BLOCKS + 1);
	assert_int_equal(at, s->file.n);
}

static void sample_free(struct sample *s)
{
	events_free(&s->events);
	free(s->file.v);
}

static struct sample s;
static struct outcome o;

static void outcome_free(void)
{
	events_free(&o.got);
	capture_free(o.reader);
	o = (struct outcome){ .n = { 0 } };
}

BEFORE_EACH
{
	sample_make(&s);
}

AFTER_EACH
{
	sample_free(&s);
	outcome_free();
}

static void read_back(void)
{
	outcome_free();
	o.reader = capture_open(lib_path);
	if (!o.reader)
		return;
	assert_int_equal(capture_read(o.reader, &(struct event_sink){ events_add, &o.got }), 0);
	o.state = capture_state(o.reader);
	o.n = capture_counts(o.reader);
	o.funcs = capture_funcs(o.reader);
}

/* Every event that was read was written, and in this order. */
static void assert_was_written(void)
{
	size_t at = 0;

	for (size_t i = 0; i < o.got.at.n; i++, at++) {
		while (at < EVENTS && event_diff(&s.events.at.v[at], &lib_funcs, &o.got.at.v[i],
						 o.funcs))
			at++;
		if (at == EVENTS)
			fail_msg("event %zu was never written there", i);
	}
}

TEST(cut_at_every_byte_all_whole_blocks_are_delivered)
{
	size_t whole = 0;

	for (size_t len = 0; len < s.file.n; len++) {
		file_write(s.file.v, len);
		read_back();
		while (whole < BLOCKS && s.at[whole + 1] <= len)
			whole++;
		assert_int_equal(o.state, CAPTURE_CUT);
		assert_int_equal(o.n.blocks, whole);
		assert_int_equal(o.got.at.n, whole * BLOCK);
		assert_was_written();
	}
}

TEST(flipped_at_every_bit_one_block_at_most_is_lost)
{
	for (size_t bit = 0; bit < s.file.n * 8; bit++) {
		s.file.v[bit / 8] ^= (char)(1 << bit % 8);
		file_write(s.file.v, s.file.n);
		s.file.v[bit / 8] ^= (char)(1 << bit % 8);
		read_back();
		assert_int_equal(o.state, CAPTURE_DAMAGED);
		assert_int_equal(o.n.bad_blocks, 1);
		assert_true(o.got.at.n >= EVENTS - BLOCK);
		assert_true(bit / 8 < s.at[0] || bit / 8 >= s.at[BLOCKS] ||
			    o.got.at.n == EVENTS - BLOCK);
		assert_was_written();
	}
}

TEST(without_a_block_the_others_read)
{
	for (size_t gone = 0; gone < BLOCKS; gone++) {
		struct bytes b = { malloc(s.file.n), s.at[gone] };

		memcpy(b.v, s.file.v, b.n);
		memcpy(b.v + b.n, s.file.v + s.at[gone + 1], s.file.n - s.at[gone + 1]);
		b.n += s.file.n - s.at[gone + 1];
		file_write(b.v, b.n);
		free(b.v);
		read_back();
		assert_int_equal(o.state, CAPTURE_DAMAGED);
		assert_int_equal(o.n.bad_blocks, 1);
		assert_int_equal(o.n.blocks, BLOCKS - 1);
		assert_int_equal(o.got.at.n, EVENTS - BLOCK);
		assert_was_written();
	}
}

/* One random change: bytes flipped, removed, doubled, overwritten, or cut off. */
static void damage(struct bytes *b)
{
	size_t at = lib_below(b->n), len = lib_below(b->n - at) % (1 + lib_below(200));

	switch (lib_below(5)) {
	case 0:
		b->v[at] ^= (char)(1 + lib_below(255));
		break;
	case 1:
		memmove(b->v + at, b->v + at + len, b->n - at - len);
		b->n -= len;
		break;
	case 2:
		memmove(b->v + at + len, b->v + at, b->n - at);
		b->n += len;
		break;
	case 3:
		for (size_t i = 0; i < len; i++)
			b->v[at + i] = (char)lib_next();
		break;
	default:
		b->n = at ? at : 1;
	}
}

TEST(after_random_damage_nothing_unwritten_is_delivered)
{
	for (int round = 0; round < 3000; round++) {
		struct bytes b = { malloc(s.file.n * 64), s.file.n };

		memcpy(b.v, s.file.v, b.n);
		for (uint64_t i = lib_below(5); i < 5; i++)
			damage(&b);
		file_write(b.v, b.n);
		stderr_hide();
		read_back();
		stderr_show();
		assert_was_written();
		assert_true(!o.reader || o.state != CAPTURE_COMPLETE ||
			    (b.n == s.file.n && !memcmp(b.v, s.file.v, b.n)));
		free(b.v);
	}
	unlink(lib_path);		/* perhaps damaged past being taken for a capture */
}

TEST(a_repeated_block_is_delivered_once)
{
	struct bytes b;

	b.n = s.at[2];
	b.v = malloc(s.file.n * 2);
	memcpy(b.v, s.file.v, b.n);
	memcpy(b.v + b.n, s.file.v + s.at[0], s.file.n - s.at[0]);
	file_write(b.v, b.n + s.file.n - s.at[0]);
	free(b.v);
	read_back();
	assert_int_equal(o.state, CAPTURE_DAMAGED);
	assert_int_equal(o.got.at.n, EVENTS);
	assert_was_written();
}

/* A program may carry a whole capture in its arguments; zstd stores what it cannot shrink as it
 * is. Damage before it must not bring it to life. */
TEST(a_text_that_is_a_block_is_never_taken_for_one)
{
	struct sample host;
	char *at;

	sample_make(&host);
	host.file.v[host.at[1] + 8] ^= 1;
	at = malloc(host.file.n + s.file.n);
	memcpy(at, host.file.v, host.at[1] + 100);
	memcpy(at + host.at[1] + 100, s.file.v, s.file.n);
	memcpy(at + host.at[1] + 100 + s.file.n, host.file.v + host.at[1] + 100,
	       host.file.n - host.at[1] - 100);
	file_write(at, host.file.n + s.file.n);
	free(at);
	read_back();
	assert_int_equal(o.got.at.n, EVENTS - BLOCK);
	assert_int_equal(o.n.bad_blocks, 1);
	sample_free(&host);
}

TEST(a_capture_being_recorded_reads_up_to_now)
{
	struct capture_writer *w = lib_create(&lib_funcs);

	for (int i = 1; i <= 3; i++) {
		assert_int_equal(capture_push(w, &(struct event){ .kind = EVENT_STOP }), 0);
		assert_int_equal(capture_flush(w), 0);
		assert_int_equal(capture_push(w, &(struct event){ .kind = EVENT_STOP }), 0);
		read_back();
		assert_int_equal(o.state, CAPTURE_GROWING);
		assert_int_equal(o.got.at.n, 2 * i - 1);
	}
	assert_int_equal(capture_close(w, NULL), 0);
}

TEST_GROUP(lib_setup, lib_teardown);
