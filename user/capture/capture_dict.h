/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the block being encoded has defined so far: its functions, threads and signatures, each
 * with a number. Looking one up that is new writes its definition row. The caller leaves
 * DICT_ROOM bytes at *p and starts a new block when dict_full says so.
 */
#ifndef CAPTURE_CAPTURE_DICT_H
#define CAPTURE_CAPTURE_DICT_H

#include <gpuprof/capture.h>

#include "event/event.h"

#define DICT_ROOM (2 * (GP_TEXT_MAX + 16) + 512)
#define DICT_NONE UINT32_MAX

struct dict_thread {
	uint32_t pid, tid;
	uint32_t seq;		/* last one written */
	uint32_t signature;	/* of the last call row; DICT_NONE before it */
	uint64_t last_ns;
	uint64_t stream;
};

#define DICT_KEY_WORDS 8

/* What calls have in common, as words that compare fast. */
struct dict_key {
	uint64_t word[DICT_KEY_WORDS];
};

struct dict_signature {
	struct dict_key key;
	uint64_t bytes;		/* of the last row with it */
	uint32_t next;		/* which followed it last; DICT_NONE: nothing yet */
};

struct dict {
	const struct funcs *funcs;
	uint32_t func_slot[FUNCS_MAX];	/* number + 1 */
	uint32_t funcs_n;
	struct dict_thread *thread;
	uint32_t *thread_slot;		/* hash table of numbers + 1 */
	uint32_t threads_n;
	struct dict_signature *signature;
	uint32_t *signature_slot;
	uint32_t signatures_n;
};

int dict_init(struct dict *d, const struct funcs *funcs);	/* 0 or -ENOMEM */
void dict_reset(struct dict *d);
void dict_free(struct dict *d);

/* No room for one more event's definitions. */
static inline bool dict_full(const struct dict *d)
{
	return d->threads_n == GP_BLOCK_THREADS_MAX || d->funcs_n == GP_BLOCK_FUNCS_MAX ||
	       d->signatures_n == GP_BLOCK_SIGNATURES_MAX;
}

static inline bool dict_no_end(const struct event *ev)
{
	return !ev->end_ns;
}

static inline void dict_make_key(struct dict_key *k, const struct event *ev)
{
	k->word[0] = (uint64_t)ev->kind | (uint64_t)ev->has << 8 | (uint64_t)ev->dir << 16 |
		     (uint64_t)dict_no_end(ev) << 24 | (uint64_t)ev->func << 32;
	k->word[1] = (uint32_t)ev->result;
	__builtin_memcpy(&k->word[2], ev->shape.grid, sizeof(ev->shape.grid));
	__builtin_memcpy((char *)&k->word[2] + sizeof(ev->shape.grid), ev->shape.block,
			 sizeof(ev->shape.block));
	k->word[5] = ev->shape.shared_bytes;
	k->word[6] = ev->entity;
	k->word[7] = ev->stack;
}

static inline bool dict_same_key(const struct dict_key *a, const struct dict_key *b)
{
	uint64_t diff = 0;

	for (int i = 0; i < DICT_KEY_WORDS; i++)
		diff |= a->word[i] ^ b->word[i];
	return !diff;
}

uint32_t dict_func(struct dict *d, unsigned int func, uint8_t **p);
uint32_t dict_thread(struct dict *d, const struct event *ev, uint8_t **p);
uint32_t dict_signature(struct dict *d, const struct event *ev, const struct dict_key *key,
			uint8_t **p);

/* A row with a length: begin leaves room for the header, end fills it in. */
uint8_t *dict_row_begin(uint8_t *p, uint8_t tag);
uint8_t *dict_row_end(uint8_t *row, uint8_t *p);
uint8_t *dict_put_text(uint8_t *p, const char *s);
uint8_t *dict_put_shape(uint8_t *p, const struct launch_shape *s);

#endif
