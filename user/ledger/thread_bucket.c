// SPDX-License-Identifier: BSD-3-Clause
/* The names of buckets, as outputs spell them. */
#include "ledger/thread_bucket.h"

const char *bucket_name(unsigned int bucket)
{
	static const char *const unseen[] = {
		[0] = "lost", [BUCKET_UNARMED - BUCKET_LOST] = "unarmed",
		[BUCKET_UNKNOWN - BUCKET_LOST] = "unknown",
	};

	if (bucket_is_off(bucket))
		return off_reason_name(bucket - BUCKET_OFF_0);
	if (bucket == BUCKET_GPUPROF)
		return "gpuprof";
	return bucket < CLASS_END || bucket >= BUCKET_END ? class_name(bucket) :
							    unseen[bucket - BUCKET_LOST];
}
