/* SPDX-License-Identifier: BSD-3-Clause */
/* What procfs has of one thread's time on a CPU, and of what it does now. */
#ifndef HOST_SCHED_H
#define HOST_SCHED_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Both since it began; of a thread on a CPU as of a clock tick ago, of one that waits for a CPU as
 * of its last time on one. */
struct sched_times {
	uint64_t ran_ns;	/* on a CPU; never 0 where the kernel counts */
	uint64_t delayed_ns;	/* ready without one */
};

#define SCHED_FILES 3

/* Its files, open once they were read; when it is gone they are not those of the next that has its
 * number. */
struct sched_thread {
	pid_t pid, tid;
	int fd[SCHED_FILES];
};

#define SCHED_THREAD(p, t) { (p), (t), { -1, -1, -1 } }

void sched_thread_close(struct sched_thread *t);

/* 0 or -errno: ESRCH, it is gone; ENODATA, the kernel does not count. */
int sched_read_times(struct sched_thread *t, struct sched_times *out);

#define SCHED_NO_SYSCALL (-1)
#define SCHED_UNKNOWN (-2)

/* 'R', 'S', ...: its state, and if it sleeps the system call that it is in, or one of the above
 * (number NULL: not asked for). 0: it is gone. */
char sched_read_state(struct sched_thread *t, long *number);

#endif
