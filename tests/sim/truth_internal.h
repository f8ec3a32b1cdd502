/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The per-thread records of the truth, between the counting (truth.c) and the writing
 * (truth_write.c). One thread owns a record; the writer may read it at any moment, so counters and
 * list heads are stored with release.
 */
#ifndef TRUTH_INTERNAL_H
#define TRUTH_INTERNAL_H

#include <stdio.h>

#include "gpusim_truth.h"

enum { TRUTH_RESULTS = 8 };

struct truth_shape {
	struct truth_shape *next;
	struct gpusim_shape shape;
	uint64_t count;
};

struct truth_result {
	int code;
	uint64_t count; /* 0: slot not used */
};

struct truth_counts {
	uint64_t begun, count, errors, bytes, total_ns, recorded_ns, max_ns;
	struct truth_result results[TRUTH_RESULTS];
	struct truth_shape *shapes;
};

struct truth_thread {
	struct truth_thread *next;
	int tid;
	char name[16];
	uint64_t first_ns, last_ns;
	unsigned int depth;
	uint32_t correlation; /* of the outermost call it is in */
	struct truth_counts counts[GPUSIM_FUNCTIONS][GPUSIM_PLACES];
};

extern struct truth_thread *truth_threads;

const char *truth_function_name(enum gpusim_function function);
const char *truth_class_name(enum gpusim_function function);

/* To the file of that name, with the first %p replaced by the pid; complete or not at all. 0 or
 * -errno, which was said. */
int truth_write_file(const char *pattern, void (*write)(FILE *file));

static inline uint64_t truth_read(const uint64_t *counter)
{
	return __atomic_load_n(counter, __ATOMIC_ACQUIRE);
}

static inline void truth_set(uint64_t *counter, uint64_t value)
{
	__atomic_store_n(counter, value, __ATOMIC_RELEASE);
}

static inline void truth_add(uint64_t *counter, uint64_t more)
{
	truth_set(counter, *counter + more);
}

#endif
