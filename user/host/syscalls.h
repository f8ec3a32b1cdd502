/* SPDX-License-Identifier: BSD-3-Clause */
/* System calls that threads wait in, by this machine's numbers: names, and the reason to wait. */
#ifndef HOST_SYSCALLS_H
#define HOST_SYSCALLS_H

#include <stdint.h>

enum syscall_waits {		/* which file a call waits for */
	SYSCALL_OTHER,		/* none */
	SYSCALL_FD,		/* argument 1 is a descriptor */
	SYSCALL_POLL,		/* argument 1 points to pollfds, argument 2 is their number */
};

enum syscall_why {		/* the reason why a thread blocks in it */
	SYSCALL_FOR_OTHER,
	SYSCALL_FOR_IO,		/* files, pipes, sockets: data, room or readiness */
	SYSCALL_FOR_LOCK,	/* another thread */
	SYSCALL_FOR_SLEEP,	/* the time, or a signal */
};

struct syscall_row {
	const char *name;
	uint8_t waits;		/* enum syscall_waits */
	uint8_t why;		/* enum syscall_why */
};

const struct syscall_row *syscall_find(long number);	/* NULL: not in the table */

#endif
