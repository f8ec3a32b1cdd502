/* SPDX-License-Identifier: BSD-3-Clause */
/* The perf events of one watch: which threads and CPUs they are on, and their rings. */
#ifndef PROBE_TARGET_PERF_H
#define PROBE_TARGET_PERF_H

#include "base/map.h"
#include "base/vec.h"
#include "probe/target_ring.h"

struct perf_cpu {
	int id;
	int fd;			/* the event that owns the ring; -1: none yet */
	struct perf_ring ring;
	struct perf_record last; /* taken from it; its text is a copy of its own */
};

struct perf_set {
	VEC(struct perf_cpu) cpus;
	VEC(int) fds;		/* all events */
	struct map tids;	/* threads that have their events */
	int epoll_fd;		/* the caller's; gets every event */
	bool whole_host;
};

/*
 * Opens the events for everybody, told by whole_host, where that is permitted; else for pid: its
 * threads, and what these start, unless it has too many. Start with the set zeroed but for
 * epoll_fd; close it also after a failure. 0 or -errno, logged but
 * for ESRCH.
 */
int perf_set_open(struct perf_set *set, pid_t pid);
void perf_set_close(struct perf_set *set);

#endif
