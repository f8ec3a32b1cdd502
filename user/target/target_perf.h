/* SPDX-License-Identifier: BSD-3-Clause */
/* The perf events of one watch, one for each CPU, and their rings. */
#ifndef TARGET_TARGET_PERF_H
#define TARGET_TARGET_PERF_H

#include "base/vec.h"
#include "target/target_ring.h"

struct perf_cpu {
	int id;
	int fd;			/* the event that owns the ring; -1: none, the CPU is off */
	struct perf_ring ring;
};

struct perf_set {
	VEC(struct perf_cpu) cpus;
	int epoll_fd;		/* the caller's; gets every event */
};

/*
 * Opens the events for everybody on this host. Start with the set zeroed but for epoll_fd; close it
 * also after a failure. 0 or -errno, logged.
 */
int perf_set_open(struct perf_set *set);
void perf_set_close(struct perf_set *set);

#endif
