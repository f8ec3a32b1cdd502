// SPDX-License-Identifier: BSD-3-Clause
/* Memory of PyTorch's allocator as its viewer reads it. tests/torch holds it against PyTorch's own. */
#include "view/torch_memory.h"

#include <string.h>

#include "lib/stamped.h"
#include "lib/test.h"
#include "model/model.h"
#include "snap_of.h"

#define BASE 1000000000000ull
#define KB 1024ull
#define MB (1024 * KB)

enum { GIVE, TAKE, MALLOC, FREE, LAUNCH };

static const struct funcs funcs = {
	.n = 5,
	.v = { { "pytorch:malloc", "c10", CLASS_ALLOC, 0 }, { "pytorch:free", "c10", CLASS_FREE, 0 },
	       { "cudaMalloc", "cudart", CLASS_ALLOC, 0 }, { "cudaFree", "cudart", CLASS_FREE, 0 },
	       { "cudaLaunchKernel", "cudart", CLASS_LAUNCH, 0 } },
};

static struct model *m;
static uint64_t now_ns;
static uint32_t seq, given;

static void push(struct event ev)
{
	ev = stamped(&ev);
	assert_int_equal(model_push(m, &ev), 0);
}

BEFORE_EACH
{
	const struct consumers list = { .v = { &torch_memory_consumer }, .n = 1 };

	m = model_new(&funcs);
	assert_non_null(m);
	assert_int_equal(model_use_consumers(m, &list), 0);
	push((struct event){ .kind = EVENT_START, .start_ns = BASE });
	push((struct event){ .kind = EVENT_PROCESS, .pid = 7, .tid = 7, .start_ns = BASE - 1, .task.comm = "train" });
	now_ns = BASE;
	seq = given = 0;
}

AFTER_EACH
{
	snap_end(m);
}

static void call(uint16_t func, uint64_t address, uint64_t bytes, unsigned int device, int result)
{
	struct event ev = { .kind = EVENT_CALL, .pid = 7, .tid = 7, .func = func, .has = bytes ? HAS_BYTES : 0 };

	now_ns += 1000;
	ev.seq = ++seq;
	given += func <= TAKE;
	ev.start_ns = now_ns;
	ev.end_ns = now_ns + 500;
	ev.call.address = address;
	ev.call.bytes = bytes;
	ev.call.entity = device;
	ev.call.result = (int16_t)result;
	ev.has |= func == GIVE ? HAS_ENTITY : func == TAKE ? 0 : HAS_END | HAS_RESULT;
	push(ev);
}

static void give(uint64_t address, uint64_t bytes, unsigned int device) { call(GIVE, address, bytes, device, 0); }
static void take(uint64_t address) { call(TAKE, address, 0, 0, 0); }
static void get(uint64_t address, uint64_t bytes) { call(MALLOC, address, bytes, 0, 0); }
static void fail_to_get(uint64_t bytes) { call(MALLOC, 0, bytes, 0, 2); }
static void give_back(uint64_t address) { call(FREE, address, 0, 0, 0); }

/* ---- what Python would load ------------------------------------------------------------------- */

struct reading {
	const uint8_t *at, *end;
	struct strbuf out;
};

static uint64_t number(struct reading *r, unsigned int n)
{
	uint64_t value = 0;

	assert_true(r->end - r->at >= n);
	for (unsigned int i = 0; i < n; i++)
		value |= (uint64_t)r->at[i] << 8 * i;
	r->at += n;
	return value;
}

/* One value, as {key: value, ...}, [...], texts without quotes; of no interest here: frames. */
static void read_value(struct reading *r)
{
	const char *separator = "";
	uint8_t op = *r->at++, end = op == '}' ? 'u' : 'e';
	uint64_t len;

	switch (op) {
	case 'X':
		len = number(r, 4);
		strbuf_add(&r->out, (const char *)r->at, len);
		r->at += len;
		return;
	case 'J':
		strbuf_addf(&r->out, "%llu", (unsigned long long)number(r, 4));
		return;
	case 0x8a:
		assert_int_equal(*r->at++, 9);
		strbuf_addf(&r->out, "%llu", (unsigned long long)number(r, 8));
		assert_int_equal(*r->at++, 0);
		return;
	case '}':
	case ']':
		assert_int_equal(*r->at++, '(');
		strbuf_addstr(&r->out, op == '}' ? "{" : "[");
		for (; *r->at != end; separator = " ") {
			strbuf_addstr(&r->out, separator);
			read_value(r);
			if (op == '}') {
				strbuf_addch(&r->out, ':');
				read_value(r);
			}
		}
		r->at++;
		strbuf_addstr(&r->out, op == '}' ? "}" : "]");
		return;
	default:
		fail_msg("no such opcode: %02x", op);
	}
}

/* Without what every block has, or no test has. */
static void leave_out(char *text, const char *part)
{
	for (char *at; (at = strstr(text, part));)
		memmove(at, at + strlen(part), strlen(at + strlen(part)) + 1);
}

static void assert_loads(const char *wanted)
{
	struct strbuf out = STRBUF_INIT;
	struct reading r = { .out = STRBUF_INIT };
	size_t n;

	push((struct event){ .kind = EVENT_STOP, .end_ns = now_ns += 1000 });
	assert_int_equal(model_finish(m), 0);
	n = torch_memory_add(&out, snap_of(m));
	assert_int_equal(n, given);
	assert_false(out.failed);
	r.at = (const uint8_t *)out.s;
	r.end = r.at + out.len;
	assert_memory_equal(r.at, "\x80\x02", 2);
	r.at += 2;
	read_value(&r);
	assert_int_equal(*r.at++, '.');
	assert_ptr_equal(r.at, r.end);
	leave_out(r.out.s, " frames:[]");
	leave_out(r.out.s, " stream:0");
	for (char *at = r.out.s; (at = strstr(at, " time_us:"));)
		memmove(at, at + 9 + strspn(at + 9, "0123456789"), strlen(at + 9 + strspn(at + 9, "0123456789")) + 1);
	assert_string_equal(r.out.s, wanted);
	strbuf_free(&out);
	strbuf_free(&r.out);
}

#define BLOCK(at, bytes, asked, state) \
	"{address:" #at " size:" #bytes " requested_size:" #asked " state:" state "}"
#define USED(at, bytes, asked) BLOCK(at, bytes, asked, "active_allocated")
#define UNUSED(at, bytes) BLOCK(at, bytes, 0, "inactive")
#define SEGMENT(device, at, bytes, used, type) \
	"{device:" #device " address:" #at " total_size:" #bytes " allocated_size:" #used \
	" active_size:" #used " segment_type:" type " blocks:["

TEST(a_segment_is_full_of_blocks_that_are_used_or_not)
{
	get(4096, 2 * MB);
	give(4096, 1000, 0);
	give(5120, 10, 0);
	give(6144, 1, 0);
	take(5120);
	assert_loads("{segments:[" SEGMENT(0, 4096, 2097152, 1536, "small") USED(4096, 1024, 1000) " "
		     UNUSED(5120, 1024) " " USED(6144, 512, 1) " " UNUSED(6656, 2094592) "]}] "
		     "device_traces:[[{action:segment_alloc addr:4096 size:2097152} {action:alloc addr:4096 size:1000} "
		     "{action:alloc addr:5120 size:10} {action:alloc addr:6144 size:1} "
		     "{action:free_requested addr:5120 size:10} {action:free_completed addr:5120 size:10}]]}");
}

TEST(memory_of_the_driver_is_of_the_device_of_what_was_given_out_of_it)
{
	get(4096, 4 * MB);
	get(8 * MB, 512);
	give(8192, 512, 1);
	assert_loads("{segments:[" SEGMENT(1, 4096, 4194304, 512, "large") UNUSED(4096, 4096) " " USED(8192, 512, 512) " "
		     UNUSED(8704, 4189696) "]}] "
		     "device_traces:[[{action:segment_alloc addr:8388608 size:512}] "
		     "[{action:segment_alloc addr:4096 size:4194304} {action:alloc addr:8192 size:512}]]}");
}

TEST(a_block_in_memory_that_was_there_before_is_a_segment_of_its_own)
{
	give(5ull << 40, 3, 0);
	take(77);
	assert_loads("{segments:[" SEGMENT(0, 5497558138880, 512, 512, "small") USED(5497558138880, 512, 3) "]}] "
		     "device_traces:[[{action:alloc addr:5497558138880 size:3} {action:free_requested addr:77 size:0} "
		     "{action:free_completed addr:77 size:0}]]}");
}

/* It gives back what it keeps, and tries again; only then it fails. */
TEST(the_state_is_that_at_the_first_error)
{
	get(4096, 2 * MB);
	give(4096, 512, 0);
	get(8 * MB, 2 * MB);
	fail_to_get(99 * MB);
	give_back(8 * MB);
	fail_to_get(99 * MB);
	take(4096);
	assert_loads("{segments:[" SEGMENT(0, 4096, 2097152, 512, "small") USED(4096, 512, 512) " "
		     UNUSED(4608, 2096640) "]}] "
		     "device_traces:[[{action:segment_alloc addr:4096 size:2097152} {action:alloc addr:4096 size:512} "
		     "{action:segment_alloc addr:8388608 size:2097152} {action:segment_free addr:8388608 size:2097152} "
		     "{action:oom size:103809024 device_free:0} "
		     "{action:free_requested addr:4096 size:512} {action:free_completed addr:4096 size:512}]]}");
}

TEST(where_there_was_memory_after_all_there_was_no_error)
{
	get(4096, 2 * MB);
	fail_to_get(3 * MB);
	give_back(4096);
	get(8 * MB, 3 * MB);
	give(8 * MB, 512, 0);
	take(8 * MB);
	assert_loads("{segments:[] "
		     "device_traces:[[{action:segment_alloc addr:4096 size:2097152} {action:segment_free addr:4096 size:2097152} "
		     "{action:segment_alloc addr:8388608 size:3145728} {action:alloc addr:8388608 size:512} "
		     "{action:free_requested addr:8388608 size:512} {action:free_completed addr:8388608 size:512}]]}");
}

TEST(without_any_it_is_empty)
{
	assert_loads("{segments:[] device_traces:[[]]}");
}
