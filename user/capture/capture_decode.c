// SPDX-License-Identifier: BSD-3-Clause
/*
 * Rows to events: the inverse of capture_encode.c, for bytes that anybody may have written. A row
 * is parsed first and its end compared with where it may end afterwards: DECODE_SLACK is more
 * than the numbers of any row take. Texts are checked before they are touched. Knows nothing of
 * files.
 */
#include "capture/capture_decode.h"

#include <gpuprof/capture.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "capture/capture_names.h"
#include "capture/capture_row.h"
#include "capture/capture_sample.h"
#include "capture/capture_work.h"
#include "base/varint.h"

#define NO_NUMBER UINT32_MAX
#define FUNC_DROPPED UINT16_MAX
#define ROW_INVALID 1		/* no error of a sink is positive */

struct thread {
	uint32_t pid, tid, seq;
	uint32_t signature;
	uint64_t last_ns;
	uint64_t stream;
};

/* A call row is its signature's event with a few members replaced, so it is made in place. */
struct signature {
	struct event ev;
	uint32_t next;
	bool no_end;
	bool dropped;		/* its function found no place in the table */
};

/* An event row is the one before it of its kind and fields, with all of them replaced. */
struct form {
	uint64_t mask;		/* GP_FIELD_* */
	struct event ev;
};

struct capture_decoder {
	struct capture_names names;
	uint16_t func[GP_BLOCK_FUNCS_MAX];	/* number in the block -> index in names */
	uint32_t funcs_n;
	struct thread *thread;
	uint32_t threads_n;
	struct signature *signature;
	uint32_t signatures_n;
	struct form form[EVENT_KIND_END + 1];	/* by kind; the last: kinds of later versions */
	struct work_shapes works;
	struct device_facts device;		/* of the event that is delivered */
	struct device_sample sample;
	uint32_t last_thread;			/* of the last call row */
	const struct event_sink *sink;
	struct decode_result *result;
};

_Static_assert(FUNCS_MAX < FUNC_DROPPED, "the index of a function fits");

struct capture_decoder *capture_decoder_new(void)
{
	struct capture_decoder *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->thread = malloc(GP_BLOCK_THREADS_MAX * sizeof(*d->thread));
	d->signature = malloc(GP_BLOCK_SIGNATURES_MAX * sizeof(*d->signature));
	if (!work_shapes_init(&d->works) && d->thread && d->signature)
		return d;
	capture_decoder_free(d);
	errno = ENOMEM;
	return NULL;
}

void capture_decoder_free(struct capture_decoder *d)
{
	if (!d)
		return;
	capture_names_free(&d->names);
	free(d->thread);
	free(d->signature);
	work_shapes_free(&d->works);
	free(d);
}

const struct funcs *capture_decoder_funcs(const struct capture_decoder *d)
{
	return &d->names.funcs;
}

/* What defines or delivers returns 0, ROW_INVALID for a row that cannot be, or an error that ends
 * the reading: the sink's, or -ENOMEM. */

static int define_func(struct capture_decoder *d, struct row *r)
{
	struct func f = { .name = NULL };
	uint64_t class = row_get(r);
	int index;

	/* A class that a later version added. */
	f.class = class < CLASS_END ? (uint8_t)class : CLASS_OTHER;
	f.two = row_get(r) != 0;
	f.library = row_text(r);
	f.name = f.library ? row_text(r) : NULL;
	if (!f.name || d->funcs_n == GP_BLOCK_FUNCS_MAX)
		return ROW_INVALID;
	index = capture_names_find(&d->names, &f);
	if (index == -ENOMEM)
		return index;
	d->func[d->funcs_n++] = index < 0 ? FUNC_DROPPED : (uint16_t)index;
	return 0;
}

static int define_thread(struct capture_decoder *d, struct row *r)
{
	struct thread t = { .signature = NO_NUMBER };
	bool ok = row_u32(r, &t.pid);

	ok &= row_u32(r, &t.tid);
	t.last_ns = row_get(r);
	ok &= row_u32(r, &t.seq);
	t.stream = row_get(r);
	if (!ok || !row_ended_well(r) || d->threads_n == GP_BLOCK_THREADS_MAX)
		return ROW_INVALID;
	d->thread[d->threads_n++] = t;
	return 0;
}

static int define_signature(struct capture_decoder *d, struct row *r)
{
	struct signature s = { .next = NO_NUMBER };
	bool ok = row_u8(r, &s.ev.kind);
	uint64_t func;

	s.no_end = row_get(r) & GP_SIGNATURE_NO_END;
	func = row_get(r);
	ok &= row_u8(r, &s.ev.has);
	ok &= row_u8(r, &s.ev.dir);
	ok &= row_s32(r, &s.ev.result);
	ok &= row_shape(r, &s.ev.shape);
	s.ev.entity = row_get(r);
	s.ev.bytes = row_get(r);
	if (r->p < r->end)
		s.ev.stack = row_get(r);
	if (!ok || !row_ended_well(r) || !s.ev.kind || func >= d->funcs_n ||
	    d->signatures_n == GP_BLOCK_SIGNATURES_MAX)
		return ROW_INVALID;
	s.ev.func = d->func[func];
	s.dropped = s.ev.func == FUNC_DROPPED;
	d->signature[d->signatures_n++] = s;
	return 0;
}

static int deliver(struct capture_decoder *d, const struct event *ev, bool dropped)
{
	d->result->rows++;
	if (dropped) {
		d->result->dropped++;
		return 0;
	}
	/* Kinds of later versions. */
	if (ev->kind >= EVENT_KIND_END)
		return 0;
	return d->sink->push(d->sink->ctx, ev);
}

static bool get_func(struct capture_decoder *d, struct row *r, uint64_t mask, struct event *ev)
{
	uint64_t func = row_get(r);

	if (mask & GP_FIELD_FUNC_RAW) {
		ev->func = (uint16_t)func;
		return !(mask & GP_FIELD_FUNC) && func < FUNCS_MAX;
	}
	if (func >= d->funcs_n)
		return false;
	ev->func = d->func[func];
	return true;
}

/* The fields after mask, in the order of its bits. */
static bool get_fields(struct capture_decoder *d, struct row *r, uint64_t mask, struct event *ev)
{
	bool ok = true;

	if (mask & GP_FIELD_SEQ)
		ok &= row_u32(r, &ev->seq);
	if (mask & GP_FIELD_START)
		ev->start_ns = row_get(r);
	if (mask & GP_FIELD_END)
		ev->end_ns = ev->start_ns + (uint64_t)varint_unzigzag(row_get(r));
	if (mask & GP_FIELD_RESULT)
		ok &= row_s32(r, &ev->result);
	if (mask & GP_FIELD_HAS)
		ok &= row_u8(r, &ev->has);
	if (mask & GP_FIELD_DIR)
		ok &= row_u8(r, &ev->dir);
	if (mask & (GP_FIELD_FUNC | GP_FIELD_FUNC_RAW))
		ok &= get_func(d, r, mask, ev);
	if (mask & GP_FIELD_BYTES)
		ev->bytes = row_get(r);
	if (mask & GP_FIELD_STREAM)
		ev->stream = row_get(r);
	if (mask & GP_FIELD_ENTITY)
		ev->entity = row_get(r);
	if (mask & GP_FIELD_SHAPE)
		ok &= row_shape(r, &ev->shape);
	if (mask & GP_FIELD_TEXT)
		ok &= (ev->text = row_text(r)) != NULL;
	if (mask & GP_FIELD_TEXT2)
		ok &= (ev->text2 = row_text(r)) != NULL;
	if (mask & GP_FIELD_STACK)
		ev->stack = row_get(r);
	if (mask & GP_FIELD_WORK)
		ok &= work_get(&d->works, r, ev);
	if (mask & GP_FIELD_DEVICE) {
		ok &= work_get_device(r, &d->device);
		ev->device = &d->device;
	}
	if (mask & GP_FIELD_ADDRESS)
		ev->address = row_get(r);
	if (mask & GP_FIELD_BLOCKED)
		ev->blocked_ns = row_get(r);
	if (mask & GP_FIELD_SAMPLE) {
		ok &= sample_get(r, &d->sample);
		ev->sample = &d->sample;
	}
	if (mask & (GP_FIELD_LATE | GP_FIELD_STOPPED)) {
		ev->late_ns = row_get(r);
		ev->after_late_ns = row_get(r);
		ev->late_why = mask & GP_FIELD_STOPPED ? OFF_STOPPED : OFF_RUNQUEUE;
	}
	return ok && row_ended_well(r);
}

/* Its other members are 0. */
static struct event *find_form(struct capture_decoder *d, uint8_t kind, uint64_t mask)
{
	struct form *f = &d->form[kind];

	if (f->mask != mask)
		*f = (struct form){ .mask = mask };
	f->ev.kind = kind;
	return &f->ev;
}

static int take_event(struct capture_decoder *d, struct row *r)
{
	uint64_t kind = row_get(r), thread = row_get(r), mask = row_get(r);
	struct event *ev;

	if (!row_ended_well(r) || !kind || thread >= d->threads_n)
		return ROW_INVALID;
	ev = find_form(d, kind < EVENT_KIND_END ? (uint8_t)kind : EVENT_KIND_END, mask);
	ev->pid = d->thread[thread].pid;
	ev->tid = d->thread[thread].tid;
	if (!get_fields(d, r, mask, ev))
		return ROW_INVALID;
	if (event_has_func(ev->kind) && !(mask & GP_FIELD_FUNC))
		return ROW_INVALID;
	return deliver(d, ev, mask & GP_FIELD_FUNC && ev->func == FUNC_DROPPED);
}

static int take_row(struct capture_decoder *d, uint8_t tag, struct row *r)
{
	switch (tag) {
	case GP_TAG_EVENT:
		return take_event(d, r);
	case GP_TAG_FUNC:
		return define_func(d, r);
	case GP_TAG_THREAD:
		return define_thread(d, r);
	case GP_TAG_SIGNATURE:
		return define_signature(d, r);
	case GP_TAG_WORK:
		return work_shapes_define(&d->works, r) ? 0 : ROW_INVALID;
	default:
		return 0;	/* a later version's; its length says where the next row is */
	}
}

/* The row's thread and signature, and *p behind their numbers; NULL: they cannot be. */
static struct signature *find_signature(struct capture_decoder *d, uint8_t tag,
					const uint8_t **p, struct thread **thread)
{
	uint64_t number = d->last_thread;
	struct thread *t;
	uint32_t before;

	if (tag & GP_ROW_THREAD)
		*p = varint_get(*p, &number);
	if (number >= d->threads_n)
		return NULL;
	d->last_thread = (uint32_t)number;
	t = *thread = &d->thread[number];
	before = t->signature;
	if (tag & GP_ROW_SIGNATURE)
		*p = varint_get(*p, &number);
	else
		number = before == NO_NUMBER ? NO_NUMBER : d->signature[before].next;
	if (number >= d->signatures_n)
		return NULL;
	if (before != NO_NUMBER)
		d->signature[before].next = (uint32_t)number;
	t->signature = (uint32_t)number;
	return &d->signature[number];
}

static int take_call(struct capture_decoder *d, const uint8_t **at, const uint8_t *end)
{
	const uint8_t *p = *at;
	uint8_t tag = *p++;
	struct thread *t;
	struct signature *s = find_signature(d, tag, &p, &t);
	uint64_t gap, dur = 0, seq;
	struct event *ev;

	if (!s || tag & GP_ROW_RESERVED)
		return ROW_INVALID;
	ev = &s->ev;
	p = varint_get(p, &gap);
	if (!s->no_end)
		p = varint_get(p, &dur);
	if (tag & GP_ROW_BYTES)
		p = varint_get(p, &ev->bytes);
	if (tag & GP_ROW_STREAM)
		p = varint_get(p, &t->stream);
	seq = (uint32_t)(t->seq + 1);
	if (tag & GP_ROW_SEQ)
		p = varint_get(p, &seq);
	if (p > end || seq > UINT32_MAX)
		return ROW_INVALID;
	ev->pid = t->pid;
	ev->tid = t->tid;
	ev->seq = t->seq = (uint32_t)seq;
	ev->start_ns = tag & GP_ROW_BACK ? t->last_ns - gap : t->last_ns + gap;
	t->last_ns = ev->start_ns + dur;
	ev->end_ns = s->no_end ? 0 : t->last_ns;
	ev->stream = t->stream;
	*at = p;
	return deliver(d, ev, s->dropped);
}

/* A row with a length: *at moves to where it says the next one is. */
static int take_long(struct capture_decoder *d, const uint8_t **at, const uint8_t *end)
{
	uint8_t tag = **at;
	struct row r;
	uint64_t len;

	r.p = varint_get(*at + 1, &len);
	if (!tag || r.p > end || len > (uint64_t)(end - r.p))
		return ROW_INVALID;
	r.end = *at = r.p + len;
	return take_row(d, tag, &r);
}

int capture_decode(struct capture_decoder *d, const uint8_t *raw, size_t len, uint32_t max_events,
		   const struct event_sink *sink, struct decode_result *result)
{
	const uint8_t *p = raw, *end = raw + len;
	int err = 0;

	*result = (struct decode_result){ .rows = 0 };
	d->sink = sink;
	d->result = result;
	d->funcs_n = d->threads_n = d->signatures_n = d->works.n = 0;
	d->last_thread = NO_NUMBER;
	while (p < end && !err) {
		if (*p & GP_ROW_CALL) {
			if (result->rows == max_events)
				break;
			err = take_call(d, &p, end);
		} else {
			if (result->rows == max_events && *p == GP_TAG_EVENT)
				break;
			err = take_long(d, &p, end);
		}
	}
	result->invalid = err == ROW_INVALID || p < end;
	return err == ROW_INVALID ? 0 : err;
}
