// SPDX-License-Identifier: BSD-3-Clause
/*
 * Captures whose checksums are right and whose contents are not: of later versions, or made to
 * harm. And disks that take no more.
 */
#include "lib/capture_lib.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>

#include "capture/capture_frame.h"
#include "base/varint.h"
#include "lib/test.h"

#define FILE_ID 0x1234

/* A file made by hand, block by block. */
struct forge {
	int fd;
	uint64_t number;
};

/* Rows made by hand. */
struct rows {
	uint8_t v[GP_BLOCK_RAW_MAX];
	uint8_t *p;
};

static struct rows rows = { .p = rows.v };

static void forge_open(struct forge *f, uint16_t major, uint32_t longer)
{
	uint8_t buf[sizeof(struct gp_file_header) + 64] = { 0 };
	struct gp_file_header h;

	frame_seal_file(&h, FILE_ID);
	h.major = major;
	h.minor = longer ? 7 : 0;
	h.frame_bytes += longer;
	h.hash = XXH64(&h, offsetof(struct gp_file_header, hash), 0);
	memcpy(buf, &h, sizeof(h));
	*f = (struct forge){ .fd = open(lib_path, O_RDWR | O_CREAT | O_TRUNC, 0600) };
	assert_int_equal(io_write_all(f->fd, buf, sizeof(h) + longer), 0);
}

static void forge_block(struct forge *f, uint16_t type, uint32_t events, size_t claimed)
{
	size_t len = (size_t)(rows.p - rows.v), cap = ZSTD_compressBound(len), packed;
	uint8_t *payload = malloc(cap);
	struct gp_block_header h;

	packed = ZSTD_compress(payload, cap, rows.v, len, 1);
	assert_false(ZSTD_isError(packed));
	h = (struct gp_block_header){
		.type = type, .events = events, .number = ++f->number, .file_id = FILE_ID,
		.raw_bytes = (uint32_t)(claimed ? claimed : len),
		.packed_bytes = (uint32_t)packed, .payload_hash = XXH64(payload, packed, 0),
	};
	frame_seal_block(&h);
	assert_int_equal(io_write_all(f->fd, &h, sizeof(h)), 0);
	assert_int_equal(io_write_all(f->fd, payload, packed), 0);
	free(payload);
	rows.p = rows.v;
}

static void forge_end(struct forge *f, uint64_t events)
{
	const struct gp_capture_end end = { .events = events, .blocks = f->number };

	memcpy(rows.v, &end, sizeof(end));
	rows.p = rows.v + sizeof(end);
	forge_block(f, GP_BLOCK_END, 0, 0);
	close(f->fd);
}

/* tag, length, then numbers; a text is pushed as its parts. */
static void put_row(uint8_t tag, const uint8_t *body, size_t len)
{
	*rows.p++ = tag;
	rows.p = varint_put(rows.p, len);
	memcpy(rows.p, len ? body : (const uint8_t *)"", len);
	rows.p += len;
}

#define PUT_ROW(tag, ...) do { \
	const uint64_t number_[] = { __VA_ARGS__ }; \
	uint8_t body_[256], *end_ = body_; \
	for (size_t i_ = 0; i_ < sizeof(number_) / sizeof(number_[0]); i_++) \
		end_ = varint_put(end_, number_[i_]); \
	put_row(tag, body_, (size_t)(end_ - body_)); \
} while (0)

#define THREAD_ROW() do { \
	PUT_ROW(GP_TAG_PROCESS, 1, 10); \
	PUT_ROW(GP_TAG_THREAD, 0, 2, 5000, 0, 0);	/* tid 11 */ \
} while (0)
#define EVENT_ROW(kind) PUT_ROW(GP_TAG_EVENT, kind, 0, GP_FIELD_START, 154)

/* The first field of a kind's payload. */
#define FIELD_0 (1ull << GP_FIELD_FIRST)

static void put_func(const char *name)
{
	uint8_t body[256], *p = body;

	p = varint_put(p, CLASS_LAUNCH);
	p = varint_put(p, 0);
	p = varint_put(p, 1);
	*p++ = 'l';
	*p++ = '\0';
	p = varint_put(p, strlen(name));
	p = (uint8_t *)stpcpy((char *)p, name) + 1;
	put_row(GP_TAG_FUNC, body, (size_t)(p - body));
}

static void put_shape(uint64_t kind, uint64_t func)
{
	PUT_ROW(GP_TAG_SHAPE, kind, 0, func + 1, 0, 0x40, 1, 1, 1);	/* grid */
}

static void put_call(uint8_t tag, uint64_t shape)
{
	*rows.p++ = GP_ROW_CALL | tag;
	if (tag & GP_ROW_THREAD)
		rows.p = varint_put(rows.p, 0);
	rows.p = varint_put(rows.p, shape);
	rows.p = varint_put(rows.p, 10);
	rows.p = varint_put(rows.p, 20);
}

static void assert_reads(size_t events, enum capture_state state, uint64_t bad_events)
{
	struct capture_reader *r = capture_open(lib_path);
	struct events got = { .at = { .n = 0 } };

	assert_non_null(r);
	assert_int_equal(capture_read(r, &(struct event_sink){ events_add, &got }), 0);
	assert_int_equal(got.at.n, events);
	assert_int_equal(capture_state(r), state);
	assert_int_equal(capture_counts(r).bad_events, bad_events);
	capture_free(r);
	events_free(&got);
}

static void assert_refuses(int err, const char *format)
{
	struct capture_reader *r;
	char want[256];

	snprintf(want, sizeof(want), "gpuprof: %s %s\n", lib_path, format);
	stderr_hide();
	r = capture_open(lib_path);
	assert_string_equal(stderr_show(), want);
	assert_null(r);
	assert_int_equal(errno, err);
}

TEST(a_later_format_is_refused_in_one_line)
{
	struct forge f;

	forge_open(&f, GP_CAPTURE_MAJOR + 1, 0);
	close(f.fd);
	assert_refuses(ENOTSUP, "was written by a later gpuprof (format 2, this one reads up to "
		       "1); upgrade");
}

TEST(additions_of_a_later_minor_version_are_skipped)
{
	struct forge f;

	forge_open(&f, GP_CAPTURE_MAJOR, 24);
	PUT_ROW(99, 1, 2, 3);
	PUT_ROW(GP_TAG_PROCESS, 1, 10, 123);
	PUT_ROW(GP_TAG_THREAD, 0, 2, 5000, 0, 0, 123, 456);
	EVENT_ROW(EVENT_START);
	EVENT_ROW(EVENT_KIND_END);
	EVENT_ROW(1000);
	PUT_ROW(GP_TAG_EVENT, EVENT_STOP, 0, 1ull << 40 | GP_FIELD_START, 154, 88);
	put_func("launch");
	put_shape(200, 0);
	put_shape(EVENT_CALL, 0);
	put_call(GP_ROW_THREAD | GP_ROW_SHAPE, 0);
	put_call(GP_ROW_SHAPE, 1);
	forge_block(&f, GP_BLOCK_EVENTS, 6, 0);
	EVENT_ROW(1);
	forge_block(&f, 77, 1, 0);
	forge_end(&f, 6);
	assert_reads(3, CAPTURE_COMPLETE, 0);
}

/* Each of these must stop the decoding of its block. */
static void put_bad_row(int i)
{
	static const uint8_t open_text[] = { 0x03, 0x01, 0x03, 'x', 0x03, 'y' };
	static const uint8_t nul_text[] = { 0x03, 0x01, 0x07, 'a', 0, 'b', 0, 0x03, 'y', 0 };

	switch (i) {
	case 0: *rows.p++ = 0; break;
	case 1: put_call(GP_ROW_THREAD | GP_ROW_SHAPE, 1); break;
	case 2: put_call(GP_ROW_THREAD | GP_ROW_SHAPE | GP_ROW_RESERVED, 0); break;
	case 3: put_call(GP_ROW_SHAPE, 0); break;
	case 4: put_shape(EVENT_CALL, 1); break;
	case 5: put_shape(0, 0); break;
	case 6: put_shape(EVENT_STOP, 0); break;
	case 7: PUT_ROW(GP_TAG_EVENT, EVENT_START, 1, 0); break;
	case 8: PUT_ROW(GP_TAG_EVENT, 0, 0, 0); break;
	case 9: PUT_ROW(GP_TAG_EVENT, EVENT_CALL, 0, 0); break;
	case 10: PUT_ROW(GP_TAG_EVENT, EVENT_CALL, 0, GP_FIELD_FUNC, 1); break;
	case 11: PUT_ROW(GP_TAG_EVENT, EVENT_CALL, 0, GP_FIELD_SHAPE | GP_FIELD_FUNC, 0, 0); break;
	case 12: PUT_ROW(GP_TAG_EVENT, EVENT_STOP, 0, GP_FIELD_FUNC, 0); break;
	case 13: PUT_ROW(GP_TAG_EVENT, EVENT_STOP, 0, GP_FIELD_SEQ, 1ull << 32); break;
	case 14: PUT_ROW(GP_TAG_EVENT, EVENT_STOP, 0, GP_FIELD_SHAPE, 0); break;
	case 15: PUT_ROW(GP_TAG_EVENT, EVENT_FACT, 0, FIELD_0, 1000); break;
	case 16: PUT_ROW(GP_TAG_EVENT, EVENT_FACT, 0, FIELD_0, UINT64_MAX); break;
	case 17: PUT_ROW(GP_TAG_THREAD, 0, 1ull << 34, 1, 1, 1); break;
	case 18: PUT_ROW(GP_TAG_THREAD, 0, 1); break;
	case 19: put_row(GP_TAG_FUNC, open_text, sizeof(open_text)); break;
	case 20: put_row(GP_TAG_FUNC, nul_text, sizeof(nul_text)); break;
	case 21: *rows.p++ = GP_TAG_EVENT; rows.p = varint_put(rows.p, UINT64_MAX); break;
	case 22: *rows.p++ = 99; rows.p = varint_put(rows.p, 1 << 20); break;
	case 23: put_row(GP_TAG_EVENT, NULL, 0); break;
	case 24: PUT_ROW(GP_TAG_EVENT, EVENT_UNSEEN, 0, FIELD_0, 256); break;
	case 25: PUT_ROW(GP_TAG_EVENT, EVENT_UNSEEN, 0, FIELD_0); break;
	case 26: PUT_ROW(GP_TAG_PROCESS, 1ull << 32, 10); break;
	case 27: PUT_ROW(GP_TAG_PROCESS, 1); break;
	case 28: PUT_ROW(GP_TAG_THREAD, 1, 2, 5000, 0, 0); break;	/* no such process */
	default: *rows.p++ = GP_ROW_CALL | GP_ROW_THREAD; break;
	}
}

TEST(a_row_that_cannot_be_ends_its_block_only)
{
	struct forge f;

	for (int i = 0; i <= 29; i++) {
		forge_open(&f, GP_CAPTURE_MAJOR, 0);
		THREAD_ROW();
		put_func("launch");
		put_shape(EVENT_CALL, 0);
		EVENT_ROW(EVENT_START);
		put_bad_row(i);
		if (i < 29)
			EVENT_ROW(EVENT_STOP);
		forge_block(&f, GP_BLOCK_EVENTS, 5, 0);
		THREAD_ROW();
		EVENT_ROW(EVENT_STOP);
		forge_block(&f, GP_BLOCK_EVENTS, 1, 0);
		forge_end(&f, 6);
		assert_reads(2, CAPTURE_DAMAGED, 4);
	}
}

TEST(definitions_do_not_outlive_their_block)
{
	struct forge f;

	forge_open(&f, GP_CAPTURE_MAJOR, 0);
	THREAD_ROW();
	EVENT_ROW(EVENT_START);
	forge_block(&f, GP_BLOCK_EVENTS, 1, 0);
	EVENT_ROW(EVENT_STOP);
	forge_block(&f, GP_BLOCK_EVENTS, 1, 0);
	forge_end(&f, 2);
	assert_reads(1, CAPTURE_DAMAGED, 1);
}

TEST(counts_that_lie_are_found)
{
	const uint32_t lies[] = { 0, 1, 3, UINT32_MAX };
	struct forge f;

	for (int i = 0; i < 4; i++) {
		forge_open(&f, GP_CAPTURE_MAJOR, 0);
		THREAD_ROW();
		EVENT_ROW(EVENT_START);
		EVENT_ROW(EVENT_START);
		forge_block(&f, GP_BLOCK_EVENTS, lies[i], 0);
		forge_end(&f, 2);
		assert_reads(lies[i] < 2 ? lies[i] : 2, CAPTURE_DAMAGED,
			     lies[i] < 2 ? 0 : lies[i] - 2);
	}
}

TEST(a_block_unpacks_to_its_declared_size_or_fails)
{
	struct forge f;

	for (size_t claimed = 1; claimed < 100; claimed += 49) {
		forge_open(&f, GP_CAPTURE_MAJOR, 0);
		memset(rows.v, 0, sizeof(rows.v));
		rows.p = rows.v + sizeof(rows.v);
		forge_block(&f, GP_BLOCK_EVENTS, 9, claimed);
		forge_end(&f, 9);
		assert_reads(0, CAPTURE_DAMAGED, 9);
	}
}

TEST(functions_beyond_the_table_are_counted_not_delivered)
{
	struct forge f;
	char name[32];

	forge_open(&f, GP_CAPTURE_MAJOR, 0);
	for (int block = 0; block < 5; block++) {
		THREAD_ROW();
		for (int i = 0; i < 1000; i++) {
			snprintf(name, sizeof(name), "f%d", block * 1000 + i);
			put_func(name);
			put_shape(EVENT_CALL, (uint64_t)i);
			put_call(GP_ROW_SHAPE | (i ? 0 : GP_ROW_THREAD), (uint64_t)i);
		}
		forge_block(&f, GP_BLOCK_EVENTS, 1000, 0);
	}
	forge_end(&f, 5000);
	assert_reads(FUNCS_MAX, CAPTURE_DAMAGED, 5000 - FUNCS_MAX);
}

TEST(a_file_that_is_no_capture_is_refused_in_one_line)
{
	file_write("#!/bin/sh\necho hello, this is a script\n", 38);
	assert_refuses(EINVAL, "is not a capture: it begins with something else; give a .gpr file "
		       "that gpuprof record wrote");
	unlink(lib_path);
	assert_int_equal(mkfifo(lib_path, 0600), 0);
	assert_refuses(EINVAL, "is not a regular file: a capture is read from a file, not a pipe "
		       "or directory; save it first");
	unlink(lib_path);
	file_write("", 0);
	assert_reads(0, CAPTURE_CUT, 0);
}

/* ---- a disk that is full ------------------------------------------------------------------ */

TEST(a_full_disk_is_reported_once_and_whole_blocks_stay)
{
	struct rlimit old, limit;
	struct capture_writer *w;
	struct capture_stats stats;
	struct events e = { .at = { .n = 0 } };
	char want[256];
	uint64_t kept = 0;
	int err = 0;

	unlink(lib_path);
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	limit = (struct rlimit){ 5000, old.rlim_max };
	w = lib_create(&lib_funcs);
	events_random(&e, 3000);
	stderr_hide();
	setrlimit(RLIMIT_FSIZE, &limit);
	for (size_t i = 0; i < e.at.n; i++) {
		int got = capture_push(w, &e.at.v[i]);

		if (!got && i % 10 == 9)
			got = capture_flush(w);
		if (!got && !err && i % 10 == 9)
			kept = i + 1;
		assert_true(!err || got == err);
		err = got;
	}
	assert_int_equal(capture_close(w, &stats), -EFBIG);
	setrlimit(RLIMIT_FSIZE, &old);
	snprintf(want, sizeof(want), "gpuprof: cannot write %s: File too large; it stays readable "
		 "up to its last complete block (%llu bytes)\n", lib_path,
		 (unsigned long long)stats.file_bytes);
	assert_string_equal(stderr_show(), want);
	assert_int_equal(err, -EFBIG);
	assert_true(kept > 0 && kept < e.at.n);
	assert_int_equal(stats.events, kept);
	assert_reads(kept, CAPTURE_CUT, 0);
	events_free(&e);
}

TEST_GROUP(lib_setup, lib_teardown);
