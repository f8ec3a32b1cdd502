/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The threads that CUPTI has started because we use it: like ours they never end by themselves, and are
 * nobody's reason to live. They are those that were not there before and hear no signal, as who started
 * them then. Knows nothing of CUPTI.
 */
#ifndef HELPER_KIN_H
#define HELPER_KIN_H

#include <stddef.h>

#define KIN_THREADS 1024	/* of more it is not told which are new */
#define KIN_MAX 8

struct kin {
	int tid[KIN_MAX];
	unsigned int n;
};

/* Those there are now; 0: too many, or not to be read. */
size_t kin_list(int tids[KIN_THREADS]);

/* Adds who has come since the list was made. */
void kin_add(struct kin *kin, const int *before, size_t n_before);

/* How many live beside the main thread, if all are kin but the one who asks; else 0. */
size_t kin_count(const struct kin *kin);

#endif
