// SPDX-License-Identifier: BSD-3-Clause
/* Decodes chunk by chunk. A sink that failed stops being fed, but the rings are emptied all the
 * same, so that the counts stay true. */
#include "source/bpf/bpf_source.h"

#include <string.h>

static void push(struct bpf_source *l, const struct event *ev)
{
	if (!l->err)
		l->err = l->sink.push(l->sink.ctx, ev);
}

static void note(struct bpf_source *l, enum decode_status status, uint8_t kind)
{
	if (status == DECODE_INVALID)
		l->invalid++;
	else if (status == DECODE_SKIP)
		l->skipped++;
	if (kind < GP_KINDS)
		l->received[kind]++;
}

static void pump_item(struct bpf_source *l, const struct drain_item *item)
{
	const uint8_t *data = (const uint8_t *)(item + 1);
	char comm[GP_COMM_LEN + 1];
	struct decode_off_texts texts;
	enum decode_status status;
	struct event ev;

	switch (item->kind) {
	case DRAIN_CALL:
		if (item->len && data[0] == GP_OFF)
			status = decode_off(data, item->len, &ev, &texts);
		else
			status = decode_call(l->decoder, data, item->len, &ev);
		note(l, status, item->len ? data[0] : 0);
		break;
	case DRAIN_TASK:
		status = decode_task(data, item->len, &ev, comm);
		note(l, status, item->len ? data[0] : 0);
		break;
	case DRAIN_MARK:
		ev = (struct event){ .kind = EVENT_WATERMARK };
		memcpy(&ev.end_ns, data, sizeof(ev.end_ns));
		status = DECODE_OK;
		break;
	default:
		return;
	}
	if (status == DECODE_OK && !l->err)
		l->err = l->sink.push(l->sink.ctx, &ev);
}

int bpf_source_pump(struct bpf_source *l)
{
	struct drain_queue *q = drain_queue_of(l->drain);
	struct drain_chunk *c;

	while ((c = drain_queue_take(q))) {
		for (uint32_t at = 0; at < c->used;) {
			const struct drain_item *item = (const struct drain_item *)(c->data + at);

			pump_item(l, item);
			at += (uint32_t)sizeof(*item) + ((item->len + 7) & ~7u);
		}
		drain_queue_release(q, c);
	}
	return l->err;
}

void bpf_source_push_state(struct bpf_source *l, const void *rec, size_t len, uint64_t now_ns)
{
	struct event ev;

	if (decode_call(l->decoder, rec, len, &ev) != DECODE_OK)
		return;
	push(l, &(struct event){ .kind = EVENT_TAIL, .pid = ev.pid, .tid = ev.tid, .seq = ev.seq,
				 .end_ns = now_ns });
	if (ev.kind != EVENT_OPEN)
		return;
	ev.end_ns = now_ns;
	push(l, &ev);
}

void bpf_source_push_off(struct bpf_source *l, const void *rec, size_t len, uint64_t until_ns)
{
	struct decode_off_texts texts;
	struct event ev;
	uint64_t over;

	if (decode_off(rec, len, &ev, &texts) != DECODE_OK || ev.start_ns >= until_ns)
		return;
	over = ev.end_ns > until_ns ? ev.end_ns - until_ns : 0;
	ev.end_ns -= over;
	ev.off.woken_ns -= over < ev.off.woken_ns ? over : ev.off.woken_ns;
	push(l, &ev);
}
