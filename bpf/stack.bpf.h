/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The stack that a call stands on: its id, and, when the id is new, a copy of it. What the id
 * proves is said in include/gpuprof/event.h. Frames are found in user space: here is neither the
 * time nor are there the tables for it.
 */
#ifndef GPUPROF_STACK_BPF_H
#define GPUPROF_STACK_BPF_H

#include "abi.bpf.h"
#include "maps.bpf.h"

#define STACK_WORDS (GP_STACK_BYTES_MAX / 8)
#define BLOCK_WORDS (GP_STACK_BLOCK / 8)

extern const volatile __u32 stack_bytes;	/* copied of each stack, whole blocks; 0: no stacks */

struct stack_copy {		/* sent without what is behind the words */
	struct gp_stack head;
	__u64 words[STACK_WORDS];
	__u64 end;		/* of the stack's mapping, where that is near; 0: not met */
	__u32 calls;
	__u32 pad;
};

struct stacks_t {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
};
extern struct stacks_t stacks SEC(".maps");

/* Programs can be preempted, so that a copy is made in memory of the thread, not of the CPU. */
struct copies_t {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct stack_copy);
};
extern struct copies_t copies SEC(".maps");

/* Ids whose copies were sent. */
struct sent_t {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1);
	__type(key, __u64);
	__type(value, __u8);
};
extern struct sent_t sent SEC(".maps");

/* Where nothing is known of a process: all that could be an address of code. */
static const struct gp_code any_code = { .start = { 0x10000 }, .len = { (1ull << 47) - 0x10000 } };

/* What of the id is in registers: where the frame pointer points, and arm64's return address. */
static __always_inline __u64 hash_regs(struct pt_regs *ctx)
{
	__u64 fp = PT_REGS_FP(ctx) - PT_REGS_SP(ctx);

	return (fp < stack_bytes ? fp : 0) ^ return_reg(ctx) << 8;
}

static __always_inline __u64 mix(__u64 h, __u64 v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15ull;
	return h ^ h >> 32;
}

struct hashing {
	const struct stack_copy *copy;
	const struct gp_code *code;
	__u64 h;
};

/* A loop that the verifier walked through word by word would take it a second to load. */
static long hash_block(__u32 block, struct hashing *hashing)
{
	const __u64 *words = hashing->copy->words + (block * BLOCK_WORDS & (STACK_WORDS - BLOCK_WORDS));
	__u64 start = hashing->code->start[0], len = hashing->code->len[0];
	__u64 start2 = hashing->code->start[1], len2 = hashing->code->len[1];

#pragma unroll
	for (__u32 i = 0; i < BLOCK_WORDS; i++) {
		__u64 word = words[i];

		if (word - start < len || word - start2 < len2)
			hashing->h = mix(hashing->h, word ^ (__u64)(block * BLOCK_WORDS + i) << 48);
	}
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

/* The first page above sp that cannot be read: there, the stack's mapping ends. */
static __noinline __u64 find_end(__u64 sp)
{
	__u64 page = (sp & ~4095ull) + 4096, word;

	for (int i = 0; i < GP_STACK_BYTES_MAX / 4096; i++, page += 4096)
		if (bpf_probe_read_user(&word, sizeof(word), (void *)page))
			break;
	return page;
}

/* A fault costs as much as all the rest, so the end is remembered once it was met. Looked for again
 * now and then: the page may have been swapped out. */
static __always_inline __u32 copy_stack(struct stack_copy *copy)
{
	__u64 sp = copy->head.sp, left = copy->end - sp;

	if (left >= stack_bytes || !(++copy->calls & 1023)) {
		if (!bpf_probe_read_user(copy->words, stack_bytes, (void *)sp))
			return stack_bytes;
		copy->end = find_end(sp);
		left = copy->end - sp;
	}
	left &= ~(GP_STACK_BLOCK - 1ull);
	if (left > stack_bytes || !left || bpf_probe_read_user(copy->words, left, (void *)sp))
		return 0;
	return left;
}

/* Those that find no room are sent the next time. */
static __noinline void send_copy(struct stack_copy *copy, struct pt_regs *ctx)
{
	__u64 id = copy->head.id;
	__u32 len = copy->head.len, zero = 0;
	struct gp_counts *c = bpf_map_lookup_elem(&counts, &zero);
	__u8 yes = 1;

	if (!c || len > GP_STACK_BYTES_MAX)
		return;
	copy_regs(&copy->head.regs, ctx);
	copy->head.kind = GP_STACK;
	copy->head.time_ns = bpf_ktime_get_ns();
	__sync_fetch_and_add(&c->hits[GP_STACK], 1);
	if (bpf_ringbuf_output(&stacks, copy, sizeof(copy->head) + len, BPF_RB_NO_WAKEUP))
		__sync_fetch_and_add(&c->lost[GP_STACK], 1);
	else
		bpf_map_update_elem(&sent, &id, &yes, BPF_ANY);
}

/*
 * The id of the current stack, at the entry of the row's function or (row 0) where the thread entered
 * the kernel; 0: it could not be read. flags: BPF_LOCAL_STORAGE_GET_F_CREATE where memory may be
 * allocated.
 */
static __noinline __u64 take_stack(struct pt_regs *ctx, __u32 row, __u64 flags)
{
	struct stack_copy *copy = bpf_task_storage_get(&copies, bpf_get_current_task_btf(), 0,
						       flags);
	__u64 id = bpf_get_current_pid_tgid();
	const struct gp_code *where;
	__u32 pid = id >> 32;

	if (!copy)
		return 0;
	copy->head.pid = pid;
	copy->head.tid = (__u32)id;
	copy->head.row = row;
	copy->head.sp = PT_REGS_SP(ctx);
	copy->head.len = copy_stack(copy);
	if (!copy->head.len)
		return 0;
	where = bpf_map_lookup_elem(&code, &pid);
	id = hash_words(copy, where ? where : &any_code, hash_regs(ctx));
	copy->head.id = id;
	if (!bpf_map_lookup_elem(&sent, &id))
		send_copy(copy, ctx);
	return id;
}

#endif
