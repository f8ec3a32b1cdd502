/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The end of a process, as its ring's last head tells it: when it was, and from when on nothing was told
 * that should have been. All times but the head's are of the host. Knows no rings and no records.
 *
 * Examples; the helper's clock is 5 ahead of the host's, the process was seen alive last at 90:
 *
 *   ENDED at 105                     it ended at 100, and told all that was launched before 100
 *   ENDED at 105, last record 103    it ended at 103, and told all that was launched before 100
 *   ENDED at 105, we were late at 95, told until 80:  of [80, ...) nothing was told
 *   AWAKE, told until 80             it ended at 90; of [80, ...) nothing was told
 *   VIRGIN                           it ended at 90; there was nothing to tell
 *   ENDED at 900, found at 110       that cannot be: it ended at 90
 */
#ifndef SOURCE_HELPER_HELPER_END_H
#define SOURCE_HELPER_HELPER_END_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "event/event.h"
#include "gpuprof/ring.h"

struct helper_end {
	const struct gp_ring_head *head;
	int64_t offset_ns;		/* of the process's clock, as helpers_process has it */
	uint64_t alive_ns, found_ns;	/* seen last; found to have ended */
	uint64_t last_ns, told_ns;	/* the end of its last record; told until then, 0: nothing */
	uint64_t lapse_ns;		/* helper_source_lapse_ns */
	bool broken;			/* its ring is */
};

uint64_t helper_end_ns(struct helper_end e);
uint64_t helper_end_untold_since(struct helper_end e);	/* 0: all was told */

/* When it ended (EVENT_ENDED_NS), as a fact about the process. 0 or the sink's error. */
int helper_end_tell(struct helper_end e, pid_t pid, const struct event_sink *sink);

#endif
