/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The id of a stack: of the words of its copy that may be addresses of code, and of registers.
 * Its guarantees are in include/gpuprof/event.h.
 */
#ifndef GPUPROF_STACK_ID_BPF_H
#define GPUPROF_STACK_ID_BPF_H

#include "abi.bpf.h"
#include "maps.bpf.h"

#define STACK_WORDS (GP_STACK_BYTES_MAX / 8)
#define BLOCK_WORDS (GP_STACK_BLOCK / 8)

/* 0: only of calls that block, and of threads that do, not more often than they can bear */
extern const volatile __u8 all_stacks;

struct stack_copy {		/* sent without the part behind the words */
	struct gp_stack head;
	__u64 words[STACK_WORDS];
	__u64 end;		/* of the stack's mapping, where that is near; 0: not met */
	__u32 calls;
	__u32 pad;
};

/* Where nothing is known of a process: all that could be an address of code. */
static const struct gp_code any_code = { .start = { 0x10000 }, .len = { (1ull << 47) - 0x10000 } };

/* The part of the id in registers: where the thread is, where the frame pointer points, and arm64's
 * return address. */
static __always_inline __u64 hash_regs(struct pt_regs *ctx)
{
	__u64 fp = PT_REGS_FP(ctx) - PT_REGS_SP(ctx);

	return mix(PT_REGS_IP(ctx), (fp < stack_bytes ? fp : 0) ^ return_reg(ctx) << 8);
}

/* x86-64's kernel sets a thread that met a breakpoint back to it only after it may have blocked. */
static __always_inline bool is_behind_breakpoint(struct pt_regs *ctx)
{
	__u8 byte = 0;

	return RET_POPS && !bpf_probe_read_user(&byte, 1, (void *)(PT_REGS_IP(ctx) - 1)) &&
	       byte == 0xcc;
}

struct hashing {
	const struct stack_copy *copy;
	const struct gp_code *code;
	__u64 h;
};

/* May the word be an address of code? */
static __always_inline bool is_code(const struct gp_code *code, __u64 word)
{
	const bool second = word - code->start[0] >= code->len[0];
	__u64 into = word - code->start[second], bit;
	__u32 shift = code->shift[second];

	if (second && into >= code->len[1])
		return false;
	bit = into >> (shift & 63) & (GP_CODE_BITS - 1);
	return !shift || code->bits[second][bit / 64] & 1ull << (bit & 63);
}

/* A loop that the verifier walked through word by word would take it a second to load. */
static long hash_block(__u32 block, struct hashing *hashing)
{
	const __u64 *words =
		hashing->copy->words + (block * BLOCK_WORDS & (STACK_WORDS - BLOCK_WORDS));

#pragma unroll
	for (__u32 i = 0; i < BLOCK_WORDS; i++)
		if (is_code(hashing->code, words[i]))
			hashing->h = mix(hashing->h,
					 words[i] ^ (__u64)(block * BLOCK_WORDS + i) << 48);
	return 0;
}

/* h: of the registers. The first word is a return address on x86-64, wherever it points. */
static __noinline __u64 hash_words(const struct stack_copy *copy, const struct gp_code *c, __u64 h)
{
	struct hashing hashing = { copy, c, mix(h ^ c->epoch << 32, copy->head.pid) };

	if (RET_POPS)
		hashing.h = mix(hashing.h, copy->words[0]);
	bpf_loop(copy->head.len / GP_STACK_BLOCK, hash_block, &hashing, 0);
	return hashing.h ? hashing.h : 1;
}

#endif
