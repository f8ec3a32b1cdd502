/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The machine-dependent part of calling a function in a stopped thread: machine_x86.c,
 * machine_arm64.c.
 *
 * A call is made as the kernel makes one of a signal handler: below the function's frame lies a
 * signal frame with the thread's registers and signal mask, and the function returns to the code
 * that ends a handler (rt_sigreturn). So a thread that was sent off comes back by itself to where
 * it was, whatever becomes of gpuprof.
 */
#ifndef INJECT_MACHINE_H
#define INJECT_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "stack/unwind.h"

#define MACHINE_GENERAL_BYTES 512
#define MACHINE_VECTOR_BYTES 16384
#define MACHINE_FRAME_BYTES (MACHINE_VECTOR_BYTES + 8192)	/* at most, of a signal frame */
#define MACHINE_RED_ZONE 128

struct machine_state {		/* registers of a stopped thread */
	_Alignas(16) uint8_t general[MACHINE_GENERAL_BYTES];
	uint8_t vector[MACHINE_VECTOR_BYTES];
	size_t vector_bytes;
};

struct machine_call {
	uint64_t at;		/* a function, or machine.syscall_code in a library */
	long syscall;		/* its number, -1: a function */
	uint64_t arg[6];
	uint64_t sp;		/* of machine.build_frame */
	uint64_t back;		/* where machine.return_code is */
};

struct machine_frame {
	/* where `bytes` belong, and the stack pointer of the call */
	uint64_t sp;
	uint64_t return_sp;	/* the stack pointer when the call has returned */
	size_t len;
	uint8_t bytes[MACHINE_FRAME_BYTES];
};

struct machine_code {
	const void *bytes;
	size_t len;
};

#define MACHINE_WAITS_END UINT16_MAX

struct machine {
	size_t general_bytes;	/* of NT_PRSTATUS */
	int vector_set;		/* NT_*, its most bytes and those without which it is none */
	size_t vector_most, vector_least;

	/* Of one that has just entered a system call: it makes that of this number instead, with
	 * these registers. */
	int (*write_entered)(pid_t tid, const struct machine_state *s, long syscall);

	uint64_t (*sp)(const struct machine_state *s);
	uint64_t (*thread_pointer)(pid_t tid, const struct machine_state *s);	/* 0: unknown */
	void (*to_unwind)(const struct machine_state *s, struct stack_regs *out);

	/* The thread waited in a system call, which the kernel will restart if nothing is
	 * changed: its number, else -1. Where the kernel would report an interruption to the
	 * program, the call becomes one to restart. */
	long (*interrupted_call)(pid_t tid, struct machine_state *s);
	/* Of a thread that has just entered a system call: as if it were about to. False: this
	 * machine does not show its registers as they were. */
	bool (*step_back)(struct machine_state *s);
	/* s as it continues without the kernel's part. timed: the wait continues for its
	 * remaining time, which the kernel knows until another system call waits; else it starts
	 * anew. */
	void (*go_on)(struct machine_state *s, bool timed);

	void (*set_call)(struct machine_state *s, const struct machine_call *call);
	/* A frame that lies wholly below `below` and restores s and the mask. -EOVERFLOW: no room
	 * in it. */
	int (*build_frame)(const struct machine_state *s, uint64_t mask, uint64_t below,
			   uint64_t back, struct machine_frame *out);

	/* Instructions that make a system call and return, and those that end a signal handler. */
	struct machine_code syscall_code, return_code;
	size_t code_step;	/* bytes: where instructions may begin */

	bool return_in_vdso;
	bool can_begin_anew;	/* a wait can be restarted without restart_syscall (go_on) */
	/* System calls to wait in that go on unseen when they are interrupted; and those that do
	 * if we are there to see to it. Each ends with MACHINE_WAITS_END. */
	const uint16_t *waits, *waits_shown;
};

extern const struct machine machine;	/* of the architecture that this is built for */

#endif
