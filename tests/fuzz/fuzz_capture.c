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
#include "capture/capture_decode.h"
#include "capture/capture_encode.h"
#include "capture/capture_frame.h"
#include "../lib/event_eq.h"

#define FILE_ID 0x6761

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Touches all that a consumer may touch. */
static int check_event(void *ctx, const struct event *ev)
{
	const struct funcs *funcs = ctx;
	size_t sum = 0;

	if (!ev->kind || ev->kind >= EVENT_KIND_END || ev->func >= FUNCS_MAX)
		abort();
	if (event_has_func(ev->kind)) {
		if (ev->func >= funcs->n || funcs->v[ev->func].class >= CLASS_END)
			abort();
		sum += strlen(funcs->v[ev->func].name) + strlen(funcs->v[ev->func].library);
	}
	sum += ev->text ? strlen(ev->text) : 0;
	sum += ev->text2 ? strlen(ev->text2) : 0;
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

static void fuzz_events(const uint8_t *data, size_t size)
{
	static const struct funcs funcs = { .n = 2, .v = { { "a", "x", 1, 0 }, { "b", "x", 2, 1 } } };
	static const struct work work = { .kind = WORK_KIND_COPY, .bytes = 7, .grid = { 1, 2, 3 } };
	static const struct device_facts device = { .device = 1, .uuid = "GPU-1" };
	static const struct device_sample sample = { .has = 1u << SAMPLE_SM | 1u << SAMPLE_USERS,
						     .v = { [SAMPLE_SM] = 4200, [SAMPLE_USERS] = 2 } };
	size_t n = size / sizeof(struct event);
	struct event *ev = calloc(n + 1, sizeof(*ev));
	struct capture_encoder *e = capture_encoder_new(&funcs);
	struct capture_decoder *d = capture_decoder_new();
	struct expected x = { ev, &funcs, capture_decoder_funcs(d) };
	struct event_sink sink = { check_same, &x };
	struct decode_result result;
	struct capture_block *b;

	for (size_t i = 0; i < n; i++) {
		memcpy(&ev[i], data + i * sizeof(*ev), sizeof(*ev));
		ev[i].kind = (uint8_t)(1 + ev[i].kind % (EVENT_KIND_END - 1));
		ev[i].func %= 2;
		ev[i].after_late_ns = ev[i].late_ns ? ev[i].after_late_ns : 0;	/* of no call that was late */
		ev[i].late_why = ev[i].late_ns && ev[i].late_why & 1 ? OFF_STOPPED : OFF_RUNQUEUE;
		ev[i].text = (uintptr_t)ev[i].text % 4 == 1 ? "text" : NULL;
		ev[i].text2 = (uintptr_t)ev[i].text2 % 4 == 1 ? "" : NULL;
		ev[i].work = ev[i].kind == EVENT_WORK ? &work : NULL;
		ev[i].device = ev[i].kind == EVENT_DEVICE ? &device : NULL;
		ev[i].sample = ev[i].kind == EVENT_SAMPLE ? &sample : NULL;
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
