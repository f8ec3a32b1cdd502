// SPDX-License-Identifier: BSD-3-Clause
/*
 * Records to events. Where arguments lie is not written down a second time here: a stub
 * is called through the functions' real prototypes and keeps what the compiler put into registers
 * and on the stack, as the probes do.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/test.h"
#include "source/bpf/decode.h"
#include "catalog/catalog.h"
#include "catalog/gemms.h"
#include "unit/decode_room.h"

static enum decode_status status_of(void *state, const struct raw *raw, size_t len)
{
	struct decode_off_texts texts;
	struct event ev;

	return decode_call(*(struct decoder **)state, raw, len, &ev, &texts);
}

static void is_shape(const struct event *ev, uint64_t shared)
{
	const uint32_t grid[] = { 1001, 1002, 1003 }, block[] = { 32, 4, 2 };

	assert_true(ev->has & HAS_SHAPE);
	assert_memory_equal(ev->call.shape.grid, grid, sizeof(grid));
	assert_memory_equal(ev->call.shape.block, block, sizeof(block));
	assert_int_equal(ev->call.shape.shared_bytes, shared);
}

static void is_launch(const struct event *ev, uint64_t shared, uint64_t entity, uint64_t stream)
{
	is_shape(ev, shared);
	assert_true(ev->has & HAS_ENTITY && ev->has & HAS_STREAM);
	assert_int_equal(ev->call.entity, entity);
	assert_int_equal(ev->call.stream, stream);
	assert_false(ev->has & (HAS_BYTES | HAS_DIR));
}

static const dim3 grid = { 1001, 1002, 1003 }, block = { 32, 4, 2 };

/* ---- launches ---------------------------------------------------------------------------------- */

TEST_TITLED("launch: dim3 arguments by value are grid and block", launch_dim3)
{
	static const char *const names[] = {
		"cudaLaunchKernel", "cudaLaunchKernel_ptsz", "__cudaLaunchKernel",
		"__cudaLaunchKernel_ptsz", "cudaLaunchCooperativeKernel",
	};

	see_launch((void *)0x401000, grid, block, (void **)0x7fff, 5ull << 32, (handle)0x5555);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct event ev = decode_seen(state, names[i]);

		is_launch(&ev, 5ull << 32, 0x401000, 0x5555);
	}
}

TEST_TITLED("launch: the driver's six numbers are grid and block", launch_six)
{
	struct event ev;

	see_launch_six((handle)0x600000, 1001, 1002, 1003, 32, 4, 2, 4096, (handle)0x77, NULL, NULL);
	/* Halves of words that carry an int are whatever the caller left there. */
	for (int i = 1; i <= 7; i++)
		seen[i] |= POISON << 32;
	ev = decode_seen(state, "cuLaunchKernel");
	is_launch(&ev, 4096, 0x600000, 0x77);
	ev = decode_seen(state, "cuLaunchCooperativeKernel_ptsz");
	is_launch(&ev, 4096, 0x600000, 0x77);
}

TEST_TITLED("launch: the runtime's config struct is read as laid out", launch_runtime_config)
{
	struct runtime_config config = { grid, block, 1ull << 33, (handle)0x99, &config, 3 };
	struct event ev;

	assert_int_equal(offsetof(struct runtime_config, stream), 32);
	see_runtime_config(&config, (void *)0x402000, NULL);
	ev = decode_seen(state, "cudaLaunchKernelExC");
	is_launch(&ev, 1ull << 33, 0x402000, 0x99);
}

TEST_TITLED("launch: the driver's config struct is read as laid out", launch_driver_config)
{
	struct driver_config config;
	struct event ev;

	memset(&config, 0xab, sizeof(config));	/* the padding, too */
	config.gx = 1001, config.gy = 1002, config.gz = 1003;
	config.bx = 32, config.by = 4, config.bz = 2;
	config.shared = 48 << 10;
	config.stream = (handle)0x99;
	assert_int_equal(offsetof(struct driver_config, stream), 32);
	see_driver_config(&config, (handle)0x403000, NULL, NULL);
	ev = decode_seen(state, "cuLaunchKernelEx");
	is_launch(&ev, 48 << 10, 0x403000, 0x99);
}

TEST_TITLED("launch: a graph has no shape", launch_graph)
{
	struct event ev;

	see_graph((handle)0x1234, (handle)0x5678);
	ev = decode_seen(state, "cudaGraphLaunch");
	assert_int_equal(ev.has, HAS_ENTITY | HAS_STREAM | HAS_RESULT | HAS_END);
	assert_int_equal(ev.call.entity, 0x1234);
	assert_int_equal(ev.call.stream, 0x5678);
}

TEST_TITLED("launch: what could not be read is unknown, not zero", extra_fault)
{
	struct raw raw;
	struct event ev;
	size_t len;

	memset(seen, 0, sizeof(seen));
	seen[0] = 0x401000;
	len = record(&raw, "cudaLaunchKernel");
	raw.head.flags = GP_CALL_EXTRA_FAULT;
	ev = decode_len(state, &raw, len);
	assert_int_equal(ev.has, HAS_RESULT | HAS_END | HAS_ENTITY);
	assert_int_equal(ev.call.entity, 0x401000);
}

/* ---- bytes, directions, streams ------------------------------------------------------------------ */

static void bytes_are(void *state, const char *name, uint64_t count, uint64_t bytes)
{
	struct event ev;

	see_words(NULL, 1, count, 4, 5);
	ev = decode_seen(state, name);
	assert_true(ev.has & HAS_BYTES);
	assert_int_equal(ev.call.bytes, bytes);
}

TEST_TITLED("bytes: elements are multiplied by their size, overflow is unknown", scaled_bytes)
{
	struct raw raw;
	size_t len;

	bytes_are(state, "cudaMemset", 1000, 1000);
	bytes_are(state, "cuMemsetD8_v2", 1000, 1000);
	bytes_are(state, "cuMemsetD16_v2", 1000, 2000);
	bytes_are(state, "cuMemsetD32_v2", 1000, 4000);
	bytes_are(state, "cuMemsetD32Async_ptsz", 0, 0);
	bytes_are(state, "cuMemsetD32_v2", UINT64_MAX / 4, UINT64_MAX - 3);
	seen[2] = UINT64_MAX / 4 + 1;
	len = record(&raw, "cuMemsetD32_v2");
	assert_false(decode_len(state, &raw, len).has & HAS_BYTES);
}

static struct event all_reduce(void *state, uint64_t count, int type)
{
	see_all_reduce(NULL, NULL, count, type, 0, (handle)0x1, (handle)0x42);
	seen[3] |= POISON << 32;	/* an enum is 32 bits of its register */
	return decode_seen(state, "ncclAllReduce");
}

TEST_TITLED("bytes: of a collective by its data type, unknown types are unknown", collective_bytes)
{
	static const struct { int type; uint64_t size; } types[] = {
		{ 0, 1 }, { 1, 1 }, { 2, 4 }, { 3, 4 }, { 4, 8 }, { 5, 8 },
		{ 6, 2 }, { 7, 4 }, { 8, 8 }, { 9, 2 }, { 10, 1 }, { 11, 1 },
	};
	struct event ev;

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		ev = all_reduce(state, 1000, types[i].type);
		assert_true(ev.has & HAS_BYTES);
		assert_int_equal(ev.call.bytes, 1000 * types[i].size);
		assert_true(ev.has & HAS_STREAM);
		assert_int_equal(ev.call.stream, 0x42);
	}
	assert_false(all_reduce(state, 1000, 12).has & HAS_BYTES);
	assert_false(all_reduce(state, 1000, -1).has & HAS_BYTES);
	assert_false(all_reduce(state, UINT64_MAX / 2, 8).has & HAS_BYTES);
}

static struct event copy(void *state, int dir)
{
	see_copy(NULL, NULL, 1 << 20, dir, (handle)0x31);
	seen[3] |= POISON << 32;
	return decode_seen(state, "cudaMemcpyAsync");
}

TEST_TITLED("copy: the direction is the argument's or the function's", directions)
{
	static const struct { const char *name; uint8_t dir; } fixed[] = {
		{ "cuMemcpyHtoD_v2", COPY_H2D }, { "cuMemcpyDtoHAsync_v2", COPY_D2H },
		{ "cuMemcpyDtoDAsync_v2_ptsz", COPY_D2D }, { "cuMemcpy", COPY_DEFAULT },
	};
	struct event ev;

	for (int dir = COPY_H2H; dir <= COPY_DEFAULT; dir++) {
		ev = copy(state, dir);
		assert_true(ev.has & HAS_DIR);
		assert_int_equal(ev.call.dir, dir);
		assert_int_equal(ev.call.bytes, 1 << 20);
		assert_int_equal(ev.call.stream, 0x31);
	}
	assert_false(copy(state, 5).has & HAS_DIR);
	assert_false(copy(state, -1).has & HAS_DIR);
	for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++) {
		ev = decode_seen(state, fixed[i].name);
		assert_true(ev.has & HAS_DIR);
		assert_int_equal(ev.call.dir, fixed[i].dir);
	}
}

/* ---- results, times, kinds ------------------------------------------------------------------------ */

TEST_TITLED("call: result and 48 bits of duration come through", results_and_times)
{
	struct raw raw;
	size_t len = record(&raw, "cudaDeviceSynchronize");
	struct event ev;

	raw.head.result = 35;
	ev = decode_len(state, &raw, len);
	assert_int_equal(ev.has, HAS_RESULT | HAS_END);
	assert_int_equal(ev.call.result, 35);
	assert_int_equal(ev.start_ns, 1000);
	assert_int_equal(ev.end_ns, 1020);
	assert_int_equal(ev.pid, 10);
	assert_int_equal(ev.tid, 11);
	assert_int_equal(ev.seq, 7);
	raw.head.result = -GP_RESULT_MAX;
	raw.head.dur_lo_ns = UINT32_MAX;
	raw.head.dur_hi = UINT16_MAX;
	ev = decode_len(state, &raw, len);
	assert_int_equal(ev.call.result, -GP_RESULT_MAX);
	assert_int_equal(ev.end_ns - ev.start_ns, GP_DUR_MAX);
	raw.head.start_ns = UINT64_MAX - GP_DUR_MAX;
	assert_int_equal(decode_len(state, &raw, len).end_ns, UINT64_MAX);
	raw.head.start_ns++;
	assert_int_equal(status_of(state, &raw, len), DECODE_INVALID);
}

TEST_TITLED("call: without a return there is no result and no end", not_returned)
{
	static const struct { uint8_t kind, flags, event; } cases[] = {
		{ GP_ENTER, 0, EVENT_ENTER }, { GP_OPEN, 0, EVENT_OPEN },
		{ GP_CALL, GP_CALL_NO_RETURN, EVENT_CALL },
	};
	struct raw raw;
	size_t len;

	memset(seen, 0, sizeof(seen));
	len = record(&raw, "cudaStreamSynchronize");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct event ev;

		raw.head.kind = cases[i].kind;
		raw.head.flags = cases[i].flags;
		ev = decode_len(state, &raw, len);
		assert_int_equal(ev.kind, cases[i].event);
		assert_int_equal(ev.has, HAS_STREAM);
		assert_int_equal(ev.end_ns, ev.start_ns);
	}
	raw.head.kind = 0;
	raw.head.row = 0;		/* a thread that has no call open */
	assert_int_equal(decode_len(state, &raw, sizeof(raw)).kind, EVENT_TAIL);
}

TEST_TITLED("call: short is invalid, longer is accepted, unknown kinds are skipped",
	    hostile_records)
{
	struct raw raw;
	size_t len = record(&raw, "cudaLaunchKernel");
	struct { struct raw raw; uint64_t more[4]; } longer = { .raw = raw };

	for (size_t n = 0; n < len; n++)
		assert_int_equal(status_of(state, &raw, n), DECODE_INVALID);
	memset(longer.more, 0xab, sizeof(longer.more));
	assert_int_equal(status_of(state, &longer.raw, sizeof(longer)), DECODE_OK);
	for (unsigned int kind = GP_TASK_NEW; kind < 256; kind++) {
		if (kind == GP_OFF || (kind >= GP_OP && kind <= GP_ASKS))
			continue;	/* test_decode_off, and below */
		raw.head.kind = (uint8_t)kind;
		assert_int_equal(status_of(state, &raw, len), DECODE_SKIP);
		assert_int_equal(status_of(state, &raw, sizeof(raw.head)), DECODE_SKIP);
	}
	raw.head.kind = GP_CALL;
	for (unsigned int row = 0; row <= UINT16_MAX; row++) {
		raw.head.row = (uint16_t)row;
		if (!catalog_row(row))
			assert_int_equal(status_of(state, &raw, sizeof(raw)), DECODE_INVALID);
	}
	len = record(&raw, "cudaLaunchKernel");
	raw.head.tid = 0;
	assert_int_equal(status_of(state, &raw, len), DECODE_INVALID);
	raw.head.tid = 11;
	raw.head.pid = 0;
	assert_int_equal(status_of(state, &raw, len), DECODE_INVALID);
}

/* ---- tasks ---------------------------------------------------------------------------------------- */

TEST_TITLED("op: measured or bound, with what was inside it; of a call, behind its stack", ops)
{
	const struct gp_op rec = { .kind = GP_OP, .start_ns = 1000, .end_ns = 1050, .pid = 10, .tid = 11,
				   .op = GP_OPS_FIRST | 77, .inner_ns = 20 };
	struct gp_op bad = rec, bound = rec;
	struct decode_off_texts texts;
	struct event ev;
	struct raw raw;
	size_t len, at;

	assert_int_equal(decode_call(NULL, &rec, sizeof(rec), &ev, &texts), DECODE_OK);
	assert_true(ev.kind == EVENT_OP && ev.has == HAS_END && ev.op.id == rec.op && ev.op.inner_ns == 20 &&
		    ev.start_ns == 1000 && ev.end_ns == 1050 && ev.pid == 10 && ev.tid == 11 && !ev.seq);
	bound.flags = GP_OP_BOUND;
	assert_int_equal(decode_call(NULL, &bound, sizeof(bound), &ev, &texts), DECODE_OK);
	assert_int_equal(ev.has, 0);
	for (size_t n = 1; n < sizeof(rec); n++)
		assert_int_equal(decode_call(NULL, &rec, n, &ev, &texts), DECODE_INVALID);
	bad.end_ns = 999;
	assert_int_equal(decode_call(NULL, &bad, sizeof(bad), &ev, &texts), DECODE_INVALID);
	len = record(&raw, "cudaLaunchKernel");
	at = (len - sizeof(raw.head)) / 8;
	for (size_t i = 0; i < GP_WORDS_MORE; i++)
		raw.words[at + i] = 100 + i;
	raw.head.flags = GP_CALL_STACK | GP_CALL_OP | GP_CALL_MODULE | GP_CALL_BLOCKED;
	ev = decode_len(state, &raw, len + 32);
	assert_true(ev.call.stack == 100 && ev.call.op == 101 && ev.call.module == 102 &&
		    ev.call.blocked_ns == 103);
	raw.head.flags = GP_CALL_MODULE;
	ev = decode_len(state, &raw, len + 8);
	assert_true(!ev.call.stack && !ev.call.op && ev.call.module == 100);
}

TEST_TITLED("module: its class is a frame inside that of the module around it", modules)
{
	struct gp_module rec = { .kind = GP_MODULE, .start_ns = 1000, .id = GP_OPS_FIRST | 9,
				 .outer = GP_OPS_FIRST | 8, .pid = 10, .tid = 11 };
	struct decode_off_texts texts;
	struct event ev;

	memset(rec.name, 'x', sizeof(rec.name));	/* no NUL */
	assert_int_equal(decode_call(NULL, &rec, sizeof(rec), &ev, &texts), DECODE_OK);
	assert_true(ev.kind == EVENT_FRAME && ev.frame.number == rec.id && ev.frame.caller == rec.outer &&
		    ev.frame.flags == FRAME_MODULE && !ev.pid);
	assert_int_equal(strlen(ev.frame.function), sizeof(rec.name) - 1);
	for (size_t n = 1; n < sizeof(rec); n++)
		assert_int_equal(decode_call(NULL, &rec, n, &ev, &texts), DECODE_INVALID);
	rec.id = 9;
	assert_int_equal(decode_call(NULL, &rec, sizeof(rec), &ev, &texts), DECODE_INVALID);
}

TEST_TITLED("asks: others work for a thread from then on; with an end, until then", asks)
{
	struct gp_op rec = { .kind = GP_ASKS, .start_ns = 1000, .pid = 10, .tid = 11 };
	struct decode_off_texts texts;
	struct event ev;

	assert_int_equal(decode_call(NULL, &rec, sizeof(rec), &ev, &texts), DECODE_OK);
	assert_true(ev.kind == EVENT_ASKS && !ev.has && ev.pid == 10 && ev.tid == 11 && ev.start_ns == 1000);
	rec.end_ns = 2000;
	assert_int_equal(decode_call(NULL, &rec, sizeof(rec), &ev, &texts), DECODE_OK);
	assert_true(ev.kind == EVENT_ASKS && ev.has == HAS_END && ev.end_ns == 2000);
	for (size_t n = 1; n < sizeof(rec); n++)
		assert_int_equal(decode_call(NULL, &rec, n, &ev, &texts), DECODE_INVALID);
	rec.end_ns = 999;
	assert_int_equal(decode_call(NULL, &rec, sizeof(rec), &ev, &texts), DECODE_INVALID);
	rec.tid = 0;
	assert_int_equal(decode_call(NULL, &rec, sizeof(rec), &ev, &texts), DECODE_INVALID);
}

TEST_TITLED("gemm: a product is a frame that knows its operator's", products)
{
	struct gp_gemm rec = { .kind = GP_GEMM, .start_ns = 1000, .id = GP_OPS_FIRST | 9, .op = GP_OPS_FIRST | 8,
			       .row = (uint8_t)gemm_find("cublasSgemm_v2"), .operation = { 0, 1 }, .m = 2, .n = 3,
			       .k = 4, .ld = { 2, 3, 2 }, .batch = 1, .pid = 10, .tid = 11 };
	struct decode_off_texts texts;
	struct event ev;

	assert_int_equal(decode_call(NULL, &rec, sizeof(rec), &ev, &texts), DECODE_OK);
	assert_true(ev.kind == EVENT_FRAME && ev.frame.number == rec.id && ev.frame.offset == rec.op &&
		    !ev.frame.caller && ev.frame.flags == FRAME_GEMM && !ev.pid);
	assert_string_equal(ev.frame.function, "cublasSgemm_v2 nt 2 3 4 x1 ld 2 3 2 float32 float32 float32");
	for (size_t n = 1; n < sizeof(rec); n++)
		assert_int_equal(decode_call(NULL, &rec, n, &ev, &texts), DECODE_INVALID);
	rec.row = 255;
	assert_int_equal(decode_call(NULL, &rec, sizeof(rec), &ev, &texts), DECODE_INVALID);
}

TEST_TITLED("shape: sizes and type of a tensor are a frame that knows its operator's", shapes)
{
	struct gp_shape rec = { .kind = GP_SHAPE, .start_ns = 1000, .id = GP_OPS_FIRST | 9, .op = GP_OPS_FIRST | 8,
				.dims = 3, .type = 6, .size = { 2, 0, 4, 5 }, .pid = 10, .tid = 11 };
	struct decode_off_texts texts;
	struct event ev;

	assert_int_equal(decode_call(NULL, &rec, sizeof(rec), &ev, &texts), DECODE_OK);
	assert_true(ev.kind == EVENT_FRAME && ev.frame.number == rec.id && ev.frame.offset == rec.op &&
		    !ev.frame.caller && ev.frame.flags == FRAME_SHAPE && !ev.pid);
	assert_string_equal(ev.frame.function, "[2, 0, 4] float32");
	for (size_t n = 1; n < sizeof(rec); n++)
		assert_int_equal(decode_call(NULL, &rec, n, &ev, &texts), DECODE_INVALID);
	rec.dims = 0;
	rec.type = 11;
	assert_int_equal(decode_call(NULL, &rec, sizeof(rec), &ev, &texts), DECODE_OK);
	assert_string_equal(ev.frame.function, "[] bool");
	rec.dims = GP_DIMS_MAX;
	rec.type = UINT16_MAX;
	memset(rec.size, 0xff, sizeof(rec.size));
	assert_int_equal(decode_call(NULL, &rec, sizeof(rec), &ev, &texts), DECODE_OK);
	assert_int_equal(strlen(ev.frame.function),
			 strlen("[] type 65535") + GP_DIMS_MAX * strlen("18446744073709551615, ") - 2);
	rec.dims = GP_DIMS_MAX + 1;
	assert_int_equal(decode_call(NULL, &rec, sizeof(rec), &ev, &texts), DECODE_INVALID);
	rec.dims = 3;
	rec.id = 9;
	assert_int_equal(decode_call(NULL, &rec, sizeof(rec), &ev, &texts), DECODE_INVALID);
}

TEST_TITLED("task: every kind becomes its event, a name needs no NUL", task_records)
{
	static const struct { uint8_t kind, event; } cases[] = {
		{ GP_TASK_NEW, EVENT_THREAD }, { GP_TASK_EXIT, EVENT_EXIT },
		{ GP_TASK_FORK, EVENT_FORK }, { GP_TASK_EXEC, EVENT_PROCESS },
	};
	struct gp_task task = { .seq = 3, .time_ns = 50, .start_ns = 40, .pid = 10, .tid = 11 };
	char comm[GP_COMM_LEN + 1];
	struct event ev;

	memset(task.comm, 'x', sizeof(task.comm));	/* no NUL */
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		task.kind = cases[i].kind;
		assert_int_equal(decode_task(&task, sizeof(task), &ev, comm), DECODE_OK);
		assert_int_equal(ev.kind, cases[i].event);
		assert_int_equal(ev.start_ns, 40);
		assert_int_equal(ev.end_ns, 50);
		assert_int_equal(ev.pid, 10);
		assert_int_equal(ev.tid, 11);
		assert_int_equal(ev.seq, 3);
		assert_ptr_equal(ev.task.comm, comm);
		assert_string_equal(ev.task.comm, "xxxxxxxxxxxxxxxx");
	}
	memcpy(task.comm, "train", 6);
	decode_task(&task, sizeof(task), &ev, comm);
	assert_string_equal(ev.task.comm, "train");
}

TEST_TITLED("task: short is invalid, longer is accepted, unknown kinds are skipped", hostile_tasks)
{
	struct { struct gp_task task; char more[16]; } rec = {
		.task = { .kind = GP_TASK_NEW, .time_ns = 50, .start_ns = 40, .pid = 10, .tid = 11 },
	};
	char comm[GP_COMM_LEN + 1];
	struct event ev;

	for (size_t n = 0; n < sizeof(rec.task); n++)
		assert_int_equal(decode_task(&rec, n, &ev, comm), DECODE_INVALID);
	assert_int_equal(decode_task(&rec, sizeof(rec), &ev, comm), DECODE_OK);
	for (unsigned int kind = 0; kind < 256; kind++) {
		rec.task.kind = (uint8_t)kind;
		if (kind < GP_TASK_NEW || kind > GP_TASK_EXEC)
			assert_int_equal(decode_task(&rec, sizeof(rec), &ev, comm), DECODE_SKIP);
	}
	rec.task.kind = GP_TASK_NEW;
	rec.task.tid = 0;
	assert_int_equal(decode_task(&rec, sizeof(rec), &ev, comm), DECODE_INVALID);
	rec.task.tid = 11;
	rec.task.pid = 0;
	assert_int_equal(decode_task(&rec, sizeof(rec), &ev, comm), DECODE_INVALID);
	rec.task.pid = 10;
	rec.task.start_ns = 51;
	assert_int_equal(decode_task(&rec, sizeof(rec), &ev, comm), DECODE_INVALID);
}

TEST_GROUP(setup, teardown);
