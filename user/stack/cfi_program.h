/* SPDX-License-Identifier: BSD-3-Clause */
/* The instructions of a CIE and an FDE. Private to the room. */
#ifndef STACK_CFI_PROGRAM_H
#define STACK_CFI_PROGRAM_H

#include "stack/cfi.h"
#include "stack/cursor.h"

struct cfi_program {
	uint64_t pc;		/* the row that holds here is wanted */
	uint64_t begin;		/* where the FDE begins */
	uint64_t code_factor;
	int64_t data_factor;
	uint8_t encoding;	/* of pointers */
	bool augmented;
	struct cursor common;	/* instructions of the CIE */
	struct cursor own;	/* and of the FDE */
};

int cfi_run(const struct cfi_program *p, struct cfi_row *row);	/* 0 or -EBADMSG */

#endif
