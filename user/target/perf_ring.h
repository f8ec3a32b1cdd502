/* SPDX-License-Identifier: BSD-3-Clause */
/* One perf ring buffer and the records of tasks and mappings in it. Not thread-safe. */
#ifndef TARGET_PERF_RING_H
#define TARGET_PERF_RING_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/vec.h"
#include "target/target_watch.h"

#define PERF_RING_RECORD_MAX 65536	/* header.size is 16 bits */

struct perf_ring {
	struct perf_event_mmap_page *page;	/* NULL: not mapped */
	const char *data;
	size_t size;			/* of data: a power of two */
	size_t mapped;
};

/* What a record says; ev.text is owned by the record. */
struct perf_record {
	struct target_event ev;
	pid_t tid;		/* the thread it happened to; EXIT: tid == ev.pid is the leader */
	uint64_t order;		/* arrival: breaks ties of time */
	bool of_thread;		/* FORK: of a thread */
};

/*
 * Takes the next record that matters out of the ring; raw is PERF_RING_RECORD_MAX bytes of scratch,
 * aligned for u64. 1: *out is filled, 0: the ring is empty, -ENOMEM.
 */
int perf_ring_next(struct perf_ring *ring, void *raw, struct perf_record *out);

/* Pure: what a record in raw (header.size bytes, aligned) says. 1, 0: nothing that matters
 * (also: shorter than it must be), -ENOMEM. */
int perf_ring_decode(const void *raw, struct perf_record *out);

/* The perf events of one watch, one for each CPU, and their rings. */

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
