/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranges of a library that has its own copy of NVTX: for ranges.c. */
#ifndef RANGES_H
#define RANGES_H

/* A range in the domain "part" by a registered string, in which fn is called; and a mark. */
void ranges_part(void (*fn)(void));

#endif
