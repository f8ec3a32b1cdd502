/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Call frame information of one address: finds its FDE in a module's .eh_frame and runs the
 * program there to the row of rules that holds at that address. Format: LSB Core, "Exception
 * Frames", and DWARF 5, 6.4. Private to the room.
 */
#ifndef STACK_CFI_H
#define STACK_CFI_H

#include "stack/unwind.h"

#define CFI_COLUMNS 33u		/* registers, and x86-64's column 16 or arm64's 32 */
/* bytes of a CIE or an FDE; real ones have some thousands at most */
#define CFI_MAX_ENTRY 65536u

enum cfi_rule {
	CFI_SAME, CFI_UNDEFINED,
	CFI_OFFSET,		/* saved at CFA + value */
	CFI_VAL_OFFSET,		/* is CFA + value */
	CFI_REGISTER,		/* is in register number value */
	CFI_EXPRESSION,		/* saved at the expression's value */
	CFI_VAL_EXPRESSION,	/* is the expression's value */
};

struct cfi_place {
	uint8_t rule;		/* enum cfi_rule */
	int64_t value;		/* of an expression: its length */
	const uint8_t *expression;	/* into struct cfi; valid until the next cfi_find */
};

struct cfi_row {
	struct cfi_place cfa;	/* CFI_REGISTER: register cfa_reg + value; CFI_VAL_EXPRESSION */
	uint8_t cfa_reg;
	bool ra_signed;		/* arm64: the return address carries an authentication code */
	struct cfi_place column[CFI_COLUMNS];
};

struct cfi {			/* large: allocate */
	const struct stack_space *space;
	bool signal;		/* of the last found: a signal handler returns to it */
	uint8_t ra;		/* its column of the return address */
	uint8_t cie[CFI_MAX_ENTRY];
	uint8_t fde[CFI_MAX_ENTRY];
};

/* 0; -ENOENT: nothing is known of this address; -EBADMSG: lies; -EFAULT: unreadable. */
int cfi_find(struct cfi *cfi, const struct stack_module *m, uint64_t pc, struct cfi_row *row);

/* The value of place's expression, whose stack begins with *first (the CFA), or empty where that is
 * NULL. 0, -EBADMSG (no valid expression, or too many steps), -ENODATA (an unknown register),
 * -EFAULT. */
int cfi_compute(const struct stack_space *space, const struct stack_regs *regs,
		const struct cfi_place *place, const uint64_t *first, uint64_t *result);

#endif
