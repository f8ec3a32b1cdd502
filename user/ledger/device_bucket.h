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
const char *device_bucket_name(unsigned int bucket);	/* "gemm", "copy-h2d", ..., "?" */
/* of its works: "compute", "comm", "copy", "set" */
const char *device_state_name(unsigned int bucket);
/* the one of the same name that has its row */
static inline unsigned int device_bucket_row(unsigned int bucket)
{
	return bucket >= DEVICE_PAGEABLE && bucket < DEVICE_BUCKETS_END ?
	       bucket - DEVICE_PAGEABLE + DEVICE_COPIES : bucket;
}

#endif
