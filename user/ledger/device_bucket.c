// SPDX-License-Identifier: BSD-3-Clause
/* The names of buckets, as outputs spell them. */
#include "ledger/device_bucket.h"

const char *device_bucket_name(unsigned int bucket)
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

const char *device_state_name(unsigned int bucket)
{
	if (bucket == DEVICE_KERNELS + KERNEL_COMM)
		return "comm";
	if (bucket <= DEVICE_GRAPHS)
		return "compute";
	return bucket == DEVICE_SETS ? "set" : "copy";
}
