/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* Chooses the calls whose stacks are taken, without --stacks: those that block, sampled. */
#ifndef GPUPROF_STACK_RATE_BPF_H
#define GPUPROF_STACK_RATE_BPF_H

#include "send.bpf.h"
#include "stack_id.bpf.h"

#define STACK_EVERY_NS 400000ull
#define STACK_MASK_MAX 0xffff

/*
 * Is this thread's stack to be taken, at the entry of the row's function or (row 0) where it
 * blocks? Each, as long as they are not more frequent than STACK_EVERY_NS; else one of so many,
 * drawn at random: a program's calls have periods, and a fixed step may always meet the same place.
 */
static __always_inline bool is_stack_due(struct thread_state *st, __u32 row)
{
	struct stack_rate *rate = &st->rates[row % STACK_RATES];
	__u64 now, since;

	if (!stack_bytes)
		return false;
	if (all_stacks)
		return true;
	if (row && !(row_at(row)->flags & GP_ROW_BLOCKS))
		return false;
	if (rate->skip) {
		rate->skip--;
		return false;
	}
	now = bpf_ktime_get_ns();
	since = now - rate->taken_ns;
	rate->taken_ns = now;
	if (since < STACK_EVERY_NS && rate->mask < STACK_MASK_MAX)
		rate->mask = rate->mask << 1 | 1;
	else if (since > 4 * STACK_EVERY_NS)
		rate->mask >>= 1;
	rate->skip = bpf_get_prandom_u32() & rate->mask;
	return true;
}

#endif
