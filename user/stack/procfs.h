/* SPDX-License-Identifier: BSD-3-Clause */
/* What /proc tells of a thread. Private to the room. */
#ifndef STACK_PROCFS_H
#define STACK_PROCFS_H

#include "base/str.h"
#include "stack/memory.h"
#include "stack/snapshot.h"

struct procfs_where {		/* of /proc/PID/task/TID/syscall */
	bool blocked;		/* sp and pc are those of a thread that waits in the kernel */
	uint64_t sp, pc;
};

/* Fills state, cpu, wchan, syscall, file; what cannot be read stays unknown. 0, -ENOMEM, or -EACCES
 * when `where` is denied. */
int procfs_read_thread(struct stack_thread *t, struct strpool *names, struct stack_memory *memory,
		       struct procfs_where *where);

#endif
