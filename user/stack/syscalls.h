/* SPDX-License-Identifier: BSD-3-Clause */
/* System calls that threads wait in, by number. Private to the room. */
#ifndef STACK_SYSCALLS_H
#define STACK_SYSCALLS_H

#include <stdint.h>

enum syscall_waits {		/* which file a call waits for */
	SYSCALL_OTHER,		/* none */
	SYSCALL_FD,		/* argument 1 is a descriptor */
	SYSCALL_POLL,		/* argument 1 points to pollfds, argument 2 is their number */
};

struct syscall_row {
	const char *name;
	uint8_t waits;		/* enum syscall_waits */
};

const struct syscall_row *syscall_find(long number);	/* NULL: not in the table */

#endif
