// SPDX-License-Identifier: BSD-3-Clause
/* One that has ended tells how long ago that was. */
#include "source/helper/helper_kept.h"

#include "base/num.h"

#define KEPT_BYTES_MAX (1ull << 30)	/* more than helpers have buffers for */

void helper_kept_note(struct helpers_status *out, uint64_t alive_ns)
{
	const struct gp_ring_head *head = &out->head;
	uint64_t end_ns = head->state == GP_HELPER_ENDED ? head->state_ns : alive_ns;

	if (!head->kept_bytes || head->kept_since_ns > end_ns)
		return;
	out->kept_bytes = num_min(head->kept_bytes, KEPT_BYTES_MAX);
	out->kept_ns = end_ns - head->kept_since_ns;
}
