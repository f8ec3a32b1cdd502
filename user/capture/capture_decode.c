// SPDX-License-Identifier: BSD-3-Clause
/*
 * Rows to events: the inverse of capture_encode.c, for bytes that anybody may have written. Numbers
 * are read without a look at the row's end: a row is parsed first, and its end compared with where
 * it may end before a number is used for anything but another number. DECODE_SLACK is more than the
 * numbers of any row take. Texts are checked before they are touched. Knows nothing of files.
 */
#include "capture/capture_codec.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/map.h"
#include "base/varint.h"
#include "event/schema.h"

#define NONE UINT32_MAX
#define FUNC_DROPPED UINT16_MAX
#define ROW_INVALID 1		/* no error of a sink is positive */

_Static_assert(FUNCS_MAX < FUNC_DROPPED, "the index of a function fits");
_Static_assert(VARINT_MAX * (3 * EVENT_FIELDS_MAX + 32 + 16) <= DECODE_SLACK,
	       "no row's numbers take more: header, fields, values of a sample");

struct thread {
	uint32_t process, pid, tid, seq;
	uint32_t shape;
	uint64_t last_ns;
	uint64_t stream;
};

/* A row of a shape is the shape's event with a few members replaced, so it is made in place. */
struct shape {
	uint32_t next;		/* which followed it last in a thread */
	bool no_end;
	bool is_call;		/* ev is as the last call row of it left it, or none was made yet */
	uint8_t skipped;	/* SKIP_* */
	struct event ev;	/* kind 0: of a later version */
	uint64_t mask;		/* GP_FIELD_*: fields that ev has from an event row; 0: none */
	uint64_t bytes;		/* of the last call row, while ev is an event row's */
};

/* Why events are counted and not delivered. */
enum { SKIP_NONE, SKIP_LATER_KIND, SKIP_NO_FUNC };	/* no room in the table of functions */

/* A kind. An event row of it without a shape is the one before it, with all fields replaced, if
 * it has the same fields. */
struct form {
	const struct event_field *fields;
	uint64_t known;		/* of the fields, as bits; later versions' come behind them */
	uint64_t shared;	/* of these, those of shapes */
	uint64_t last_ns;
	uint64_t mask;		/* of the row before; GP_FIELD_* */
	struct event ev;
};

struct capture_decoder {
	struct funcs funcs;			/* of all blocks, each once */
	struct map func_index;			/* hash -> index in funcs */
	uint16_t func[GP_BLOCK_FUNCS_MAX];	/* number in the block -> index in funcs */
	uint32_t funcs_n;
	struct thread *thread;
	uint32_t threads_n;
	uint32_t (*process)[2];			/* handle, pid */
	uint32_t processes_n;
	struct shape *shape;
	uint32_t shapes_n;
	struct form form[EVENT_KIND_END];	/* by kind */
	uint32_t last_thread;			/* of the last call row */
	const struct event_sink *sink;
	struct decode_result *result;
};

static void init_form(struct form *f, unsigned int kind)
{
	const struct event_schema *s = event_schema(kind);

	f->fields = s ? s->fields : NULL;
	f->known = s ? (1ull << s->n) - 1 : 0;
	f->shared = event_schema_shared(s);
	f->ev.kind = s ? (uint8_t)kind : 0;
}

struct capture_decoder *capture_decoder_new(void)
{
	struct capture_decoder *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->thread = malloc(GP_BLOCK_THREADS_MAX * sizeof(*d->thread));
	d->process = malloc(GP_BLOCK_THREADS_MAX * sizeof(*d->process));
	d->shape = malloc(GP_BLOCK_SHAPES_MAX * sizeof(*d->shape));
	for (unsigned int i = 0; i < EVENT_KIND_END; i++)
		init_form(&d->form[i], i);
	if (d->thread && d->process && d->shape)
		return d;
	capture_decoder_free(d);
	errno = ENOMEM;
	return NULL;
}

void capture_decoder_free(struct capture_decoder *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < d->funcs.n; i++) {
		free((char *)d->funcs.v[i].name);
		free((char *)d->funcs.v[i].library);
	}
	map_free(&d->func_index);
	free(d->thread);
	free(d->process);
	free(d->shape);
	free(d);
}

const struct funcs *capture_decoder_funcs(const struct capture_decoder *d)
{
	return &d->funcs;
}

/* ---- fields --------------------------------------------------------------------------------- */

struct row {
	const uint8_t *p;
	const uint8_t *end;
};

static inline uint64_t get(struct row *r)
{
	uint64_t v;

	r->p = varint_get(r->p, &v);
	return v;
}

/* A number that nearly always takes one byte: what follows does not wait for its length. */
static inline uint64_t get_small(struct row *r)
{
	return __builtin_expect(*r->p & 1, 1) ? *r->p++ >> 1 : get(r);
}

static inline bool ended_well(const struct row *r)
{
	return r->p <= r->end;
}

static const char *get_text(struct row *r)
{
	uint64_t len = get(r);
	const char *s = (const char *)r->p;

	if (!ended_well(r) || len > GP_TEXT_MAX || len >= (uint64_t)(r->end - r->p))
		return NULL;
	if (strnlen(s, len + 1) != len)
		return NULL;
	r->p += len + 1;
	return s;
}

static inline bool get_number(struct row *r, unsigned int size, void *at)
{
	uint64_t v = get(r);

	switch (size) {
	case 1: *(uint8_t *)at = (uint8_t)v; return v <= UINT8_MAX;
	case 2: *(uint16_t *)at = (uint16_t)v; return v <= UINT16_MAX;
	case 4: *(uint32_t *)at = (uint32_t)v; return v <= UINT32_MAX;
	default: *(uint64_t *)at = v; return true;
	}
}

static bool get_chars(struct row *r, char *at, size_t size)
{
	const char *s = get_text(r);
	size_t len = s ? strlen(s) : size;

	if (len >= size)
		return false;
	memset(at, 0, size);
	memcpy(at, s, len + 1);
	return true;
}

/* Values that a later version added are read over. */
static bool get_values(struct row *r, struct device_sample *s)
{
	uint32_t has;
	bool ok = get_number(r, sizeof(has), &has);

	memset(s, 0, sizeof(*s));
	s->has = has & ((1u << SAMPLE_FIELDS) - 1);
	for (unsigned int i = 0; i < 32; i++) {
		uint64_t v = has >> i & 1 ? get(r) : 0;

		if (i < SAMPLE_FIELDS)
			s->v[i] = v;
	}
	return ok;
}

/* One that is not a single number. */
static __attribute__((noinline)) bool get_other(struct row *r, struct event *ev,
						const struct event_field *f)
{
	void *at = event_field_at(ev, f);
	bool ok = true;
	int64_t v;

	switch (f->coding) {
	case FIELD_NUMBER:
		for (unsigned int i = 0; i < f->count; i++)
			ok &= get_number(r, f->size, (char *)at + (size_t)i * f->size);
		return ok;
	case FIELD_SIGNED:
		v = varint_unzigzag(get(r));
		*(int32_t *)at = (int32_t)v;
		return v >= INT32_MIN && v <= INT32_MAX;
	case FIELD_TEXT:
		return (*(const char **)at = get_text(r)) != NULL;
	case FIELD_CHARS:
		return get_chars(r, at, f->size);
	case FIELD_VALUES:
		return get_values(r, at);
	default:
		return false;	/* in no capture */
	}
}

/* The rest of the row. r is a copy, so that its place can be in a register. */
static inline bool get_fields(struct row r, const struct event_field *fields, uint64_t bits,
		       struct event *ev)
{
	for (; bits; bits &= bits - 1) {
		const struct event_field *f = &fields[__builtin_ctzll(bits)];
		struct row rest = r;
		bool ok;

		if (__builtin_expect(f->coding == FIELD_NUMBER && f->count == 1, 1)) {
			ok = get_number(&r, f->size, event_field_at(ev, f));
		} else {
			ok = get_other(&rest, ev, f);
			r.p = rest.p;
		}
		if (!ok)
			return false;
	}
	return ended_well(&r);
}

/* ---- definitions ---------------------------------------------------------------------------- */

/* Functions that take a row return 0, ROW_INVALID for a row that cannot be, or an error that ends
 * the reading: the sink's, or -ENOMEM. */

/* The index of a function equal in all parts, made if need be; -ENOSPC: the table is full. */
static int find_func(struct capture_decoder *d, const struct func *f)
{
	uint64_t hash = XXH64(f->library, strlen(f->library) + 1, f->class | f->two << 8);
	struct func *to = &d->funcs.v[d->funcs.n];
	const struct func *known;
	struct map_slot *slot;

	hash = XXH64(f->name, strlen(f->name), hash);
	slot = map_find(&d->func_index, hash);
	/* Two functions of one hash are made on purpose; the second has no place. */
	if (slot) {
		known = &d->funcs.v[slot->value];
		return known->class == f->class && known->two == f->two &&
		       !strcmp(known->name, f->name) && !strcmp(known->library, f->library) ?
		       (int)slot->value : -ENOSPC;
	}
	if (d->funcs.n == FUNCS_MAX)
		return -ENOSPC;
	*to = (struct func){ strdup(f->name), strdup(f->library), f->class, f->two };
	slot = map_put(&d->func_index, hash, NULL);
	if (!slot || !to->name || !to->library) {
		free((char *)to->name);
		free((char *)to->library);
		*to = (struct func){ .name = NULL };
		map_del(&d->func_index, hash);
		return -ENOMEM;
	}
	slot->value = d->funcs.n;
	return (int)d->funcs.n++;
}

static int define_func(struct capture_decoder *d, struct row *r)
{
	struct func f = { .name = NULL };
	uint64_t class = get(r);
	int index;

	/* A class that a later version added. */
	f.class = class < CLASS_END ? (uint8_t)class : CLASS_OTHER;
	f.two = get(r) != 0;
	f.library = get_text(r);
	f.name = f.library ? get_text(r) : NULL;
	if (!f.name || d->funcs_n == GP_BLOCK_FUNCS_MAX)
		return ROW_INVALID;
	index = find_func(d, &f);
	if (index == -ENOMEM)
		return index;
	d->func[d->funcs_n++] = index < 0 ? FUNC_DROPPED : (uint16_t)index;
	return 0;
}

static int define_process(struct capture_decoder *d, struct row *r)
{
	uint32_t handle, pid;
	bool ok = get_number(r, sizeof(handle), &handle);

	ok &= get_number(r, sizeof(pid), &pid);
	if (!ok || !ended_well(r) || d->processes_n == GP_BLOCK_THREADS_MAX)
		return ROW_INVALID;
	d->process[d->processes_n][0] = handle;
	d->process[d->processes_n++][1] = pid;
	return 0;
}

static int define_thread(struct capture_decoder *d, struct row *r)
{
	struct thread t = { .shape = NONE };
	uint64_t process = get(r), tid = get(r);
	bool ok = process < d->processes_n;

	if (ok) {
		t.process = d->process[process][0];
		t.pid = d->process[process][1];
		tid = (uint64_t)varint_unzigzag(tid) + t.pid;
		t.tid = (uint32_t)tid;
		ok = tid <= UINT32_MAX;
	}
	t.last_ns = get(r);
	ok &= get_number(r, sizeof(t.seq), &t.seq);
	t.stream = get(r);
	if (!ok || !ended_well(r) || d->threads_n == GP_BLOCK_THREADS_MAX)
		return ROW_INVALID;
	d->thread[d->threads_n++] = t;
	return 0;
}

static int define_shape(struct capture_decoder *d, struct row *r)
{
	uint64_t kind = get(r), flags = get(r), func = get(r), mask;
	const struct event_schema *s = event_schema(kind < EVENT_KIND_END ? (unsigned int)kind : 0);
	const struct form *f = s ? &d->form[kind] : NULL;
	struct shape shape = { .next = NONE, .no_end = flags & GP_SHAPE_NO_END,
			       .is_call = true, .skipped = SKIP_LATER_KIND };
	bool ok = get_number(r, sizeof(shape.ev.has), &shape.ev.has);

	mask = get(r);
	if (!ok || !ended_well(r) || !kind || d->shapes_n == GP_BLOCK_SHAPES_MAX)
		return ROW_INVALID;
	if (s) {
		shape.ev.kind = (uint8_t)kind;
		if (event_has_func(shape.ev.kind) != (func > 0) || func > d->funcs_n ||
		    mask & f->known & ~f->shared ||
		    !get_fields(*r, f->fields, mask & f->known, &shape.ev))
			return ROW_INVALID;
		shape.ev.func = func ? d->func[func - 1] : 0;
		shape.skipped = func && shape.ev.func == FUNC_DROPPED ? SKIP_NO_FUNC : SKIP_NONE;
		shape.is_call = event_is_call(shape.ev.kind);
	}
	/* Hashes of texts, once for all events of a shape. */
	for (uint32_t i = 1; s && i < s->n; i++)
		if (s->fields[i].coding == FIELD_HASH)
			*(uint64_t *)event_field_at(&shape.ev, &s->fields[i]) =
				event_text_hash(event_field_text(&shape.ev, &s->fields[i - 1]));
	d->shape[d->shapes_n++] = shape;
	return 0;
}

/* ---- events --------------------------------------------------------------------------------- */

static int deliver(struct capture_decoder *d, const struct event *ev, unsigned int skipped)
{
	d->result->rows++;
	if (__builtin_expect(skipped, 0)) {
		d->result->dropped += skipped == SKIP_NO_FUNC;
		return 0;
	}
	return d->sink->push(d->sink->ctx, ev);
}

static void clear_own(const struct event_schema *s, struct event *ev)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (!s->fields[i].shared)
			memset(event_field_at(ev, &s->fields[i]), 0,
			       (size_t)s->fields[i].size * s->fields[i].count);
	ev->seq = 0;
	ev->start_ns = ev->end_ns = 0;
}

/* From now on rows of this mask replace members of the shape's event. False: none can be. */
static bool adopt_mask(struct shape *shape, const struct form *f, uint64_t mask)
{
	if (mask & (GP_FIELD_HAS | GP_FIELD_FUNC) || mask >> GP_FIELD_FIRST & f->shared)
		return false;
	if (shape->is_call)
		shape->bytes = shape->ev.call.bytes;
	clear_own(event_schema(shape->ev.kind), &shape->ev);
	shape->is_call = false;
	shape->mask = mask;
	return true;
}

/* The event that a row of this mask replaces the fields of; its others are as they have to be.
 * NULL: the row cannot be. */
static inline struct event *find_event(struct capture_decoder *d, struct row *r, struct form *f,
				       uint64_t mask, unsigned int *skipped)
{
	const uint8_t kind = f->ev.kind;
	struct shape *shape;
	uint64_t number;

	*skipped = SKIP_NONE;
	if (!(mask & GP_FIELD_SHAPE)) {
		if (f->mask != mask)
			f->ev = (struct event){ .kind = kind };
		f->mask = mask;
		return event_has_func(kind) && !(mask & GP_FIELD_FUNC) ? NULL : &f->ev;
	}
	number = get(r);
	if (number >= d->shapes_n)
		return NULL;
	shape = &d->shape[number];
	if (shape->ev.kind != kind || (shape->mask != mask && !adopt_mask(shape, f, mask)))
		return NULL;
	*skipped = shape->skipped;
	return &shape->ev;
}

static inline void get_times(struct row *r, uint64_t mask, uint64_t *last_ns, struct event *ev)
{
	if (mask & GP_FIELD_START)
		*last_ns = ev->start_ns = *last_ns + (uint64_t)varint_unzigzag(get(r));
	if (mask & GP_FIELD_END)
		ev->end_ns = *last_ns + (uint64_t)varint_unzigzag(get(r));
	if ((mask & (GP_FIELD_START | GP_FIELD_END)) == GP_FIELD_END)
		*last_ns = ev->end_ns;
}

static bool get_func(struct capture_decoder *d, struct row *r, struct event *ev,
		     unsigned int *skipped)
{
	uint64_t func = get(r);

	if (func >= d->funcs_n || !event_has_func(ev->kind))
		return false;
	ev->func = d->func[func];
	*skipped = ev->func == FUNC_DROPPED ? SKIP_NO_FUNC : SKIP_NONE;
	return true;
}

static int take_event(struct capture_decoder *d, struct row r)
{
	uint64_t kind = get_small(&r), thread = get_small(&r), mask = get_small(&r);
	struct event *ev;
	struct form *f;
	unsigned int skipped;
	bool ok = true;

	if (!ended_well(&r) || !kind || thread >= d->threads_n)
		return ROW_INVALID;
	if (kind >= EVENT_KIND_END || !d->form[kind].ev.kind) {	/* another version's */
		d->result->rows++;
		return 0;
	}
	f = &d->form[kind];
	ev = find_event(d, &r, f, mask, &skipped);
	if (!ev)
		return ROW_INVALID;
	ev->process = d->thread[thread].process;
	ev->pid = d->thread[thread].pid;
	ev->tid = d->thread[thread].tid;
	get_times(&r, mask, &f->last_ns, ev);
	if (mask & GP_FIELD_HAS)
		ok &= get_number(&r, sizeof(ev->has), &ev->has);
	if (mask & GP_FIELD_FUNC)
		ok &= get_func(d, &r, ev, &skipped);
	if (mask & GP_FIELD_SEQ)
		ok &= get_number(&r, sizeof(ev->seq), &ev->seq);
	if (!ok || !get_fields(r, f->fields, mask >> GP_FIELD_FIRST & f->known, ev))
		return ROW_INVALID;
	return deliver(d, ev, skipped);
}

static int take_row(struct capture_decoder *d, uint8_t tag, struct row *r)
{
	switch (tag) {
	case GP_TAG_EVENT:
		return take_event(d, *r);
	case GP_TAG_FUNC:
		return define_func(d, r);
	case GP_TAG_PROCESS:
		return define_process(d, r);
	case GP_TAG_THREAD:
		return define_thread(d, r);
	case GP_TAG_SHAPE:
		return define_shape(d, r);
	default:
		return 0;	/* a later version's: skipped */
	}
}

/* Ready for a call row after an event row. NULL: it is no call's. */
static struct shape *become_call(struct shape *shape)
{
	if (!event_is_call(shape->ev.kind))
		return NULL;
	clear_own(event_schema(shape->ev.kind), &shape->ev);
	shape->ev.call.bytes = shape->bytes;
	shape->mask = 0;
	shape->is_call = true;
	return shape;
}

/* The row's thread and shape, and *p behind their numbers; NULL: they cannot be. */
static struct shape *find_shape(struct capture_decoder *d, uint8_t tag, const uint8_t **p,
				struct thread **thread)
{
	uint64_t number = d->last_thread;
	struct shape *shape;
	struct thread *t;
	uint32_t before;

	if (tag & GP_ROW_THREAD)
		*p = varint_get(*p, &number);
	if (number >= d->threads_n)
		return NULL;
	d->last_thread = (uint32_t)number;
	t = *thread = &d->thread[number];
	before = t->shape;
	if (tag & GP_ROW_SHAPE)
		*p = varint_get(*p, &number);
	else
		number = before == NONE ? NONE : d->shape[before].next;
	if (number >= d->shapes_n)
		return NULL;
	if (before != NONE)
		d->shape[before].next = (uint32_t)number;
	t->shape = (uint32_t)number;
	shape = &d->shape[number];
	return __builtin_expect(shape->is_call, 1) ? shape : become_call(shape);
}

static int take_call(struct capture_decoder *d, const uint8_t **at, const uint8_t *end)
{
	const uint8_t *p = *at;
	uint8_t tag = *p++;
	struct thread *t;
	struct shape *s = find_shape(d, tag, &p, &t);
	uint64_t gap, dur = 0, seq;
	struct event *ev;

	if (!s || tag & GP_ROW_RESERVED)
		return ROW_INVALID;
	ev = &s->ev;
	p = varint_get(p, &gap);
	if (!s->no_end)
		p = varint_get(p, &dur);
	if (tag & GP_ROW_BYTES)
		p = varint_get(p, &ev->call.bytes);
	if (tag & GP_ROW_STREAM)
		p = varint_get(p, &t->stream);
	seq = (uint32_t)(t->seq + 1);
	if (tag & GP_ROW_SEQ)
		p = varint_get(p, &seq);
	if (p > end || seq > UINT32_MAX)
		return ROW_INVALID;
	ev->process = t->process;
	ev->pid = t->pid;
	ev->tid = t->tid;
	ev->seq = t->seq = (uint32_t)seq;
	ev->start_ns = tag & GP_ROW_BACK ? t->last_ns - gap : t->last_ns + gap;
	t->last_ns = ev->start_ns + dur;
	ev->end_ns = s->no_end ? 0 : t->last_ns;
	ev->call.stream = t->stream;
	*at = p;
	return deliver(d, ev, s->skipped);
}

/* A row with a length: *at moves to its end. */
static int take_long(struct capture_decoder *d, const uint8_t **at, const uint8_t *end)
{
	uint8_t tag = **at;
	struct row r = { *at + 1, end };
	uint64_t len = get_small(&r);

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
	d->funcs_n = d->threads_n = d->processes_n = d->shapes_n = 0;
	d->last_thread = NONE;
	for (unsigned int i = 0; i < EVENT_KIND_END; i++)
		d->form[i].last_ns = 0;
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
