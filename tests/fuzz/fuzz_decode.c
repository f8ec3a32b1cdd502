// SPDX-License-Identifier: BSD-3-Clause
/*
 * Any bytes as what the drain delivers: records of both rings, final states, marks. What the
 * decoder lets through keeps its promises, and the model's books balance whatever came.
 *
 * The input is a sequence of items: what it is, how many bytes follow (cut at the end), the bytes.
 * ITEM_CALL and ITEM_OFF build a record that is nearly right out of few bytes, so that books get deep.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "event/registry.h"
#include "source/bpf/decode.h"
#include "source/bpf/drain.h"
#include "model/snapshot.h"

enum item {
	ITEM_RAW_CALL, ITEM_RAW_TASK, ITEM_STATE, ITEM_CALL, ITEM_EVENT, ITEM_READ, ITEM_CUT,
	ITEM_RAW_OFF, ITEM_OFF,
	ITEM_END
};

struct run {
	const struct decoder *decoder;
	struct model *model;
	struct snapshot *before;	/* readings are of the time since; NULL: of all */
	struct registry *registry;
	uint64_t clock_ns;
	uint32_t seq[4];
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int holds)
{
	if (!holds)
		abort();
}

static int push(void *ctx, const struct event *ev)
{
	struct run *r = ctx;
	struct event own;

	check(ev->kind > 0 && ev->kind < EVENT_KIND_END);
	check(ev->func < decoder_funcs(r->decoder)->n);
	check(decoder_funcs(r->decoder)->v[ev->func].class < CLASS_END);
	check(!event_is_call(ev->kind) || !(ev->has & HAS_DIR) || ev->call.dir <= COPY_DEFAULT);
	check(ev->kind != EVENT_OFF || ev->off.reason < OFF_REASON_END || off_is_in_call(ev->off.reason) ||
	      ev->off.reason == OFF_NO_END);
	own = *ev;
	check(!registry_stamp(r->registry, &own));
	return model_push(r->model, &own);
}

static void push_call(struct run *r, const void *rec, size_t len)
{
	struct decode_off_texts texts;
	struct event ev;

	if (decode_call(r->decoder, rec, len, &ev, &texts) != DECODE_OK || ev.kind == EVENT_OFF)
		return;
	if (ev.kind == EVENT_FRAME) {
		check(ev.frame.number >= GP_OPS_FIRST);
		check(ev.frame.flags == FRAME_MODULE || ev.frame.flags == FRAME_SHAPE ||
		      ev.frame.flags == FRAME_GEMM);
		check(strlen(ev.frame.function) < (ev.frame.flags == FRAME_MODULE ? GP_MODULE_NAME : sizeof(texts.what)));
	} else {
		check(ev.kind == EVENT_TAIL || ev.kind == EVENT_OP || ev.kind == EVENT_ASKS ||
		      (ev.kind >= EVENT_CALL && ev.kind <= EVENT_OPEN));
		check(ev.end_ns >= ev.start_ns && ev.tid && ev.pid);
		check(ev.kind == EVENT_CALL || !(ev.has & HAS_RESULT));
		check(ev.kind == EVENT_CALL || ev.kind == EVENT_OP || ev.kind == EVENT_ASKS || !(ev.has & HAS_END));
	}
	check(push(r, &ev) == 0);
}

static void push_task(struct run *r, const void *rec, size_t len)
{
	char comm[GP_COMM_LEN + 1];
	struct event ev;

	if (decode_task(rec, len, &ev, comm) != DECODE_OK)
		return;
	check(ev.kind == EVENT_THREAD || (ev.kind >= EVENT_EXIT && ev.kind <= EVENT_PROCESS));
	check(ev.end_ns >= ev.start_ns && ev.pid && ev.tid);
	check(strlen(ev.task.comm) <= GP_COMM_LEN);
	check(push(r, &ev) == 0);
}

static void push_state(struct run *r, const void *rec, size_t len)
{
	struct bpf_source live = { .decoder = r->decoder, .sink = { .push = push, .ctx = r } };

	bpf_source_push_state(&live, rec, len, r->clock_ns);
	check(!live.err);
}

/* kind and flags, thread, row, numbers skipped (and a flag), time since the last one (signed), duration */
static void push_near_call(struct run *r, const uint8_t *b, size_t len)
{
	struct { struct gp_call head; uint64_t words[GP_WORDS_LARGE + GP_WORDS_MORE]; } rec;
	uint8_t in[8] = { 0 };
	uint32_t *seq;

	memcpy(in, b, len < sizeof(in) ? len : sizeof(in));
	seq = &r->seq[in[1] % 4];
	*seq += in[3] < 128 ? 1 : in[3] - 126u;
	r->clock_ns += (uint64_t)(int64_t)(int16_t)(in[4] | in[5] << 8);
	memset(&rec, in[7], sizeof(rec));
	rec.head = (struct gp_call){
		.kind = (uint8_t)(in[0] % 4), .flags = (uint8_t)(in[0] >> 4 | (in[2] & 0x80) >> 3 | (in[3] & 0x80) >> 2),
		.row = in[2], .seq = *seq,
		.start_ns = r->clock_ns, .dur_lo_ns = in[6], .pid = 10 + in[1] / 4 % 2,
		.tid = 10 + in[1] % 4,
	};
	if (rec.head.kind)
		push_call(r, &rec, sizeof(rec));
	else
		push_state(r, &rec, sizeof(rec));
	r->clock_ns += in[6];
}

static void push_off(struct run *r, const void *rec, size_t len)
{
	struct decode_off_texts texts;
	struct event ev;

	if (decode_call(r->decoder, rec, len, &ev, &texts) != DECODE_OK || ev.kind != EVENT_OFF)
		return;
	check(ev.kind == EVENT_OFF && ev.end_ns >= ev.start_ns && ev.pid && ev.tid);
	check(off_is_in_call(ev.off.reason) || ev.off.woken_ns <= ev.end_ns - ev.start_ns);
	check((!ev.off.waker_name || strlen(ev.off.waker_name) <= GP_COMM_LEN + 1) &&
	      (!ev.off.syscall || strlen(ev.off.syscall) < sizeof(texts.what)));
	check(push(r, &ev) == 0);
}

/* flags, thread, system call, numbers skipped, time since the last one, duration, woken, state */
static void push_near_off(struct run *r, const uint8_t *b, size_t len)
{
	struct gp_off rec = { .kind = GP_OFF };
	uint8_t in[8] = { 0 };
	uint32_t *seq;

	memcpy(in, b, len < sizeof(in) ? len : sizeof(in));
	seq = &r->seq[in[1] % 4];
	rec.flags = in[0] & 127;
	if (!(rec.flags & GP_OFF_STILL))
		*seq += in[3] < 128 ? 1 : in[3] - 126u;
	rec.seq = *seq;
	rec.syscall = (int16_t)(in[2] - 1);
	rec.start_ns = r->clock_ns += (uint64_t)(int64_t)(int8_t)in[4];
	rec.dur_lo_ns = in[5];
	rec.pid = 10 + in[1] / 4 % 2;
	rec.tid = 10 + in[1] % 4;
	rec.woken_ns = rec.start_ns + in[6];
	rec.waker_tid = in[6] % 2;
	rec.state = in[7];
	rec.file = in[7];
	push_off(r, &rec, sizeof(rec));
	if (!(rec.flags & GP_OFF_STILL))
		r->clock_ns += in[5];
}

/* What the session itself says: START, STOP, UNARMED and so on, with any times. */
static void push_event(struct run *r, const uint8_t *b, size_t len)
{
	struct { uint8_t kind, pid, tid, seq; int16_t start, end; } in = { 0 };
	struct event ev = { .fact = { "key", "value" } };

	memcpy(&in, b, len < sizeof(in) ? len : sizeof(in));
	ev.kind = in.kind % EVENT_KIND_END;
	if (!ev.kind)
		return;
	ev.pid = 10 + in.pid % 3;
	ev.tid = 10 + in.tid % 4;
	ev.seq = in.seq;
	ev.start_ns = r->clock_ns + (uint64_t)(int64_t)in.start;
	ev.end_ns = r->clock_ns + (uint64_t)(int64_t)in.end;
	check(push(r, &ev) == 0);
}

static void read_threads(const struct run *r, uint64_t now_ns)
{
	struct snapshot *snap = snapshot_take(r->model, now_ns);

	check(snap != NULL);
	if (r->before)
		snapshot_subtract(snap, r->before);
	for (size_t i = 0; i < snap->threads.n; i++) {
		const struct snapshot_thread t = snap->threads.v[i];
		uint64_t sum = 0;

		check(t.book.close_ns >= t.book.open_ns);
		for (int k = 0; k < BUCKET_END; k++) {
			check(t.book.ns[k] <= t.book.close_ns - t.book.open_ns);
			sum += t.book.ns[k];
		}
		check(sum == t.book.close_ns - t.book.open_ns);
		for (int k = 0; k < CLASS_END; k++)
			check(t.book.blocked_ns[k] <= t.book.ns[k]);
	}
	snapshot_free(snap);
}

static void push_item(struct run *r, unsigned int item, const uint8_t *b, size_t len)
{
	uint64_t aligned[32] = { 0 };		/* items of the queue are */

	memcpy(aligned, b, len < sizeof(aligned) ? len : sizeof(aligned));
	switch (item % ITEM_END) {
	case ITEM_RAW_CALL:
		push_call(r, aligned, len);
		break;
	case ITEM_RAW_TASK:
		push_task(r, aligned, len);
		break;
	case ITEM_STATE:
		push_state(r, aligned, len);
		break;
	case ITEM_CALL:
		push_near_call(r, b, len);
		break;
	case ITEM_RAW_OFF:
		memset(aligned, GP_OFF, 1);
		push_off(r, aligned, len);
		break;
	case ITEM_OFF:
		push_near_off(r, b, len);
		break;
	case ITEM_EVENT:
		push_event(r, b, len);
		break;
	case ITEM_READ:
		read_threads(r, len ? r->clock_ns - b[0] : 0);
		break;
	case ITEM_CUT:
		snapshot_free(r->before);
		r->before = snapshot_take(r->model, r->clock_ns - (len ? b[0] : 0));
		check(r->before != NULL);
		break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct decoder *decoder;
	struct run r = { .clock_ns = 1000000 };

	log_threshold = LOG_ERROR;
	if (!decoder)
		decoder = decoder_new();
	check(decoder != NULL);
	r.decoder = decoder;
	r.model = model_new(decoder_funcs(decoder));
	r.registry = registry_new();
	check(r.model != NULL);
	model_use_launches(r.model);
	while (size >= 2) {
		size_t len = data[1] < size - 2 ? data[1] : size - 2;

		push_item(&r, data[0], data + 2, len);
		data += 2 + len;
		size -= 2 + len;
	}
	read_threads(&r, 0);
	read_threads(&r, 1);
	read_threads(&r, UINT64_MAX);
	snapshot_free(r.before);
	model_free(r.model);
	registry_free(r.registry);
	return 0;
}
