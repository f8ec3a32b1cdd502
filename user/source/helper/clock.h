/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Times of CUPTI's clock in the host's: lines between readings that bracket it. CUPTI's own clock
 * is CLOCK_REALTIME, which is slewed and may be set; another profiler of the process may replace
 * it, for good, by a counter of any rate (torch.profiler: the processor's ticks). Knows no records.
 *
 * A reading means: when CUPTI's clock showed D, the host's was in [before, after]; its middle is
 * taken, and half its width is the reading's error. The line of the readings before is continued if
 * the new one allows it: the middles of readings wander, clocks of equal rate do not, and so the
 * lengths of works and their overlaps are kept.
 *
 * Two readings next to each other are joined by a line if its rate is that of the line before, of
 * the line after, or that of CUPTI's own clock: up to a slew (500 ppm) and all readings' errors.
 * Else the clock was set or replaced between them, and times there have no place: neither those in
 * between nor works that began before and ended after. The latest two of an unknown rate are
 * decided with the next reading.
 *
 * Examples; readings (host 1000..1010, device 5000) and (host 2000..2030, device 6010):
 *   device 5000 -> 1005 +- 15;  device 6010 -> 2015 +- 15;  device 5505 -> 1510 +- 15
 *   device 4900 -> 905 +- 5;     device 6110 -> 2115 +- 15
 * had the second one's device shown 6000, its middle would say 2015 for it, the first one's offset
 * says 2005, which lies in [2000, 2030]: 2005 +- 25
 * Readings every 100 ms whose device values are 100, 200 | 4000, 4210, 4420 ms: the clock was
 * replaced by one of 2.1 ticks a nanosecond; 150, 4100 have a place, 250 has none.
 */
#ifndef SOURCE_HELPER_CLOCK_H
#define SOURCE_HELPER_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "gpuprof/work.h"

#define HELPER_CLOCK_READINGS 64	/* the latest are kept */

/* How a reading and the one before it are joined. The first one counts as joined if it shows the
 * time of day. */
enum helper_clock_join { CLOCK_UNDECIDED, CLOCK_LINE, CLOCK_BROKEN };

struct helper_clock {		/* start zeroed */
	struct helper_clock_reading {
		uint64_t device, host_ns, error_ns;
		uint64_t before_ns, after_ns;
		uint8_t joined;		/* enum helper_clock_join */
		bool is_far;		/* from the time of day */
	} reading[HELPER_CLOCK_READINGS];	/* in order of the host's time */
	unsigned int n;
	uint64_t total;		/* readings so far */
	/* nothing is earlier: the last break that was forgotten, or as its user knows */
	uint64_t edge_ns;
	uint64_t steps;		/* times that the clock was set */
	uint64_t replaced;	/* times that another clock took its place */
	uint64_t tick_ps;	/* of the latest clock that is not CUPTI's own; 0: none was */
	bool is_foreign;	/* the latest line is of another clock than CUPTI's own */
	bool broken;		/* since the latest line */
	int64_t least_ns, most_ns;	/* host's clock less this one: all of a line allow it */
};

/* wall_ns: CLOCK_REALTIME - CLOCK_MONOTONIC, 0: unknown. False: the reading contradicts itself or
 * goes back in the host's time; ignored. */
bool helper_clock_add(struct helper_clock *c, const struct gp_ring_clock *reading,
		      uint64_t wall_ns);

/* No reading will come: what is undecided is decided. */
void helper_clock_end(struct helper_clock *c);

/* So many of all readings are decided: times before the last of these do not change any more. */
uint64_t helper_clock_decided(const struct helper_clock *c);

/* The reading of that number, counted from 1; the earliest that is kept; NULL: there is none. */
const struct helper_clock_reading *helper_clock_reading(const struct helper_clock *c,
							uint64_t number);

struct helper_span {		/* of the host's time */
	uint64_t start_ns, end_ns;
	uint64_t error_ns;
};

/*
 * A record of [start, end) that came after so many readings. True: its place. False: it has none;
 * *out is then the part of the host's time in which it may have run, as far as one of its ends
 * shows; end_ns 0: neither does.
 */
bool helper_clock_place(const struct helper_clock *c, uint64_t start, uint64_t end, uint64_t since,
			struct helper_span *out);

#endif
