/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * BPF's part of a catalogue row: which words to read, and how its calls are followed. Written by
 * user space (catalog/catalog.c) before the programs are loaded.
 */
#ifndef GPUPROF_ROW_H
#define GPUPROF_ROW_H

#include "event.h"

#define GP_ROWS_MAX 4096

/* Where a row's extra words come from. */
#define GP_EXTRA_NONE 0
/* arguments 6, 7, ...: on x86-64 the words after the return address */
#define GP_EXTRA_STACK 1
#define GP_EXTRA_DEREF 2	/* the word that argument gp_row.from points to, at entry */
#define GP_EXTRA_STACK_AT 3	/* the same, but single words: those that gp_row.at names */
#define GP_EXTRA_DEREF_AT 4
#define GP_EXTRA_OPERANDS 5	/* no words behind, but others instead: GP_COOKIE_OPERANDS_SHIFT */

/* gp_row.flags */
#define GP_ROW_TWO 0x01		/* send GP_ENTER at entry too: the call may block or last */
#define GP_ROW_ENTRY_ONLY 0x02	/* no return probe: GP_CALL is sent at entry, dur 0 */
/* ends in a jump to another row: both are hit with one return address */
#define GP_ROW_JUMPS 0x04
#define GP_ROW_LAUNCH 0x08	/* starts work on a device */
/* of the driver, which the runtime calls inside its own functions */
#define GP_ROW_DRIVER 0x10
/* at the return word 0 becomes the word it points to; 0: it cannot be read */
#define GP_ROW_OUT 0x20
#define GP_ROW_OUT_SECOND 0x40	/* with GP_ROW_OUT: not word 0, but word 1 */
#define GP_ROW_BLOCKS 0x80	/* the host goes on when it returns: its stack is of interest */

/* An array indexed by row. */
struct gp_row {
	gp_u8 words;		/* GP_WORDS_* */
	gp_u8 extra;		/* GP_EXTRA_* */
	gp_u8 extra_words;	/* how many to read, <= words - 6 */
	gp_u8 flags;		/* GP_ROW_* */
	gp_u8 at[GP_EXTRA_MAX];	/* GP_EXTRA_*_AT: word i is this many 8-byte words from there */
	gp_u8 from;		/* GP_EXTRA_DEREF*: the argument, < GP_REGS */
	gp_u8 asks;		/* is no call: notes its thread for those that work for it */
};

_Static_assert(sizeof(struct gp_row) == 12, "row");

#endif
