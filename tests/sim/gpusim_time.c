// SPDX-License-Identifier: BSD-3-Clause
/*
 * Arithmetic on times that may wait for gates.
 */
#include "gpusim_time.h"

#include <stdio.h>
#include <stdlib.h>

#include "gpusim_internal.h"

struct gpusim_time gpusim_time_after(struct gpusim_gate *gate)
{
	return (struct gpusim_time){ .gates = 1, .after = { { gate, 0 } } };
}

static void drop(struct gpusim_time *time, uint32_t i)
{
	time->after[i] = time->after[--time->gates];
}

/* A gate that another one of this time waits for anyway says nothing: without this a stream that
 * never synchronises would gather all its collectives. */
static void drop_implied(struct gpusim_time *time)
{
	uint32_t i = 0, j;

	while (i < time->gates) {
		for (j = 0; j < time->gates; j++)
			if (j != i &&
			    gpusim_gate_waits_for(time->after[j].gate, time->after[i].gate,
						  time->after[i].plus_ns))
				break;
		if (j < time->gates)
			drop(time, i);
		else
			i++;
	}
}

static void join_gate(struct gpusim_time *time, struct gpusim_gate *gate, uint64_t plus_ns)
{
	uint32_t i;

	for (i = 0; i < time->gates; i++) {
		if (time->after[i].gate != gate)
			continue;
		time->after[i].plus_ns = gpusim_max(time->after[i].plus_ns, plus_ns);
		return;
	}
	if (time->gates == GPUSIM_TIME_GATES) {
		fprintf(stderr, "gpusim: more than %d unrelated collectives at once\n",
			GPUSIM_TIME_GATES);
		abort();
	}
	time->after[time->gates].gate = gate;
	time->after[time->gates++].plus_ns = plus_ns;
	drop_implied(time);
}

void gpusim_time_join(struct gpusim_time *time, const struct gpusim_time *other)
{
	uint32_t i;

	time->at_ns = gpusim_max(time->at_ns, other->at_ns);
	for (i = 0; i < other->gates; i++)
		join_gate(time, other->after[i].gate, other->after[i].plus_ns);
}

void gpusim_time_add(struct gpusim_time *time, uint64_t ns)
{
	uint32_t i;

	time->at_ns = gpusim_later(time->at_ns, ns);
	for (i = 0; i < time->gates; i++)
		time->after[i].plus_ns = gpusim_later(time->after[i].plus_ns, ns);
}

void gpusim_time_settle(struct gpusim_time *time, const struct gpusim_gate *gate, uint64_t end_ns)
{
	uint32_t i;

	for (i = 0; i < time->gates; i++) {
		if (time->after[i].gate != gate)
			continue;
		time->at_ns = gpusim_max(time->at_ns, gpusim_later(end_ns, time->after[i].plus_ns));
		drop(time, i);
		return;
	}
}

bool gpusim_time_past(const struct gpusim_time *time)
{
	return gpusim_time_known(time) && gpusim_now_ns() >= time->at_ns;
}
