/* SPDX-License-Identifier: BSD-3-Clause */
/* DWARF expressions (DWARF 5, 2.5), as far as call frame information uses them. Private. */
#ifndef STACK_EXPRESSION_H
#define STACK_EXPRESSION_H

#include "stack/unwind.h"

struct expression {
	const uint8_t *code;
	size_t len;
	bool has_first;		/* the stack begins with `first` (the CFA), else empty */
	uint64_t first;
};

/* 0, -EBADMSG (no valid expression, or too many steps), -ENODATA (a register is not known),
 * -EFAULT. */
int expression_run(const struct stack_space *space, const struct stack_regs *regs,
		   const struct expression *e, uint64_t *result);

#endif
