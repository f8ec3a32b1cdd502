/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Keeps what probes cost a thread below a share of its wall time (--budget). Decided from the calls
 * that probes report and the calibrated cost of each. Pure: makes no links.
 *
 * A credit is filled at BUDGET_FILL of the share, up to what BUDGET_HOLD_NS fill, and each trap is
 * taken from it: of all threads the one counts that paid most since the last look. Launches have
 * probes until the credit is used up, and again when it is full. So no thread pays more than the
 * share of any BUDGET_HOLD_NS / (1 - BUDGET_FILL), but for what is on its way when that is
 * noticed, which is taken from later credit. Only launches can be left out: the other calls of that
 * thread slow the filling.
 *
 *   all         at first: launches have the probes that --launch chooses
 *   records     the credit is used up, and CUPTI records the launches of all processes: its records
 *               are the launches, where something else wanted their probes (stacks)
 *   part        used up all the same: launches have probes for a part of the time
 *   none        the credit does not fill within BUDGET_NONE_NS, for the cost of other calls: none
 *               has any until it does
 *
 * One step down at a time. From each, up to all, when launches had their probes for BUDGET_UP_NS
 * without a pause; after each fall from there twice as long, up to BUDGET_UP_MAX_NS.
 *
 * Examples; share 1 %: the credit is full at 20 ms and fills at 9 ms a second; a call costs 1 us:
 *
 *   8,000 launches a second                 all
 *   10,000 of each of two threads           all for 20 s, then part: on for 20 s, off for 2.2 s
 *   300,000                                 all for 69 ms, then part: on for 69 ms, off for 2.2 s
 *   300,000 for 60 ms, then none for 2 s    all
 *   300,000, and CUPTI records them         records
 *   300,000, and 10,000 of synchronising    none
 *   300,000, later 1,000                    part; 30 s after these began: all
 */
#ifndef PROBE_BUDGET_H
#define PROBE_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

#include "event/event.h"

#define BUDGET_FILL 0.9
#define BUDGET_HOLD_NS 2000000000ull
#define BUDGET_NONE_NS 30000000000ull
#define BUDGET_LATE_NS 500000000ull	/* probes are on or off by then */
#define BUDGET_PASSED_NS 5000000000ull
#define BUDGET_UP_NS 30000000000ull
#define BUDGET_UP_MAX_NS 1920000000000ull

enum budget_step { BUDGET_ALL, BUDGET_RECORDS, BUDGET_PART, BUDGET_NONE, BUDGET_STEPS };

struct budget_rules {
	double share;		/* of a thread's wall time; above 0 */
	uint64_t call_ns;	/* of a recorded call */
	uint64_t nested_ns;	/* of a hit that is not recorded */
	uint64_t step_ns;	/* added where the first instruction is single-stepped */
};

struct budget;
struct budget *budget_new(const struct budget_rules *rules, uint64_t now_ns);	/* NULL + errno */
void budget_free(struct budget *b);

/* Any event of probes; those that were lost are known by their numbers. 0 or -ENOMEM. */
int budget_push(struct budget *b, const struct event *ev);

struct budget_look {
	uint64_t now_ns;
	/* The kernel's counters since the session began: of hits inside other calls, and of links
	 * that are being taken off. The thread that paid most pays them, since whose they were is
	 * not known. */
	uint64_t nested, silent;
	const uint8_t *outcomes;	/* PLAN_* bits of each row; NULL: none is single-stepped */
	/* Does CUPTI record the launches of all processes that make calls, and they are probed for
	 * another reason? NULL: no. */
	bool (*has_records)(void *ctx);
	void *ctx;
};

struct budget_state {
	enum budget_step step;
	bool probes;		/* launches are to have probes */
	/* When that changes, as far as can be foreseen; in the first BUDGET_LATE_NS of probes it
	 * cannot, and may be at once. */
	uint64_t turn_ns;
	/* When the step was taken, of the wall time of the thread that paid most: */
	double cost;		/* of all its calls, since the credit was full */
	double others;		/* of these, but for its launches */
	uint32_t pid, tid;
	/* Other calls alone have cost more than the share for BUDGET_PASSED_NS: then these are of
	 * that, and nothing can be left out. */
	bool is_passed;
};

/* Every 0.1 s, and more often when turn_ns comes close. */
struct budget_state budget_look(struct budget *b, const struct budget_look *look);

const char *budget_step_name(enum budget_step step);	/* "all", "records", "part", "none" */

#endif
