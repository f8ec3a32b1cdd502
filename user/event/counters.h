/* SPDX-License-Identifier: BSD-3-Clause */
/* Facts of a session that count: they only grow, so that each of several captures has what grew while
 * it was written. The names leave the process. */
#ifndef EVENT_COUNTERS_H
#define EVENT_COUNTERS_H

enum counter {
	COUNTER_NESTED,		/* hits of probes inside another call */
	COUNTER_REACHED,	/* of these, a launch of the driver's inside one of the runtime's */
	COUNTER_ABANDONED,	/* calls that never returned */
	COUNTER_FOREIGN,	/* hits of processes that are not followed */
	COUNTER_UNFOLLOWED,	/* children that there was no room for */
	COUNTER_END
};

extern const char *const counter_names[COUNTER_END];

#endif
