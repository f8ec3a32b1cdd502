/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From a thread's registers to the addresses it will return to: by the .eh_frame of its modules,
 * else by frame pointers. Pure: memory is read through a callback, so a process, a file or a
 * fuzzer can be behind it. All that is read is hostile; depth, steps and sizes are bounded.
 */
#ifndef STACK_UNWIND_H
#define STACK_UNWIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/sorted.h"
#include "gpuprof/regs.h"

#define STACK_DEPTH 256u	/* frames of one stack */
#define STACK_REGS 32u

struct stack_regs {
	uint64_t pc;
	uint64_t reg[STACK_REGS];	/* by DWARF number */
	uint32_t known;			/* bit n: reg[n] is known */
};

static inline struct stack_regs stack_regs_of(const struct gp_thread_regs *from)
{
	struct stack_regs regs = { .pc = from->pc, .known = from->known };

	_Static_assert(STACK_REGS == GP_THREAD_REGS, "registers have one numbering");
	memcpy(regs.reg, from->reg, sizeof(regs.reg));
	return regs;
}

struct stack_module {		/* one executable mapping */
	uint64_t start, end;
	uint64_t eh_hdr;	/* address of .eh_frame_hdr in memory; 0: there is none */
	uint64_t eh_hdr_len;
	uint64_t eh_frame;	/* without eh_hdr: address of .eh_frame; 0: there is none */
	uint64_t bias;		/* what is added to addresses in the file; not read here ... */
	bool bias_known;
	uint64_t offset;	/* of start, in the file; nor this ... */
	size_t file;		/* ... nor whose it is */
};

/* All of len bytes at address `at`, or -EFAULT. */
typedef int (*stack_read_fn)(void *ctx, uint64_t at, void *buf, size_t len);

struct stack_space {
	stack_read_fn read;
	void *ctx;
	const struct stack_module *modules;	/* sorted by start, disjoint */
	size_t n_modules;
};

struct stack_step {
	uint64_t pc;
	uint64_t sp;		/* its stack pointer; 0: unknown */
	bool exact;		/* pc is the next instruction; else the one behind a call */
	bool signal;		/* the frame of a signal handler's return */
	bool guessed;		/* found by a frame pointer, not by unwind tables */
};

enum stack_end {		/* why there are no more frames */
	STACK_WHOLE,		/* the outermost function of the thread */
	STACK_LOST,		/* no table and no usable frame pointer, or unreadable memory */
	STACK_DEEP,		/* deeper than max */
};

/* Where a signal handler returns to, if no table says so: known by its instructions. */
struct stack_trampoline {
	uint32_t code[2];
	uint16_t regs;		/* registers 0 to 30, sp and pc lie this many bytes above sp */
};

/* Numbers of this machine's registers. */
extern const struct stack_abi {
	uint8_t sp, fp;
	uint8_t ra;		/* the column of the return address */
	uint8_t pc;		/* the number that expressions read pc by; 255: none */
	bool record_on_top;	/* what fp points to is the upper end of a frame */
	uint64_t pc_mask;	/* what of a signed return address is an address */
	const struct stack_trampoline *trampoline;	/* NULL: tables have it */
} stack_abi;

/* The module at an address, of n that are sorted by start; or NULL. */
static inline const struct stack_module *stack_find_module(const struct stack_module *v, size_t n,
							   uint64_t at)
{
	n = SORTED_UP_TO(v, n, start, at);
	return n && at < v[n - 1].end ? &v[n - 1] : NULL;
}

/* An address in a frame's function: a return address may lie behind it, when a call in it never
 * returns. */
static inline uint64_t stack_code_address(uint64_t pc, bool exact)
{
	return pc - !exact;
}

/* Fills at most max steps (the first is the thread's own pc) and says how it ended. Returns their
 * number, or -ENOMEM. */
int stack_unwind(const struct stack_space *space, const struct stack_regs *regs,
		 struct stack_step *steps, size_t max, enum stack_end *end);

#endif
