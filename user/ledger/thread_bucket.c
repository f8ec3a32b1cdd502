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

void book_sum_add(struct book_sum *to, const struct book_sum *from)
{
	to->close_ns += from->close_ns - from->open_ns;
	to->unseen |= from->unseen;
	for (unsigned int i = 0; i < BUCKET_SUM_END; i++)
		to->ns[i] += from->ns[i];
	for (unsigned int i = 0; i < CLASS_END; i++) {
		to->blocked_ns[i] += from->blocked_ns[i];
		to->late_ns[i] += from->late_ns[i];
		to->calls[i] += from->calls[i];
		to->own_ns[i] += from->own_ns[i];
	}
}
