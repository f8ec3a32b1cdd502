/* SPDX-License-Identifier: BSD-3-Clause */
/* What a test has allocated now. */
#ifndef LIB_HEAP_H
#define LIB_HEAP_H

#include <malloc.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __SANITIZE_ADDRESS__
#define HEAP_COUNTS false	/* its allocator does not say what it holds */
#else
#define HEAP_COUNTS true
#endif

static inline uint64_t heap_bytes(void)
{
	struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

#endif
