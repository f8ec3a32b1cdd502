/* SPDX-License-Identifier: BSD-3-Clause */
/* The buckets of a device's book: classes of kernels, whole graphs, copies by direction, sets. */
#ifndef LEDGER_DEVICE_BUCKET_H
#define LEDGER_DEVICE_BUCKET_H

#include "bucket/kernel_class.h"
#include "event/event.h"

enum device_bucket {
	DEVICE_KERNELS = 0,				/* + enum kernel_class */
	DEVICE_GRAPHS = DEVICE_KERNELS + KERNEL_CLASSES,
	DEVICE_COPIES,					/* + enum copy_dir; of other memory */
	DEVICE_COPIES_PEER = DEVICE_COPIES + COPY_DEFAULT + 1,
	DEVICE_SETS,
	DEVICE_PAGEABLE,				/* + enum copy_dir: of pageable memory */
	DEVICE_BUCKETS_END = DEVICE_PAGEABLE + COPY_DEFAULT + 1
};

/* the one of the same name that has its row */
static inline unsigned int device_bucket_row(unsigned int bucket)
{
	return bucket >= DEVICE_PAGEABLE && bucket < DEVICE_BUCKETS_END ?
	       bucket - DEVICE_PAGEABLE + DEVICE_COPIES : bucket;
}

/* "gemm", "copy-h2d", ..., "?" */
static inline const char *device_bucket_name(unsigned int bucket)
{
	static const char *const names[DEVICE_BUCKETS_END] = {
		[DEVICE_GRAPHS] = "graph",
		[DEVICE_COPIES + COPY_H2H] = "copy-h2h", [DEVICE_COPIES + COPY_H2D] = "copy-h2d",
		[DEVICE_COPIES + COPY_D2H] = "copy-d2h", [DEVICE_COPIES + COPY_D2D] = "copy-d2d",
		[DEVICE_COPIES + COPY_DEFAULT] = "copy", [DEVICE_COPIES_PEER] = "copy-p2p",
		[DEVICE_SETS] = "set",
	};

	bucket = device_bucket_row(bucket);
	if (bucket < DEVICE_GRAPHS)
		return kernel_class_name(bucket);
	return bucket < DEVICE_BUCKETS_END ? names[bucket] : "?";
}

/* of its works: "compute", "comm", "copy", "set" */
static inline const char *device_state_name(unsigned int bucket)
{
	if (bucket == DEVICE_KERNELS + KERNEL_COMM)
		return "comm";
	if (bucket <= DEVICE_GRAPHS)
		return "compute";
	return bucket == DEVICE_SETS ? "set" : "copy";
}

#endif
