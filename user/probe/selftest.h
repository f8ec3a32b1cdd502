/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Probes gpuprof itself with a loaded object: does this way attach, which processes may it
 * follow to the return, and what does a probe cost?
 */
#ifndef PROBE_SELFTEST_H
#define PROBE_SELFTEST_H

#include <stdbool.h>
#include <stdint.h>

#include "probe/loader.h"

struct selftest_costs {		/* of one call, in ns; 0: could not be measured */
	uint64_t call_ns;	/* recorded: entry and return of a launch row */
	uint64_t nested_ns;	/* hit and not recorded */
	uint64_t step_ns;	/* more, where the first instruction is single-stepped */
};

/*
 * Sets loader_facts.returns and fills costs. returns_kill: as if return probes killed
 * processes under seccomp. 0 or -errno. Leaves no link and no state of ours.
 */
int selftest_run(struct loader *l, bool returns_kill, struct selftest_costs *costs);

#endif
