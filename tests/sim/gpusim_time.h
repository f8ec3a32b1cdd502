/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Times that may not be known yet. Work behind a collective begins when that collective ends, and
 * when it ends is known only once all ranks have come. So a time here is the latest of a fixed time
 * and of `gate's end + ns` for a few gates that are still shut; with no gate left it is a number.
 * All of it happens with the world's lock held. See gpusim_gate.c for gates.
 */
#ifndef GPUSIM_TIME_H
#define GPUSIM_TIME_H

#include <stdbool.h>
#include <stdint.h>

struct gpusim_gate;

enum { GPUSIM_TIME_GATES = 8 }; /* shut gates that do not wait for each other, at once */

struct gpusim_time {
	uint64_t at_ns; /* not before this */
	uint32_t gates;
	struct {
		struct gpusim_gate *gate;
		uint64_t plus_ns;
	} after[GPUSIM_TIME_GATES];
};

static inline bool gpusim_time_known(const struct gpusim_time *time)
{
	return !time->gates;
}

static inline struct gpusim_time gpusim_time_at(uint64_t ns)
{
	return (struct gpusim_time){ .at_ns = ns };
}

struct gpusim_time gpusim_time_after(struct gpusim_gate *gate);
void gpusim_time_join(struct gpusim_time *time, const struct gpusim_time *other); /* the later */
bool gpusim_time_past(const struct gpusim_time *time);
void gpusim_time_add(struct gpusim_time *time, uint64_t ns);
/* The gate opened at end_ns. */
void gpusim_time_settle(struct gpusim_time *time, const struct gpusim_gate *gate, uint64_t end_ns);
/* Blocks, without the lock meanwhile, until the time is a number, and returns it. */
uint64_t gpusim_time_wait(const struct gpusim_time *time);

/* Each room settles the times it keeps; from gpusim_gate.c. */
void gpusim_streams_settle(const struct gpusim_gate *gate, uint64_t end_ns);
void gpusim_host_calls_settle(const struct gpusim_gate *gate, uint64_t end_ns);
void gpusim_contexts_settle(const struct gpusim_gate *gate, uint64_t end_ns);
void gpusim_events_settle(const struct gpusim_gate *gate, uint64_t end_ns);

#endif
