// SPDX-License-Identifier: BSD-3-Clause
/*
 * Fuzzes the capture reader. Checksums would keep a fuzzer out, so the input is a recipe with
 * three readings, by its first byte: rows of a block; a file put together of raw bytes, blocks
 * and headers whose hashes are right; events, which must come back as they went in.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/io.h"
#include "capture/capture.h"
#include "capture/capture_codec.h"
#include "capture/capture_frame.h"
#include "../lib/event_eq.h"

#define FILE_ID 0x6761

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Touches all that a consumer may touch. */
static int check_event(void *ctx, const struct event *ev)
{
	const struct funcs *funcs = ctx;
	size_t sum = 0;

	const struct event_schema *s = event_schema(ev->kind);

	if (!s)
		abort();
	if (event_has_func(ev->kind)) {
		if (ev->func >= funcs->n || funcs->v[ev->func].class >= CLASS_END)
			abort();
		sum += strlen(funcs->v[ev->func].name) + strlen(funcs->v[ev->func].library);
	}
	for (uint32_t i = 0; i < s->n; i++)
		if (s->fields[i].coding == FIELD_TEXT && event_field_text(ev, &s->fields[i]))
			sum += strlen(event_field_text(ev, &s->fields[i]));
		else if (s->fields[i].coding == FIELD_CHARS)
			sum += strlen((const char *)ev + s->fields[i].at);
	return sum == SIZE_MAX;
}

static void fuzz_rows(const uint8_t *data, size_t size)
{
	struct capture_decoder *d = capture_decoder_new();
	struct event_sink sink = { check_event, (void *)capture_decoder_funcs(d) };
	uint8_t *raw = calloc(1, size + DECODE_SLACK);
	struct decode_result result;

	memcpy(raw, data, size);
	for (int i = 0; i < 2; i++)
		if (capture_decode(d, raw, size, GP_BLOCK_EVENTS_MAX, &sink, &result))
			abort();
	free(raw);
	capture_decoder_free(d);
}

/* One ingredient: the first byte says which, the rest is its content. */
static void put_ingredient(int fd, const uint8_t *data, size_t size, uint64_t *number)
{
	uint8_t packed[1024];
	struct gp_block_header h = { .type = GP_BLOCK_EVENTS };
	struct gp_file_header file;
	size_t n = 0;

	if (size < 3 || data[0] % 4 == 0) {
		io_write_all(fd, data, size);
		return;
	}
	if (data[0] % 4 == 1) {
		frame_seal_file(&file, FILE_ID);
		io_write_all(fd, &file, sizeof(file));
		return;
	}
	if (data[0] % 4 == 2)
		n = ZSTD_compress(packed, sizeof(packed), data + 3, size - 3, 1);
	else
		memcpy(&h, data + 3, size - 3 < sizeof(h) ? size - 3 : sizeof(h));
	h.type = h.type ? h.type : data[1] % 4;
	h.number += *number += data[2] % 3;
	h.file_id = FILE_ID;
	if (data[0] % 4 == 2) {
		h.events = data[1];
		h.raw_bytes = (uint32_t)(size - 3);
		h.packed_bytes = (uint32_t)n;
		h.payload_hash = XXH64(packed, n, 0);
	}
	frame_seal_block(&h);
	io_write_all(fd, &h, sizeof(h));
	io_write_all(fd, packed, n);
}

static void fuzz_file(const uint8_t *data, size_t size)
{
	int fd = memfd_create("capture", MFD_CLOEXEC);
	struct gp_file_header file;
	struct capture_reader *r;
	uint64_t number = 0;
	char path[64];

	frame_seal_file(&file, FILE_ID);
	io_write_all(fd, &file, sizeof(file));
	while (size > 1) {
		size_t n = data[0] < size - 1 ? data[0] : size - 1;

		put_ingredient(fd, data + 1, n, &number);
		data += n + 1;
		size -= n + 1;
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	r = capture_open(path);
	if (r) {
		struct event_sink sink = { check_event, (void *)capture_funcs(r) };

		if (capture_read(r, &sink))
			abort();
	}
	capture_free(r);
	close(fd);
}

struct expected {
	const struct event *ev;
	const struct funcs *want;
	const struct funcs *got;
};

static int check_same(void *ctx, const struct event *ev)
{
	struct expected *x = ctx;

	if (event_diff(x->ev++, x->want, ev, x->got))
		abort();
	return 0;
}

/* Bytes become an event that a source could have made: pointers to texts, arrays that end. */
static void make_event(struct event *ev, const uint8_t *data)
{
	const struct event_schema *s;

	memcpy(ev, data, sizeof(*ev));
	ev->kind = (uint8_t)(1 + ev->kind % (EVENT_KIND_END - 1));
	while (!event_schema(ev->kind))
		ev->kind--;
	s = event_schema(ev->kind);
	ev->func = event_has_func(ev->kind) ? ev->func % 2 : 0;
	for (uint32_t i = 0; i < s->n; i++) {
		const struct event_field *f = &s->fields[i];
		char *at = event_field_at(ev, f);
		struct device_sample *values = (void *)at;

		if (f->coding == FIELD_TEXT)
			*(const char **)at = *at % 4 == 1 ? "text" : *at % 4 == 2 ? "" : NULL;
		else if (f->coding == FIELD_CHARS)
			memset(at + strnlen(at, f->size - 1u), 0, f->size - strnlen(at, f->size - 1u));
		else if (f->coding == FIELD_HASH)
			memset(at, 0, f->size);
		else if (f->coding == FIELD_VALUES)
			*values = (struct device_sample){ .has = 1, .v = { values->v[0] } };
	}
	if (event_is_call(ev->kind) && !ev->call.late_ns)	/* it was not late */
		ev->call.late_why = ev->call.after_late_ns = 0;
}

static void fuzz_events(const uint8_t *data, size_t size)
{
	static const struct funcs funcs = { .n = 2, .v = { { "a", "x", 1, 0 }, { "b", "x", 2, 1 } } };
	size_t n = size / sizeof(struct event);
	struct event *ev = calloc(n + 1, sizeof(*ev));
	struct capture_encoder *e = capture_encoder_new(&funcs);
	struct capture_decoder *d = capture_decoder_new();
	struct expected x = { ev, &funcs, capture_decoder_funcs(d) };
	struct event_sink sink = { check_same, &x };
	struct decode_result result;
	struct capture_block *b;

	for (size_t i = 0; i < n; i++) {
		make_event(&ev[i], data + i * sizeof(*ev));
		if (capture_encode(e, &ev[i]))
			abort();
	}
	b = capture_encoder_take(e);
	if (b) {
		memset(b->raw + b->raw_bytes, 0, DECODE_SLACK);
		if (capture_decode(d, b->raw, b->raw_bytes, b->events, &sink, &result) ||
		    result.invalid || result.rows != n)
			abort();
	}
	free(b);
	free(ev);
	capture_encoder_free(e);
	capture_decoder_free(d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size || size > 60000)
		return 0;
	if (data[0] % 3 == 0)
		fuzz_rows(data + 1, size - 1);
	else if (data[0] % 3 == 1)
		fuzz_file(data + 1, size - 1);
	else
		fuzz_events(data + 1, size - 1);
	return 0;
}
