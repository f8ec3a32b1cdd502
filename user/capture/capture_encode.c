// SPDX-License-Identifier: BSD-3-Clause
/*
 * Events to rows. Calls are nearly all events, so they have a row of their own: 5 bytes for a
 * launch like the one before. Others take an event row, by the schema. Functions, processes,
 * threads and shapes are numbered within a block; the first use of each writes its definition.
 * Knows nothing of files or compression.
 */
#include "capture/capture_codec.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/num.h"
#include "base/varint.h"
#include "event/schema.h"

#define TEXT_ROOM (GP_TEXT_MAX + 16)
#define EVENT_ROOM (4 * TEXT_ROOM + 2048)	/* of one event, with its definitions */
#define NONE UINT32_MAX

#define THREAD_SLOTS ((size_t)2 * GP_BLOCK_THREADS_MAX)
#define SHAPE_SLOTS ((size_t)2 * GP_BLOCK_SHAPES_MAX)

#define PAYLOAD_AT offsetof(struct event, call)
#define KEY_WORDS (1 + (sizeof(struct event) - PAYLOAD_AT) / 8)
#define CALL_WORDS 10
_Static_assert((sizeof(struct event) - PAYLOAD_AT) % 8 == 0, "a payload is made of words");

struct thread {
	uint32_t process, pid, tid;
	uint32_t seq;		/* last one written */
	uint32_t shape;		/* of the last call row; NONE before it */
	uint64_t last_ns;
	uint64_t stream;
};

/* The part that many events have in common, as words that compare fast. */
struct shape {
	uint64_t key[KEY_WORDS];	/* a call's: CALL_WORDS of them */
	uint64_t bytes;		/* of the last call row with it */
	uint32_t next;		/* which followed it last; NONE: nothing yet */
};

/* The coding of a kind's fields, as bits. */
struct kind {
	uint32_t shared;
	uint32_t unkeyed;	/* those that a shape's key has not as they are */
};

struct capture_encoder {
	const struct funcs *funcs;
	struct kind kind[EVENT_KIND_END];
	uint32_t func_slot[FUNCS_MAX];	/* number + 1 */
	uint32_t funcs_n;
	struct thread *thread;
	uint32_t *thread_slot;		/* hash table of numbers + 1 */
	uint32_t threads_n;
	uint32_t (*process)[2];		/* handle, pid */
	uint32_t processes_n;
	struct shape *shape;
	uint32_t *shape_slot;
	uint32_t shapes_n;
	uint32_t last_thread;		/* of the last call row */
	uint64_t last_ns[EVENT_KIND_END];	/* time of each kind's last event row */
	uint8_t *p;			/* where the next row goes */
	struct capture_block *block;	/* NULL: before a block's first event */
	struct capture_block *spare;
};


struct capture_encoder *capture_encoder_new(const struct funcs *funcs)
{
	struct capture_encoder *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	e->funcs = funcs;
	for (unsigned int i = 0; i < EVENT_KIND_END; i++) {
		const struct event_schema *s = event_schema(i);

		e->kind[i].shared = event_schema_shared(s);
		for (uint32_t k = 0; s && k < s->n; k++)
			if (!s->fields[k].shared || s->fields[k].coding == FIELD_TEXT ||
			    s->fields[k].coding == FIELD_HASH)
				e->kind[i].unkeyed |= 1u << k;
	}
	e->thread = malloc(GP_BLOCK_THREADS_MAX * sizeof(*e->thread));
	e->thread_slot = calloc(THREAD_SLOTS, sizeof(*e->thread_slot));
	e->process = malloc(GP_BLOCK_THREADS_MAX * sizeof(*e->process));
	e->shape = malloc(GP_BLOCK_SHAPES_MAX * sizeof(*e->shape));
	e->shape_slot = calloc(SHAPE_SLOTS, sizeof(*e->shape_slot));
	if (e->thread && e->thread_slot && e->process && e->shape && e->shape_slot)
		return e;
	capture_encoder_free(e);
	errno = ENOMEM;
	return NULL;
}

void capture_encoder_free(struct capture_encoder *e)
{
	if (!e)
		return;
	free(e->thread);
	free(e->thread_slot);
	free(e->process);
	free(e->shape);
	free(e->shape_slot);
	free(e->block);
	free(e->spare);
	free(e);
}

static int begin_block(struct capture_encoder *e)
{
	struct capture_block *b = e->spare ? e->spare : malloc(sizeof(*b) + GP_BLOCK_RAW_MAX);

	e->spare = NULL;
	if (!b)
		return -ENOMEM;
	*b = (struct capture_block){ .type = GP_BLOCK_EVENTS, .start_ns = UINT64_MAX };
	memset(e->func_slot, 0, sizeof(e->func_slot));
	memset(e->thread_slot, 0, THREAD_SLOTS * sizeof(*e->thread_slot));
	memset(e->shape_slot, 0, SHAPE_SLOTS * sizeof(*e->shape_slot));
	memset(e->last_ns, 0, sizeof(e->last_ns));
	e->funcs_n = e->threads_n = e->processes_n = e->shapes_n = 0;
	e->last_thread = NONE;
	e->block = b;
	e->p = b->raw;
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

/* ---- rows with a length --------------------------------------------------------------------- */

#define ROW_HEADER 2		/* tag, and the length of nearly every row */

static uint8_t *row_begin(uint8_t *p, uint8_t tag)
{
	*p = tag;
	return p + ROW_HEADER;
}

/* Writes the length; a row that is longer than usual moves to make room for it. */
static uint8_t *row_end(uint8_t *row, uint8_t *p)
{
	size_t len = (size_t)(p - row);
	uint32_t header = (uint32_t)len << 3 | 4;

	if (__builtin_expect(len < 128, 1)) {
		row[-1] = (uint8_t)(len << 1 | 1);
		return p;
	}
	memmove(row + 2, row, len);
	for (int i = 0; i < 3; i++)
		row[i - 1] = (uint8_t)(header >> (8 * i));
	return p + 2;
}

/* Longest part of s that fits, not cut inside a UTF-8 character. */
static size_t cut_length(const char *s, size_t max)
{
	size_t len = max;

	while (len && max - len < 3 && ((unsigned char)s[len] & 0xc0) == 0x80)
		len--;
	return ((unsigned char)s[len] & 0xc0) == 0x80 ? max : len;
}

static uint8_t *put_text(uint8_t *p, const char *s)
{
	static const char dots[] = "...";
	size_t len = strnlen(s, GP_TEXT_MAX + 1), keep = len;

	if (len > GP_TEXT_MAX) {
		keep = cut_length(s, GP_TEXT_MAX - strlen(dots));
		len = keep + strlen(dots);
	}
	p = varint_put(p, len);
	memcpy(p, s, keep);
	memcpy(p + keep, dots, len - keep);
	p[len] = '\0';
	return p + len + 1;
}

static uint8_t *put_values(uint8_t *p, const struct device_sample *s)
{
	uint32_t has = s->has & ((1u << SAMPLE_FIELDS) - 1);

	p = varint_put(p, has);
	for (unsigned int i = 0; i < SAMPLE_FIELDS; i++)
		p = has >> i & 1 ? varint_put(p, s->v[i]) : p;
	return p;
}

static uint8_t *put_field(uint8_t *p, const struct event *ev, const struct event_field *f)
{
	switch (f->coding) {
	case FIELD_NUMBER:
		for (unsigned int i = 0; i < f->count; i++)
			p = varint_put(p, event_field_get(ev, f, i));
		return p;
	case FIELD_SIGNED:
		return varint_put(p, varint_zigzag((int32_t)event_field_get(ev, f, 0)));
	case FIELD_TEXT:
		return put_text(p, event_field_text(ev, f));
	case FIELD_CHARS:
		return put_text(p, (const char *)ev + f->at);
	case FIELD_VALUES:
		return put_values(p, (const void *)((const char *)ev + f->at));
	default:
		return p;
	}
}

/* Of the fields in `of`, those that are anything but 0. */
static uint32_t present(const struct event_schema *s, const struct event *ev, uint32_t of)
{
	uint32_t mask = 0;

	for (uint32_t bits = of; bits; bits &= bits - 1) {
		unsigned int i = (unsigned int)__builtin_ctz(bits);

		mask |= (uint32_t)(s->fields[i].coding != FIELD_HASH &&
				   event_field_is_set(ev, &s->fields[i])) << i;
	}
	return mask;
}

static uint8_t *put_fields(uint8_t *p, const struct event_schema *s, const struct event *ev,
			   uint32_t mask)
{
	for (uint32_t bits = mask; bits; bits &= bits - 1)
		p = put_field(p, ev, &s->fields[__builtin_ctz(bits)]);
	return p;
}

/* ---- definitions ---------------------------------------------------------------------------- */

static uint32_t find_func(struct capture_encoder *e, unsigned int func)
{
	const struct func *f = &e->funcs->v[func];
	uint8_t *row, *p;

	if (e->func_slot[func])
		return e->func_slot[func] - 1;
	p = row = row_begin(e->p, GP_TAG_FUNC);
	p = varint_put(p, f->class);
	p = varint_put(p, f->two);
	p = put_text(p, f->library ? f->library : "");
	p = put_text(p, f->name ? f->name : "");
	e->p = row_end(row, p);
	e->func_slot[func] = ++e->funcs_n;
	return e->funcs_n - 1;
}

/* The youngest first: threads of a process are often defined together. */
static uint32_t find_process(struct capture_encoder *e, const struct event *ev)
{
	uint8_t *row, *p;

	for (uint32_t i = e->processes_n; i-- > 0;)
		if (e->process[i][0] == ev->process && e->process[i][1] == ev->pid)
			return i;
	e->process[e->processes_n][0] = ev->process;
	e->process[e->processes_n][1] = ev->pid;
	p = row = row_begin(e->p, GP_TAG_PROCESS);
	p = varint_put(p, ev->process);
	p = varint_put(p, ev->pid);
	e->p = row_end(row, p);
	return e->processes_n++;
}

static void define_thread(struct capture_encoder *e, const struct event *ev)
{
	uint32_t process = find_process(e, ev);
	struct thread *t = &e->thread[e->threads_n++];
	uint8_t *row = row_begin(e->p, GP_TAG_THREAD), *p = row;

	*t = (struct thread){
		.process = ev->process, .pid = ev->pid, .tid = ev->tid, .seq = ev->seq - 1,
		.shape = NONE,
		.last_ns = ev->start_ns,
		.stream = event_is_call(ev->kind) ? ev->call.stream : 0,
	};
	p = varint_put(p, process);
	p = varint_put(p, varint_zigzag((int64_t)t->tid - t->pid));
	p = varint_put(p, t->last_ns);
	p = varint_put(p, t->seq);
	p = varint_put(p, t->stream);
	e->p = row_end(row, p);
}

static inline bool is_of(const struct thread *t, const struct event *ev)
{
	return t->tid == ev->tid && t->process == ev->process && t->pid == ev->pid;
}

static uint32_t find_thread(struct capture_encoder *e, const struct event *ev)
{
	size_t i = map_hash((uint64_t)ev->process << 32 | ev->tid) & (THREAD_SLOTS - 1);

	for (; e->thread_slot[i]; i = (i + 1) & (THREAD_SLOTS - 1))
		if (is_of(&e->thread[e->thread_slot[i] - 1], ev))
			return e->thread_slot[i] - 1;
	define_thread(e, ev);
	e->thread_slot[i] = e->threads_n;
	return e->threads_n - 1;
}

static uint64_t key_head(const struct event *ev)
{
	return (uint64_t)ev->kind | (uint64_t)ev->has << 8 | (uint64_t)!ev->end_ns << 24 |
	       (uint64_t)ev->func << 32;
}

static void make_call_key(uint64_t key[CALL_WORDS], const struct event *ev)
{
	const struct event_call *call = &ev->call;

	key[0] = key_head(ev) | (uint64_t)call->dir << 16;
	key[1] = (uint32_t)call->result;
	memcpy(&key[2], call->shape.grid, sizeof(call->shape.grid));
	memcpy((char *)&key[2] + sizeof(call->shape.grid), call->shape.block,
	       sizeof(call->shape.block));
	key[5] = call->shape.shared_bytes;
	key[6] = call->entity;
	key[7] = call->stack;
	key[8] = call->op;
	key[9] = call->module;
}

/* The payload with its own fields left out, and hashes instead of texts. */
static unsigned int make_key(const struct capture_encoder *e, const struct event_schema *s,
			     const struct event *ev, uint64_t key[KEY_WORDS])
{
	const size_t bytes = s->bytes - PAYLOAD_AT;
	char *payload = (char *)&key[1];

	key[0] = key_head(ev);
	memcpy(payload, (const char *)ev + PAYLOAD_AT, bytes);
	for (uint32_t bits = e->kind[ev->kind].unkeyed; bits; bits &= bits - 1) {
		const struct event_field *f = &s->fields[__builtin_ctz(bits)];
		const struct event_field *next = f + 1 < s->fields + s->n ? f + 1 : f;
		uint64_t hash = next->coding == FIELD_HASH ? event_field_get(ev, next, 0) : 0;
		char *at = payload + f->at - PAYLOAD_AT;

		if (f->shared && f->coding == FIELD_TEXT)
			*(uint64_t *)at = hash ? hash : event_text_hash(event_field_text(ev, f));
		else
			memset(at, 0, (size_t)f->size * f->count);
	}
	return (unsigned int)(1 + bytes / 8);
}

static bool same_key(const uint64_t *a, const uint64_t *b, unsigned int words)
{
	uint64_t diff = 0;

	for (unsigned int i = 0; i < words; i++)
		diff |= a[i] ^ b[i];
	return !diff;
}

static uint64_t hash_key(const uint64_t *key, unsigned int words)
{
	uint64_t h = 0;

	for (unsigned int i = 0; i < words; i++) {
		h = (h ^ key[i]) * 0x9e3779b97f4a7c15ull;
		h ^= h >> 32;
	}
	return h;
}

static void define_shape(struct capture_encoder *e, const struct event *ev, const uint64_t *key,
			 unsigned int words)
{
	const struct event_schema *s = event_schema(ev->kind);
	struct shape *shape = &e->shape[e->shapes_n++];
	uint32_t func = event_has_func(ev->kind) ? find_func(e, ev->func) + 1 : 0;
	uint32_t mask = present(s, ev, e->kind[ev->kind].shared);
	uint8_t *row = row_begin(e->p, GP_TAG_SHAPE), *p = row;

	memcpy(shape->key, key, words * sizeof(*key));
	shape->bytes = 0;
	shape->next = NONE;
	p = varint_put(p, ev->kind);
	p = varint_put(p, ev->end_ns ? 0 : GP_SHAPE_NO_END);
	p = varint_put(p, func);
	p = varint_put(p, ev->has);
	p = varint_put(p, mask);
	e->p = row_end(row, put_fields(p, s, ev, mask));
}

static uint32_t find_shape(struct capture_encoder *e, const struct event *ev, const uint64_t *key,
			   unsigned int words)
{
	size_t i = hash_key(key, words) & (SHAPE_SLOTS - 1);

	/* The first word has the kind, and with it the number of words. */
	for (; e->shape_slot[i]; i = (i + 1) & (SHAPE_SLOTS - 1)) {
		const uint64_t *known = e->shape[e->shape_slot[i] - 1].key;

		if (known[0] == key[0] && same_key(known, key, words))
			return e->shape_slot[i] - 1;
	}
	define_shape(e, ev, key, words);
	e->shape_slot[i] = e->shapes_n;
	return e->shapes_n - 1;
}

/* ---- events --------------------------------------------------------------------------------- */

/* Sets the thread and shape numbers of the row to come, and its tag bits for them. */
static uint8_t find_numbers(struct capture_encoder *e, const struct event *ev, uint32_t *thread,
			    uint32_t *shape)
{
	struct thread *t = e->last_thread == NONE ? NULL : &e->thread[e->last_thread];
	uint64_t key[CALL_WORDS];
	uint8_t tag = GP_ROW_CALL;
	uint32_t next;

	*thread = e->last_thread;
	if (!t || !is_of(t, ev)) {
		*thread = find_thread(e, ev);
		t = &e->thread[*thread];
		tag |= GP_ROW_THREAD;
	}
	make_call_key(key, ev);
	next = t->shape == NONE ? NONE : e->shape[t->shape].next;
	if (next != NONE && same_key(e->shape[next].key, key, CALL_WORDS)) {
		*shape = next;
		return tag;
	}
	*shape = find_shape(e, ev, key, CALL_WORDS);
	if (t->shape != NONE)
		e->shape[t->shape].next = *shape;
	return tag | GP_ROW_SHAPE;
}

static void put_call(struct capture_encoder *e, const struct event *ev)
{
	uint32_t thread, shape;
	uint8_t tag = find_numbers(e, ev, &thread, &shape);
	struct thread *t = &e->thread[thread];
	struct shape *s = &e->shape[shape];
	uint64_t gap = ev->start_ns - t->last_ns;
	uint8_t *row = e->p, *p = row + 1;

	if (tag & GP_ROW_THREAD)
		p = varint_put(p, thread);
	if (tag & GP_ROW_SHAPE)
		p = varint_put(p, shape);
	if ((int64_t)gap < 0) {
		tag |= GP_ROW_BACK;
		gap = -gap;
	}
	p = varint_put(p, gap);
	if (ev->end_ns)
		p = varint_put(p, ev->end_ns - ev->start_ns);
	if (ev->call.bytes != s->bytes) {
		tag |= GP_ROW_BYTES;
		p = varint_put(p, ev->call.bytes);
	}
	if (ev->call.stream != t->stream) {
		tag |= GP_ROW_STREAM;
		p = varint_put(p, ev->call.stream);
	}
	if (ev->seq != t->seq + 1) {
		tag |= GP_ROW_SEQ;
		p = varint_put(p, ev->seq);
	}
	*row = tag;
	e->p = p;
	e->last_thread = thread;
	t->seq = ev->seq;
	t->shape = shape;
	t->last_ns = ev->end_ns ? ev->end_ns : ev->start_ns;
	t->stream = ev->call.stream;
	s->bytes = ev->call.bytes;
}

static uint8_t *put_times(struct capture_encoder *e, uint8_t *p, const struct event *ev)
{
	uint64_t *last_ns = &e->last_ns[ev->kind];

	if (ev->start_ns) {
		p = varint_put(p, varint_zigzag((int64_t)(ev->start_ns - *last_ns)));
		*last_ns = ev->start_ns;
	}
	if (ev->end_ns)
		p = varint_put(p, varint_zigzag((int64_t)(ev->end_ns - *last_ns)));
	if (!ev->start_ns && ev->end_ns)
		*last_ns = ev->end_ns;
	return p;
}

static uint32_t shape_of(struct capture_encoder *e, const struct event_schema *s,
			 const struct event *ev)
{
	uint64_t key[KEY_WORDS];
	unsigned int words = CALL_WORDS;

	if (!e->kind[ev->kind].shared)
		return NONE;
	if (event_is_call(ev->kind) || ev->kind == EVENT_CUPTI_CALL)
		make_call_key(key, ev);
	else
		words = make_key(e, s, ev, key);
	return find_shape(e, ev, key, words);
}

static void put_event(struct capture_encoder *e, const struct event *ev)
{
	const struct event_schema *s = event_schema(ev->kind);
	uint32_t thread = find_thread(e, ev), shape = shape_of(e, s, ev), func = 0;
	uint32_t mask = present(s, ev, ((1u << s->n) - 1) & ~e->kind[ev->kind].shared);
	uint64_t head = (ev->start_ns ? GP_FIELD_START : 0) | (ev->end_ns ? GP_FIELD_END : 0) |
			(ev->seq ? GP_FIELD_SEQ : 0);
	uint8_t *row, *p;

	head |= shape != NONE ? GP_FIELD_SHAPE :
		(ev->has ? GP_FIELD_HAS : 0) | (event_has_func(ev->kind) ? GP_FIELD_FUNC : 0);
	if (head & GP_FIELD_FUNC)
		func = find_func(e, ev->func);
	p = row = row_begin(e->p, GP_TAG_EVENT);
	p = varint_put(p, ev->kind);
	p = varint_put(p, thread);
	p = varint_put(p, head | (uint64_t)mask << GP_FIELD_FIRST);
	if (head & GP_FIELD_SHAPE)
		p = varint_put(p, shape);
	p = put_times(e, p, ev);
	if (head & GP_FIELD_HAS)
		p = varint_put(p, ev->has);
	if (head & GP_FIELD_FUNC)
		p = varint_put(p, func);
	if (head & GP_FIELD_SEQ)
		p = varint_put(p, ev->seq);
	e->p = row_end(row, put_fields(p, s, ev, mask));
}


int capture_encode(struct capture_encoder *e, const struct event *ev)
{
	struct capture_block *b;

	if (!event_schema(ev->kind) || (event_has_func(ev->kind) && ev->func >= e->funcs->n))
		return -EINVAL;
	if (!e->block && begin_block(e))
		return -ENOMEM;
	b = e->block;
	if (b->events == GP_BLOCK_EVENTS_MAX || e->threads_n == GP_BLOCK_THREADS_MAX ||
	    e->funcs_n == GP_BLOCK_FUNCS_MAX || e->shapes_n == GP_BLOCK_SHAPES_MAX ||
	    (size_t)(e->p - b->raw) + EVENT_ROOM > GP_BLOCK_RAW_MAX)
		return -EAGAIN;
	if (event_is_call(ev->kind) && !ev->call.blocked_ns && !ev->call.late_ns &&
	    ev->call.late_why != OFF_STOPPED && !ev->call.address)
		put_call(e, ev);
	else
		put_event(e, ev);
	b->events++;
	if (ev->start_ns)
		b->start_ns = num_min(b->start_ns, ev->start_ns);
	if (ev->end_ns)
		b->start_ns = num_min(b->start_ns, ev->end_ns);
	b->end_ns = num_max(b->end_ns, num_max(ev->start_ns, ev->end_ns));
	return 0;
}
