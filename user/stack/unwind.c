// SPDX-License-Identifier: BSD-3-Clause
/*
 * The walk from frame to frame. Tables come first; a frame pointer is believed only where tables
 * know nothing, and only if it leads up the stack and back into code.
 */
#include "stack/unwind.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/sorted.h"
#include "stack/cfi.h"

#define MAX_FRAME (8ull << 20)	/* bytes that one frame may span, for frame pointers */

#if defined(__x86_64__)
const struct stack_abi stack_abi = { .sp = 7, .fp = 6, .ra = 16, .pc = 16, .pc_mask = ~0ull,
				     .record_on_top = true };
#elif defined(__aarch64__)
/* mov x8, #__NR_rt_sigreturn; svc #0. The vdso has no table for it since 5.8, on purpose. At sp is
 * a siginfo (128 bytes), then a ucontext with its mcontext 176 bytes in: one word, registers. */
static const struct stack_trampoline sigreturn = { { 0xd2801168, 0xd4000001 }, 128 + 176 + 8 };
/* Bits above 47 of a signed address are its code; user addresses have zeros there. */
const struct stack_abi stack_abi = { .sp = 31, .fp = 29, .ra = 30, .pc = 255,
				     .pc_mask = (1ull << 48) - 1, .trampoline = &sigreturn };
#else
#error "gpuprof unwinds x86-64 and arm64 only"
#endif

struct walk {
	const struct stack_space *space;
	struct stack_regs regs;
	struct cfi *cfi;
	bool exact;		/* regs.pc is the next instruction */
	/* sp, or what is known of it: no caller's frame lies below; 0 unknown */
	uint64_t floor;
};

enum { STEP_DONE = 1 };		/* beside 0 and -errno: this was the outermost frame */

static bool is_known(const struct stack_regs *regs, uint64_t number)
{
	return number < STACK_REGS && regs->known >> number & 1;
}

static const struct stack_module *find_module(const struct walk *w, uint64_t at)
{
	return stack_find_module(w->space->modules, w->space->n_modules, at);
}

static void set_reg(struct stack_regs *regs, unsigned int number, uint64_t value)
{
	regs->reg[number] = value;
	regs->known |= 1u << number;
}

/* The caller's value of a column, or -errno. */
static int recover(const struct walk *w, const struct cfi_place *place, unsigned int number,
		   uint64_t cfa, uint64_t *value)
{
	const struct stack_space *space = w->space;
	uint64_t from = place->rule == CFI_REGISTER ? (uint64_t)place->value : number;
	int err;

	switch (place->rule) {
	case CFI_SAME: case CFI_REGISTER:
		if (!is_known(&w->regs, from))
			return -ENODATA;
		*value = w->regs.reg[from];
		return 0;
	case CFI_OFFSET:
		return space->read(space->ctx, cfa + (uint64_t)place->value, value, sizeof(*value));
	case CFI_VAL_OFFSET:
		*value = cfa + (uint64_t)place->value;
		return 0;
	case CFI_EXPRESSION:
		err = cfi_compute(space, &w->regs, place, &cfa, value);
		return err ? err : space->read(space->ctx, *value, value, sizeof(*value));
	case CFI_VAL_EXPRESSION:
		return cfi_compute(space, &w->regs, place, &cfa, value);
	default:
		return -ENODATA;
	}
}

static int apply_row(struct walk *w, const struct cfi_row *row, uint64_t cfa)
{
	struct stack_regs next = { 0 };
	uint8_t ra = w->cfi->ra;
	uint64_t value;
	int err;

	err = recover(w, &row->column[ra], ra, cfa, &next.pc);
	if (err)
		return err;
	if (row->ra_signed)
		next.pc &= stack_abi.pc_mask;
	for (unsigned int i = 0; i < STACK_REGS; i++)
		if (!recover(w, &row->column[i], i, cfa, &value))
			set_reg(&next, i, value);
	/* That is what the CFA is, unless a rule says otherwise (signal frames). */
	if (row->column[stack_abi.sp].rule == CFI_SAME)
		set_reg(&next, stack_abi.sp, cfa);
	w->regs = next;
	return 0;
}

static int step_by_table(struct walk *w, const struct stack_module *m, struct stack_step *step)
{
	uint64_t pc = w->regs.pc, cfa = 0;
	struct cfi_row row;
	int err = cfi_find(w->cfi, m, stack_code_address(pc, w->exact), &row);

	if (err)
		return err;
	if (row.column[w->cfi->ra].rule == CFI_UNDEFINED)
		return STEP_DONE;
	if (row.cfa.rule == CFI_VAL_EXPRESSION)
		err = cfi_compute(w->space, &w->regs, &row.cfa, NULL, &cfa);
	else if (is_known(&w->regs, row.cfa_reg))
		cfa = w->regs.reg[row.cfa_reg] + (uint64_t)row.cfa.value;
	else
		err = -ENODATA;
	if (err)
		return err;
	step->signal = w->cfi->signal;
	err = apply_row(w, &row, cfa);
	if (err)
		return err;
	/* A signal may have come on another stack; every other frame lies above the one it called.
	 * arm64's leaf functions have none at all. */
	if (!w->cfi->signal && (cfa < w->floor || (cfa == w->floor && w->regs.pc == pc)))
		return -ELOOP;
	w->exact = w->cfi->signal;
	w->floor = is_known(&w->regs, stack_abi.sp) ? w->regs.reg[stack_abi.sp] : cfa;
	return 0;
}

/*
 * Both machines: the saved frame pointer, and above it the return address. On x86-64 the frame ends
 * there; on arm64 what else the frame holds lies above, and the caller's sp is not known.
 */
static int step_by_pointer(struct walk *w)
{
	uint64_t fp = w->regs.reg[stack_abi.fp], pair[2];
	struct stack_regs next = { 0 };

	if (!is_known(&w->regs, stack_abi.fp) || fp % 8 || !w->floor || fp < w->floor ||
	    fp - w->floor > MAX_FRAME || w->space->read(w->space->ctx, fp, pair, sizeof(pair)))
		return -ENODATA;
	next.pc = pair[1] & stack_abi.pc_mask;
	if (next.pc && !find_module(w, next.pc - 1))
		return -ENODATA;
	set_reg(&next, stack_abi.fp, pair[0]);
	w->floor = fp + sizeof(pair);
	if (stack_abi.record_on_top)
		set_reg(&next, stack_abi.sp, w->floor);
	w->regs = next;
	w->exact = false;
	return 0;
}

/* Out of a signal handler, where it returns to instructions that are known. */
static int step_by_trampoline(struct walk *w, struct stack_step *step)
{
	const struct stack_trampoline *t = stack_abi.trampoline;
	uint64_t sp = w->regs.reg[stack_abi.sp], saved[STACK_REGS + 1];
	uint32_t code[2];

	if (!t || !is_known(&w->regs, stack_abi.sp) ||
	    w->space->read(w->space->ctx, w->regs.pc, code, sizeof(code)) ||
	    memcmp(code, t->code, sizeof(code)) ||
	    w->space->read(w->space->ctx, sp + t->regs, saved, sizeof(saved)))
		return -ENOENT;
	memcpy(w->regs.reg, saved, sizeof(w->regs.reg));
	w->regs.pc = saved[STACK_REGS];
	w->regs.known = ~0u;
	w->floor = w->regs.reg[stack_abi.sp];
	w->exact = true;
	step->signal = true;
	return 0;
}

/* What may have been half done by a failing table is undone. */
static int step_once(struct walk *w, struct stack_step *step, bool *guessed)
{
	const struct stack_module *m = find_module(w, stack_code_address(w->regs.pc, w->exact));
	struct stack_regs before = w->regs;
	int rc = m ? step_by_table(w, m, step) : -ENOENT;

	*guessed = false;
	/* A table is useless, too, if it begins with an sp that frame pointers did not give. */
	if (rc != -ENOENT && rc != -EBADMSG &&
	    (rc != -ENODATA || is_known(&before, stack_abi.sp)))
		return rc;
	w->regs = before;
	step->signal = false;
	if (!step_by_trampoline(w, step))
		return 0;
	*guessed = true;
	return step_by_pointer(w);
}

static int walk_up(struct walk *w, struct stack_step *steps, size_t max, enum stack_end *end)
{
	bool guessed = false;
	size_t n = 0;
	int rc = 0;

	*end = STACK_LOST;
	while (n < max && !rc) {
		/* The first is where the thread is, wherever that may be. */
		if (n && !w->regs.pc) {
			*end = STACK_WHOLE;
			return (int)n;
		}
		if (n && !find_module(w, stack_code_address(w->regs.pc, w->exact)))
			return (int)n;
		steps[n] = (struct stack_step){ .pc = w->regs.pc, .exact = w->exact,
						.guessed = guessed };
		if (is_known(&w->regs, stack_abi.sp))
			steps[n].sp = w->regs.reg[stack_abi.sp];
		rc = step_once(w, &steps[n++], &guessed);
	}
	if (rc == STEP_DONE)
		*end = STACK_WHOLE;
	else if (!rc)
		*end = STACK_DEEP;
	return (int)n;
}

int stack_unwind(const struct stack_space *space, const struct stack_regs *regs,
		 struct stack_step *steps, size_t max, enum stack_end *end)
{
	struct walk w = { .space = space, .regs = *regs, .exact = true,
			  .floor = is_known(regs, stack_abi.sp) ? regs->reg[stack_abi.sp] : 0 };
	int n;

	w.cfi = malloc(sizeof(*w.cfi));
	if (!w.cfi)
		return -ENOMEM;
	w.cfi->space = space;
	n = walk_up(&w, steps, max, end);
	free(w.cfi);
	return n;
}
