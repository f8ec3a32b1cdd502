/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What each process did on each of its devices: a book of every nanosecond, and statistics of its
 * kernels and copies. Bounded: grows with processes, devices and names of kernels, never with works.
 * Knows nothing of calls; gaps go to who asks why a device was idle.
 */
#ifndef LEDGER_DEVICES_H
#define LEDGER_DEVICES_H

#include <stdbool.h>

#include "bucket/kernel_class.h"
#include "event/event.h"
#include "event/work.h"
#include "ledger/device_book.h"
#include "ledger/hist.h"

/* Buckets of the book: the classes of kernels, whole graphs, copies by direction, sets. */
enum device_bucket {
	DEVICE_KERNELS = 0,				/* + enum kernel_class */
	DEVICE_GRAPHS = DEVICE_KERNELS + KERNEL_CLASSES,
	DEVICE_COPIES,					/* + enum copy_dir */
	DEVICE_COPIES_PEER = DEVICE_COPIES + COPY_DEFAULT + 1,
	DEVICE_SETS,
	DEVICE_BUCKETS_END
};
const char *device_bucket_name(unsigned int bucket);	/* "gemm", "copy-h2d", ..., "?" */

struct kernel_stats {
	const char *name;		/* NULL: unknown */
	enum kernel_class class;
	struct hist time;		/* ns */
	struct work last;		/* registers, shared memory, grid, block of the latest one */
	bool mixed;			/* not all had that grid and block */
};

#define DEVICES_KERNELS_MAX 65536	/* names told apart on one device; more are one row, "(others)" */

struct copy_stats {
	uint64_t count, bytes, total_ns;
};

struct device_state {
	uint32_t pid;
	uint32_t device;		/* the process's own ordinal */
	bool has_facts;
	struct device_facts facts;
	char name[64];			/* "": unknown */
	struct device_book *book;
	size_t kernels;
	struct kernel_stats **kernel;
	/* By direction (the last: between devices) and by enum work_memory. */
	struct copy_stats copies[COPY_DEFAULT + 2][3];
	struct copy_stats sets;
};

struct devices;

struct devices *devices_new(void);	/* NULL + errno */
void devices_free(struct devices *d);

/* open_ns: where a book that this event opens begins. 0 or -ENOMEM. */
int devices_push_work(struct devices *d, const struct event *ev, uint64_t open_ns);
int devices_push_facts(struct devices *d, const struct event *ev, uint64_t open_ns);

size_t devices_count(const struct devices *d);
const struct device_state *devices_get(const struct devices *d, size_t i);

#endif
