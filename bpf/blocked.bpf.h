/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* The words of a call record that follow those of its row: how long it was off the CPU. */
#ifndef GPUPROF_BLOCKED_BPF_H
#define GPUPROF_BLOCKED_BPF_H

#include "offcpu.bpf.h"

/*
 * When the call, which returned at end_ns, was late: the word at `at`. A switch just behind its
 * return is taken for one in it; that is no time of the call.
 */
static __always_inline void add_late(struct thread_state *st, __u32 at, __u64 end_ns)
{
	__u64 from = st->off.late_from_ns, to = st->off.late_to_ns, ns, after;
	__u32 shift = st->off.late_stopped ? GP_STOPPED_SHIFT : 0;

	if (!from || at >= GP_WORDS_LARGE + GP_WORDS_MORE || to > end_ns)
		return;
	ns = (to - from) >> shift;
	after = (end_ns - to) >> shift;
	if (after >> 32)
		return;
	if (ns >> 32)
		ns = 0xffffffff;
	st->rec.words[at] = ns << 32 | after;
	st->rec.head.flags |= shift ? GP_CALL_LATE | GP_CALL_STOPPED : GP_CALL_LATE;
}

/* How long the call was off the CPU. end_ns: its return; 0: it has none. */
static __always_inline void add_blocked(struct thread_state *st, __u32 words, __u64 end_ns)
{
	__u32 at = words + !!(st->rec.head.flags & GP_CALL_STACK) +
		   !!(st->rec.head.flags & GP_CALL_OP) +
		   !!(st->rec.head.flags & GP_CALL_MODULE);

	st->rec.head.flags &= ~(GP_CALL_BLOCKED | GP_CALL_LATE | GP_CALL_STOPPED);
	if (!st->off.blocked_ns || at >= GP_WORDS_LARGE + GP_WORDS_MORE - 1)
		return;
	st->rec.words[at] = st->off.blocked_ns;
	st->rec.head.flags |= GP_CALL_BLOCKED;
	add_late(st, at + 1, end_ns);
}

#endif
