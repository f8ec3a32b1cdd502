// SPDX-License-Identifier: BSD-3-Clause
/* See the header. A program only goes forward; where a value decides that is not known, both
 * ways are gone. */
#include "inject/cbpf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define WAYS_MAX 256		/* that wait to be gone */
#define STEPS_MAX 65536u	/* over all ways */
#define INPUT_BYTES ((uint32_t)sizeof(struct seccomp_data))

struct value {
	uint32_t v;
	bool known;
};

struct way {
	size_t at;
	struct value a, x, mem[BPF_MEMWORDS];
};

struct run {
	const struct sock_filter *code;
	size_t n, n_ways;
	const struct cbpf_input *in;
	void (*answer)(void *ctx, uint32_t value, bool known);
	void *ctx;
	struct way *ways;
};

static struct value known(uint32_t v)
{
	return (struct value){ v, true };
}

static int load(const struct run *r, uint32_t k, struct value *out)
{
	const uint32_t ip = offsetof(struct seccomp_data, instruction_pointer);
	const uint32_t args = offsetof(struct seccomp_data, args);

	if (k >= INPUT_BYTES || k % 4)
		return -EINVAL;
	memcpy(&out->v, (const char *)&r->in->data + k, sizeof(out->v));
	out->known = k >= args ? !(r->in->any >> ((k - args) / 8) & 1) : k < ip || !r->in->any_ip;
	return 0;
}

static int load_to(const struct run *r, struct way *w, const struct sock_filter *f)
{
	struct value *to = BPF_CLASS(f->code) == BPF_LD ? &w->a : &w->x;

	switch (BPF_MODE(f->code)) {
	case BPF_IMM:
		*to = known(f->k);
		return 0;
	case BPF_LEN:
		*to = known(INPUT_BYTES);
		return 0;
	case BPF_MEM:
		if (f->k >= BPF_MEMWORDS)
			return -EINVAL;
		*to = w->mem[f->k];
		return 0;
	case BPF_ABS:
		return to == &w->a && BPF_SIZE(f->code) == BPF_W ? load(r, f->k, to) : -EINVAL;
	default:
		return -EINVAL;
	}
}

static int store(struct way *w, const struct sock_filter *f)
{
	if (f->k >= BPF_MEMWORDS)
		return -EINVAL;
	w->mem[f->k] = BPF_CLASS(f->code) == BPF_ST ? w->a : w->x;
	return 0;
}

/* 0; 1: the program ends, with the answer 0; -EINVAL. */
static int compute(const struct run *r, struct way *w, const struct sock_filter *f)
{
	bool by_x = BPF_SRC(f->code) == BPF_X;
	struct value by = by_x ? w->x : known(f->k);

	w->a.known = w->a.known && (by.known || BPF_OP(f->code) == BPF_NEG);
	switch (BPF_OP(f->code)) {
	case BPF_ADD: w->a.v += by.v; return 0;
	case BPF_SUB: w->a.v -= by.v; return 0;
	case BPF_MUL: w->a.v *= by.v; return 0;
	case BPF_AND: w->a.v &= by.v; return 0;
	case BPF_OR: w->a.v |= by.v; return 0;
	case BPF_XOR: w->a.v ^= by.v; return 0;
	case BPF_NEG: w->a.v = -w->a.v; return 0;
	case BPF_LSH:
	case BPF_RSH:
		if (!by_x && by.v > 31)
			return -EINVAL;
		w->a.v = BPF_OP(f->code) == BPF_LSH ? w->a.v << (by.v & 31) : w->a.v >> (by.v & 31);
		return 0;
	case BPF_DIV:
		if (!by_x && !by.v)
			return -EINVAL;
		if (!by.known)
			r->answer(r->ctx, 0, true);	/* by nothing, perhaps */
		else if (!by.v)
			return 1;
		w->a.v = by.v ? w->a.v / by.v : 0;
		return 0;
	default:
		return -EINVAL;
	}
}

static int jump(struct run *r, struct way *w, const struct sock_filter *f)
{
	struct value by = BPF_SRC(f->code) == BPF_X ? w->x : known(f->k);
	bool yes;

	switch (BPF_OP(f->code)) {
	case BPF_JA:
		w->at += f->k;	/* the next one is checked */
		return 0;
	case BPF_JEQ: yes = w->a.v == by.v; break;
	case BPF_JGT: yes = w->a.v > by.v; break;
	case BPF_JGE: yes = w->a.v >= by.v; break;
	case BPF_JSET: yes = w->a.v & by.v; break;
	default: return -EINVAL;
	}
	if (!w->a.known || !by.known) {
		if (r->n_ways == WAYS_MAX)
			return -E2BIG;
		r->ways[r->n_ways] = *w;
		r->ways[r->n_ways++].at += f->jf;
		yes = true;
	}
	w->at += yes ? f->jt : f->jf;
	return 0;
}

/* 0; 1: this way has ended; -errno. */
static int step(struct run *r, struct way *w)
{
	const struct sock_filter *f = &r->code[w->at++];
	int got;

	switch (BPF_CLASS(f->code)) {
	case BPF_LD:
	case BPF_LDX:
		return load_to(r, w, f);
	case BPF_ST:
	case BPF_STX:
		return store(w, f);
	case BPF_ALU:
		got = compute(r, w, f);
		if (got > 0)
			r->answer(r->ctx, 0, true);
		return got;
	case BPF_JMP:
		return jump(r, w, f);
	case BPF_RET:
		if (BPF_RVAL(f->code) != BPF_K && BPF_RVAL(f->code) != BPF_A)
			return -EINVAL;
		r->answer(r->ctx, BPF_RVAL(f->code) == BPF_K ? f->k : w->a.v,
			  BPF_RVAL(f->code) == BPF_K || w->a.known);
		return 1;
	default:
		if (BPF_MISCOP(f->code) == BPF_TAX)
			w->x = w->a;
		else
			w->a = w->x;
		return 0;
	}
}

static int run(struct run *r)
{
	unsigned int steps = 0;

	while (r->n_ways) {
		struct way w = r->ways[--r->n_ways];
		int got = 0;

		while (!got) {
			if (w.at >= r->n)
				return -EINVAL;
			if (++steps > STEPS_MAX)
				return -E2BIG;
			got = step(r, &w);
		}
		if (got < 0)
			return got;
	}
	return 0;
}

int cbpf_run(const struct sock_filter *code, size_t n, const struct cbpf_input *in,
	     void (*answer)(void *ctx, uint32_t value, bool known), void *ctx)
{
	struct run r = { .code = code, .n = n, .in = in, .answer = answer, .ctx = ctx, .n_ways = 1 };
	int err;

	if (!n || n > BPF_MAXINSNS)
		return -EINVAL;
	r.ways = calloc(WAYS_MAX, sizeof(*r.ways));
	if (!r.ways)
		return -ENOMEM;
	r.ways[0].a = r.ways[0].x = known(0);
	for (size_t i = 0; i < BPF_MEMWORDS; i++)
		/* the kernel takes none that reads before it writes */
		r.ways[0].mem[i] = known(0);
	err = run(&r);
	free(r.ways);
	return err;
}
