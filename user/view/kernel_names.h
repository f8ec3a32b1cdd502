/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The short names of a snapshot's kernels (bucket/kernel_short.h), never two kernels under one:
 * those of one short name have it in detail, and those alike in detail are numbered.
 *
 *   vectorized_elementwise<add>
 *   reduce<512, 1, Mean<float>>, reduce<128, 4, Mean<float>>
 *   scan#1, scan#2
 */
#ifndef VIEW_KERNEL_NAMES_H
#define VIEW_KERNEL_NAMES_H

#include "model/snapshot.h"

struct kernel_names;

struct kernel_names *kernel_names_new(const struct snapshot *snap);	/* NULL: out of memory */
void kernel_names_free(struct kernel_names *k);

/* By symbol; NULL: work that came without one. Lives as long as k. */
const char *kernel_names_of(const struct kernel_names *k, const char *symbol);

#endif
