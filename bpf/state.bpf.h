/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* The state of a thread between two hits of probes. */
#ifndef GPUPROF_STATE_BPF_H
#define GPUPROF_STATE_BPF_H

#include "vmlinux.h"
#include "gpuprof/event.h"
#include "gpuprof/off.h"

/*
 * When the thread left the CPU, and the record of that. The scheduler's hooks write it, on the
 * thread's own CPU except for the waker; while the thread itself is sending a record (`recording`)
 * they leave theirs to it, since records and numbers must have one order.
 */
struct off_state {
	__u64 since_ns;		/* 0: it is on a CPU */
	__u64 until_ns;		/* held back: it was back on one then; 0: nothing is held back */
	__u64 run_delay_ns;	/* the thread's, when it left the CPU */
	__u64 back_ns;		/* it was reported back on one then, and has not left it; else 0 */
	__u64 blocked_ns;	/* of the open call, off the CPU */
	__u64 late_from_ns;	/* of the open call: its last time ready without a CPU; 0: none */
	__u64 late_to_ns;
	__u32 late_stopped;	/* then it was stopped instead */
	__u32 stopped;		/* of the open call: it left the CPU since it is */
	__u32 watched;		/* the hooks care: its first record was sent, its last was not */
	__u32 recording;
	struct gp_off rec;
};

/* Functions whose rows have the same remainder by STACK_RATES share one rate of taking stacks. */
#define STACK_RATES 8

struct stack_rate {
	__u64 taken_ns;		/* the last one */
	__u32 skip;		/* calls until the next */
	__u32 mask;		/* skip is drawn from 0 to this */
};

/*
 * One per thread that has called a catalogue function. Only the thread itself writes it (and its
 * own exit), so nothing here needs to be atomic. `rec` is the open call, laid out as it is sent.
 */
struct thread_state {
	__u32 seq;		/* numbers used so far */
	__u32 open;		/* rec is a call that has not returned */
	/* stack pointer at its entry, to distinguish its return from a nested one's */
	__u64 sp;
	/* return address of a call of a row that jumps, seen at entry only */
	__u64 jumps_with;
	struct {
		struct gp_call head;
		/* the last: a stack's id, an operator, a module, ns off the CPU, when
		 * late */
		__u64 words[GP_WORDS_LARGE + GP_WORDS_MORE];
	} rec;
	struct off_state off;
	struct stack_rate rates[STACK_RATES];
};

#endif
