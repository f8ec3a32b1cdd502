// SPDX-License-Identifier: BSD-3-Clause
/*
 * Events to rows (the layout is in include/gpuprof/capture.h). Calls are nearly all there is, so
 * they have a row of their own: 5 bytes for a launch like the one before. All else takes an event
 * row. Knows nothing of files or compression.
 */
#include "capture/capture_encode.h"

#include <errno.h>
#include <stdlib.h>

#include "capture/capture_dict.h"
#include "capture/capture_sample.h"
#include "capture/capture_work.h"
#include "base/varint.h"

/* No event writes more than this: definitions, a row of numbers, two texts. */
#define EVENT_ROOM (DICT_ROOM + 2 * (GP_TEXT_MAX + 16) + 512)

struct capture_encoder {
	struct dict dict;
	struct work_dict works;
	uint32_t thread;		/* of the last call row */
	uint8_t *p;			/* where the next row goes */
	struct capture_block *block;	/* NULL: before a block's first event */
	struct capture_block *spare;
};

struct capture_encoder *capture_encoder_new(const struct funcs *funcs)
{
	struct capture_encoder *e = calloc(1, sizeof(*e));
	int err;

	if (!e)
		return NULL;
	err = dict_init(&e->dict, funcs);
	if (!err)
		err = work_dict_init(&e->works);
	if (err) {
		capture_encoder_free(e);
		errno = -err;
		return NULL;
	}
	return e;
}

void capture_encoder_free(struct capture_encoder *e)
{
	if (!e)
		return;
	dict_free(&e->dict);
	work_dict_free(&e->works);
	free(e->block);
	free(e->spare);
	free(e);
}

static int begin_block(struct capture_encoder *e)
{
	struct capture_block *b = e->spare;

	e->spare = NULL;
	if (!b)
		b = malloc(sizeof(*b) + GP_BLOCK_RAW_MAX);
	if (!b)
		return -ENOMEM;
	*b = (struct capture_block){ .type = GP_BLOCK_EVENTS, .start_ns = UINT64_MAX };
	dict_reset(&e->dict);
	work_dict_reset(&e->works);
	e->block = b;
	e->p = b->raw;
	e->thread = DICT_NONE;
	return 0;
}

size_t capture_encoder_bytes(const struct capture_encoder *e)
{
	return e->block ? (size_t)(e->p - e->block->raw) : 0;
}

struct capture_block *capture_encoder_take(struct capture_encoder *e)
{
	struct capture_block *b = e->block;

	if (!b)
		return NULL;
	b->raw_bytes = (size_t)(e->p - b->raw);
	if (b->start_ns == UINT64_MAX)
		b->start_ns = 0;
	e->block = NULL;
	return b;
}

void capture_encoder_give(struct capture_encoder *e, struct capture_block *b)
{
	if (e->spare)
		free(b);
	else
		e->spare = b;
}

static void widen_span(struct capture_block *b, uint64_t start, uint64_t end)
{
	if (start && start < b->start_ns)
		b->start_ns = start;
	if (end && end < b->start_ns)
		b->start_ns = end;
	if (start > b->end_ns)
		b->end_ns = start;
	if (end > b->end_ns)
		b->end_ns = end;
}

/* Sets the thread and signature numbers of the row to come, and its tag bits for them. */
static uint8_t find_numbers(struct capture_encoder *e, const struct event *ev, uint32_t *thread,
			    uint32_t *signature)
{
	struct dict *d = &e->dict;
	struct dict_thread *t = e->thread == DICT_NONE ? NULL : &d->thread[e->thread];
	struct dict_key key;
	uint8_t tag = GP_ROW_CALL;
	uint32_t next;

	*thread = e->thread;
	if (!t || t->tid != ev->tid || t->pid != ev->pid) {
		*thread = dict_thread(d, ev, &e->p);
		t = &d->thread[*thread];
		tag |= GP_ROW_THREAD;
	}
	dict_make_key(&key, ev);
	next = t->signature == DICT_NONE ? DICT_NONE : d->signature[t->signature].next;
	if (next != DICT_NONE && dict_same_key(&d->signature[next].key, &key)) {
		*signature = next;
		return tag;
	}
	*signature = dict_signature(d, ev, &key, &e->p);
	if (t->signature != DICT_NONE)
		d->signature[t->signature].next = *signature;
	return tag | GP_ROW_SIGNATURE;
}

static void put_call(struct capture_encoder *e, const struct event *ev)
{
	uint32_t thread, signature;
	uint8_t tag = find_numbers(e, ev, &thread, &signature);
	struct dict_thread *t = &e->dict.thread[thread];
	struct dict_signature *s = &e->dict.signature[signature];
	uint64_t gap = ev->start_ns - t->last_ns;
	uint8_t *row = e->p, *p = row + 1;

	if (tag & GP_ROW_THREAD)
		p = varint_put(p, thread);
	if (tag & GP_ROW_SIGNATURE)
		p = varint_put(p, signature);
	if ((int64_t)gap < 0) {
		tag |= GP_ROW_BACK;
		gap = -gap;
	}
	p = varint_put(p, gap);
	if (!dict_no_end(ev))
		p = varint_put(p, ev->end_ns - ev->start_ns);
	if (ev->bytes != s->bytes) {
		tag |= GP_ROW_BYTES;
		p = varint_put(p, ev->bytes);
	}
	if (ev->stream != t->stream) {
		tag |= GP_ROW_STREAM;
		p = varint_put(p, ev->stream);
	}
	if (ev->seq != t->seq + 1) {
		tag |= GP_ROW_SEQ;
		p = varint_put(p, ev->seq);
	}
	*row = tag;
	e->p = p;
	e->thread = thread;
	t->seq = ev->seq;
	t->signature = signature;
	t->last_ns = dict_no_end(ev) ? ev->start_ns : ev->end_ns;
	t->stream = ev->stream;
	s->bytes = ev->bytes;
}

static uint32_t field_mask(const struct event *ev)
{
	const struct launch_shape none = { .shared_bytes = 0 };
	uint32_t mask = 0;

	mask |= ev->seq ? GP_FIELD_SEQ : 0;
	mask |= ev->start_ns ? GP_FIELD_START : 0;
	mask |= ev->end_ns ? GP_FIELD_END : 0;
	mask |= ev->result ? GP_FIELD_RESULT : 0;
	mask |= ev->has ? GP_FIELD_HAS : 0;
	mask |= ev->dir ? GP_FIELD_DIR : 0;
	if (event_has_func(ev->kind))
		mask |= GP_FIELD_FUNC;
	else
		mask |= ev->func ? GP_FIELD_FUNC_RAW : 0;
	mask |= ev->bytes ? GP_FIELD_BYTES : 0;
	mask |= ev->stream ? GP_FIELD_STREAM : 0;
	mask |= ev->entity ? GP_FIELD_ENTITY : 0;
	mask |= __builtin_memcmp(&ev->shape, &none, sizeof(none)) ? GP_FIELD_SHAPE : 0;
	mask |= ev->text && !ev->work ? GP_FIELD_TEXT : 0;	/* else it is the work's name */
	mask |= ev->text2 ? GP_FIELD_TEXT2 : 0;
	mask |= ev->stack ? GP_FIELD_STACK : 0;
	mask |= ev->blocked_ns ? GP_FIELD_BLOCKED : 0;
	mask |= ev->work ? GP_FIELD_WORK : 0;
	mask |= ev->device ? GP_FIELD_DEVICE : 0;
	mask |= ev->address ? GP_FIELD_ADDRESS : 0;
	mask |= ev->sample ? GP_FIELD_SAMPLE : 0;
	if (ev->late_ns)
		mask |= ev->late_why == OFF_STOPPED ? GP_FIELD_STOPPED : GP_FIELD_LATE;
	return mask;
}

static uint8_t *put_if(uint8_t *p, bool present, uint64_t v)
{
	return present ? varint_put(p, v) : p;
}

static void put_event(struct capture_encoder *e, const struct event *ev)
{
	uint32_t mask = field_mask(ev), thread = dict_thread(&e->dict, ev, &e->p), func = ev->func;
	uint32_t shape = ev->work ? work_dict_find(&e->works, ev, &e->p) : 0;
	uint8_t *row, *p;

	if (mask & GP_FIELD_FUNC)
		func = dict_func(&e->dict, ev->func, &e->p);
	p = row = dict_row_begin(e->p, GP_TAG_EVENT);
	p = varint_put(p, ev->kind);
	p = varint_put(p, thread);
	p = varint_put(p, mask);
	p = put_if(p, mask & GP_FIELD_SEQ, ev->seq);
	p = put_if(p, mask & GP_FIELD_START, ev->start_ns);
	p = put_if(p, mask & GP_FIELD_END, varint_zigzag((int64_t)(ev->end_ns - ev->start_ns)));
	p = put_if(p, mask & GP_FIELD_RESULT, varint_zigzag(ev->result));
	p = put_if(p, mask & GP_FIELD_HAS, ev->has);
	p = put_if(p, mask & GP_FIELD_DIR, ev->dir);
	p = put_if(p, mask & (GP_FIELD_FUNC | GP_FIELD_FUNC_RAW), func);
	p = put_if(p, mask & GP_FIELD_BYTES, ev->bytes);
	p = put_if(p, mask & GP_FIELD_STREAM, ev->stream);
	p = put_if(p, mask & GP_FIELD_ENTITY, ev->entity);
	if (mask & GP_FIELD_SHAPE)
		p = dict_put_shape(p, &ev->shape);
	if (mask & GP_FIELD_TEXT)
		p = dict_put_text(p, ev->text);
	if (mask & GP_FIELD_TEXT2)
		p = dict_put_text(p, ev->text2);
	p = put_if(p, mask & GP_FIELD_STACK, ev->stack);
	if (ev->work)
		p = work_put(p, shape, ev->work);
	if (ev->device)
		p = work_put_device(p, ev->device);
	p = put_if(p, mask & GP_FIELD_ADDRESS, ev->address);
	p = put_if(p, mask & GP_FIELD_BLOCKED, ev->blocked_ns);
	if (ev->sample)
		p = sample_put(p, ev->sample);
	if (ev->late_ns)
		p = varint_put(varint_put(p, ev->late_ns), ev->after_late_ns);
	e->p = dict_row_end(row, p);
}

static bool is_valid(const struct capture_encoder *e, const struct event *ev)
{
	if (!ev->kind || ev->kind >= EVENT_KIND_END)
		return false;
	return ev->func < (event_has_func(ev->kind) ? e->dict.funcs->n : FUNCS_MAX);
}

static bool is_full(const struct capture_encoder *e)
{
	const struct capture_block *b = e->block;

	return b->events == GP_BLOCK_EVENTS_MAX || dict_full(&e->dict) || work_dict_full(&e->works) ||
	       (size_t)(e->p - b->raw) + EVENT_ROOM > GP_BLOCK_RAW_MAX;
}

int capture_encode(struct capture_encoder *e, const struct event *ev)
{
	if (!is_valid(e, ev))
		return -EINVAL;
	if (!e->block && begin_block(e))
		return -ENOMEM;
	if (is_full(e))
		return -EAGAIN;
	if (event_is_call(ev->kind) && !ev->text && !ev->text2 && !ev->blocked_ns &&
	    !ev->late_ns && !ev->address)
		put_call(e, ev);
	else
		put_event(e, ev);
	e->block->events++;
	if (ev->kind != EVENT_COUNT)
		widen_span(e->block, ev->start_ns, ev->end_ns);
	return 0;
}
