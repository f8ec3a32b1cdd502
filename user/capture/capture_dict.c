// SPDX-License-Identifier: BSD-3-Clause
/*
 * The dictionaries of the block being encoded, and the parts that definition rows and event rows
 * share. Knows the row layout (include/gpuprof/capture.h), but not when a block ends, and nothing
 * of files or compression.
 */
#include "capture/capture_dict.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/varint.h"

#define THREAD_SLOTS ((size_t)2 * GP_BLOCK_THREADS_MAX)
#define SIGNATURE_SLOTS ((size_t)2 * GP_BLOCK_SIGNATURES_MAX)

/* 1 tag and a length written in 3 bytes, so that the body need not move once it is known. */
#define ROW_HEADER 4

int dict_init(struct dict *d, const struct funcs *funcs)
{
	memset(d, 0, sizeof(*d));
	d->funcs = funcs;
	d->thread = malloc(GP_BLOCK_THREADS_MAX * sizeof(*d->thread));
	d->thread_slot = calloc(THREAD_SLOTS, sizeof(*d->thread_slot));
	d->signature = malloc(GP_BLOCK_SIGNATURES_MAX * sizeof(*d->signature));
	d->signature_slot = calloc(SIGNATURE_SLOTS, sizeof(*d->signature_slot));
	if (d->thread && d->thread_slot && d->signature && d->signature_slot)
		return 0;
	dict_free(d);
	return -ENOMEM;
}

void dict_reset(struct dict *d)
{
	memset(d->func_slot, 0, sizeof(d->func_slot));
	memset(d->thread_slot, 0, THREAD_SLOTS * sizeof(*d->thread_slot));
	memset(d->signature_slot, 0, SIGNATURE_SLOTS * sizeof(*d->signature_slot));
	d->funcs_n = d->threads_n = d->signatures_n = 0;
}

void dict_free(struct dict *d)
{
	free(d->thread);
	free(d->thread_slot);
	free(d->signature);
	free(d->signature_slot);
	memset(d, 0, sizeof(*d));
}

uint8_t *dict_row_begin(uint8_t *p, uint8_t tag)
{
	*p = tag;
	return p + ROW_HEADER;
}

uint8_t *dict_row_end(uint8_t *row, uint8_t *p)
{
	uint32_t header = (uint32_t)(p - row) << 3 | 4;

	for (int i = 0; i < 3; i++)
		row[i - 3] = (uint8_t)(header >> (8 * i));
	return p;
}

/* Longest part of s that fits, not cut inside a UTF-8 character. */
static size_t cut_length(const char *s, size_t max)
{
	size_t len = max;

	while (len && max - len < 3 && ((unsigned char)s[len] & 0xc0) == 0x80)
		len--;
	return ((unsigned char)s[len] & 0xc0) == 0x80 ? max : len;
}

uint8_t *dict_put_text(uint8_t *p, const char *s)
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

uint8_t *dict_put_shape(uint8_t *p, const struct launch_shape *s)
{
	for (int i = 0; i < 3; i++)
		p = varint_put(p, s->grid[i]);
	for (int i = 0; i < 3; i++)
		p = varint_put(p, s->block[i]);
	return varint_put(p, s->shared_bytes);
}

uint32_t dict_func(struct dict *d, unsigned int func, uint8_t **p)
{
	const struct func *f = &d->funcs->v[func];
	uint8_t *row, *q;

	if (d->func_slot[func])
		return d->func_slot[func] - 1;
	q = row = dict_row_begin(*p, GP_TAG_FUNC);
	q = varint_put(q, f->class);
	q = varint_put(q, f->two);
	q = dict_put_text(q, f->library ? f->library : "");
	q = dict_put_text(q, f->name ? f->name : "");
	*p = dict_row_end(row, q);
	d->func_slot[func] = ++d->funcs_n;
	return d->funcs_n - 1;
}

static void define_thread(struct dict *d, const struct event *ev, uint8_t **p)
{
	struct dict_thread *t = &d->thread[d->threads_n++];
	uint8_t *row = dict_row_begin(*p, GP_TAG_THREAD), *q = row;

	*t = (struct dict_thread){
		.pid = ev->pid, .tid = ev->tid, .seq = ev->seq - 1, .signature = DICT_NONE,
		.last_ns = ev->start_ns, .stream = ev->stream,
	};
	q = varint_put(q, t->pid);
	q = varint_put(q, t->tid);
	q = varint_put(q, t->last_ns);
	q = varint_put(q, t->seq);
	q = varint_put(q, t->stream);
	*p = dict_row_end(row, q);
}

uint32_t dict_thread(struct dict *d, const struct event *ev, uint8_t **p)
{
	size_t i = map_hash((uint64_t)ev->pid << 32 | ev->tid) & (THREAD_SLOTS - 1);

	for (; d->thread_slot[i]; i = (i + 1) & (THREAD_SLOTS - 1)) {
		const struct dict_thread *t = &d->thread[d->thread_slot[i] - 1];

		if (t->tid == ev->tid && t->pid == ev->pid)
			return d->thread_slot[i] - 1;
	}
	define_thread(d, ev, p);
	d->thread_slot[i] = d->threads_n;
	return d->threads_n - 1;
}

static void define_signature(struct dict *d, const struct event *ev, const struct dict_key *key,
			     uint8_t **p)
{
	struct dict_signature *s = &d->signature[d->signatures_n++];
	uint32_t func = dict_func(d, ev->func, p);
	uint8_t *row = dict_row_begin(*p, GP_TAG_SIGNATURE), *q = row;

	*s = (struct dict_signature){ .key = *key, .bytes = ev->bytes, .next = DICT_NONE };
	q = varint_put(q, ev->kind);
	q = varint_put(q, dict_no_end(ev) ? GP_SIGNATURE_NO_END : 0);
	q = varint_put(q, func);
	q = varint_put(q, ev->has);
	q = varint_put(q, ev->dir);
	q = varint_put(q, varint_zigzag(ev->result));
	q = dict_put_shape(q, &ev->shape);
	q = varint_put(q, ev->entity);
	q = varint_put(q, ev->bytes);
	if (ev->stack)
		q = varint_put(q, ev->stack);
	*p = dict_row_end(row, q);
}

static uint64_t hash_key(const struct dict_key *key)
{
	uint64_t h = 0;

	for (int i = 0; i < DICT_KEY_WORDS; i++) {
		h = (h ^ key->word[i]) * 0x9e3779b97f4a7c15ull;
		h ^= h >> 32;
	}
	return h;
}

uint32_t dict_signature(struct dict *d, const struct event *ev, const struct dict_key *key,
			uint8_t **p)
{
	size_t i = hash_key(key) & (SIGNATURE_SLOTS - 1);

	for (; d->signature_slot[i]; i = (i + 1) & (SIGNATURE_SLOTS - 1))
		if (dict_same_key(&d->signature[d->signature_slot[i] - 1].key, key))
			return d->signature_slot[i] - 1;
	define_signature(d, ev, key, p);
	d->signature_slot[i] = d->signatures_n;
	return d->signatures_n - 1;
}
