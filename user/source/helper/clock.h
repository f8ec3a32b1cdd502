/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CUPTI's clock converted to the host's: a line through readings that bracket it. CUPTI's
 * own is CLOCK_REALTIME, which is slewed and may be set, so one offset does not last. Knows nothing
 * of records or rings.
 *
 * A reading means: when the device's clock showed D, the host's was in [before, after]; its
 * middle is taken, and half its width is the reading's error. The offset of the reading before
 * stays if this one allows it: the middles of readings wander, clocks of equal rate do not, and
 * so the lengths of works and their overlaps are kept to the nanosecond. Between two readings
 * the offset is a straight line (a slewed clock is one, whatever its slope); before the first
 * and after the last it is theirs. Where two readings' offsets differ by more than a slew can do
 * (500 ppm, and both errors), the clock was set between them: times there are uncertain by the
 * size of the step.
 *
 * Example; readings (host 1000..1010, device 5000) and (host 2000..2030, device 6010):
 *   device 5000 -> 1005 +- 15;  device 6010 -> 2015 +- 15;  device 5505 -> 1510 +- 15
 *   device 4900 -> 905 +- 5;     device 6110 -> 2115 +- 15
 * had the second one's device shown 6000, its middle would say 2015 for it, the first one's offset
 * says 2005, which lies in [2000, 2030]: 2005 +- 25
 */
#ifndef SOURCE_HELPER_CLOCK_H
#define SOURCE_HELPER_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "gpuprof/work.h"

#define HELPER_CLOCK_READINGS 64	/* the latest are kept */

struct helper_clock {
	struct {
		uint64_t device_ns, host_ns;
		uint64_t error_ns;
	} reading[HELPER_CLOCK_READINGS];	/* in order of both times */
	unsigned int n;
	uint64_t steps;		/* times that the clock was set */
};

/* Start zeroed. False: the reading contradicts itself or goes back in the host's time; ignored. */
bool helper_clock_add(struct helper_clock *c, const struct gp_ring_clock *reading);

/* The host's time of a device's, and how uncertain it is. False: no reading yet. */
bool helper_clock_host(const struct helper_clock *c, uint64_t device_ns, uint64_t *host_ns,
		       uint64_t *error_ns);

/* Up to which device time no later reading changes the result. */
static inline uint64_t helper_clock_settled(const struct helper_clock *c)
{
	return c->n ? c->reading[c->n - 1].device_ns : 0;
}

#endif
