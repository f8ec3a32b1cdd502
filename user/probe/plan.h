/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which functions of a file get probes: decided by the file's name and bytes, the catalogue and a
 * few rules. Pure: knows nothing of links, processes and BPF.
 */
#ifndef PROBE_PLAN_H
#define PROBE_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpuprof/control.h"
#include "gpuprof/row.h"
#include "probe/ops.h"

struct elf_file;

/* The default limit of the cost that single-stepping a function's first instruction may add to a
 * hit, for functions that are called often; those that are called seldom are probed at any cost. */
#define PLAN_STEP_LIMIT_NS 2000u

/* Whose launches are probed: the runtime calls the driver, so with both each is hit twice. */
enum plan_launch {
	LAUNCH_AUTO = 0,	/* both, until they are found not to be needed (probe/launches.h) */
	LAUNCH_BOTH,		/* the runtime's and the driver's: none is missed */
	LAUNCH_RUNTIME,		/* the driver's only for processes without a runtime to probe */
	LAUNCH_DRIVER,		/* the driver's alone */
	LAUNCH_HELPER,		/* none: CUPTI's records are the launches */
};

/* The parts of a plan, which have links of their own. Of ENTRIES returns are not probed. */
enum plan_part {
	PLAN_OTHERS, PLAN_ENTRIES, PLAN_RUNTIME_LAUNCHES, PLAN_DRIVER_LAUNCHES, PLAN_PARTS
};

struct plan_rules {
	enum plan_launch launch;
	unsigned int tier;	/* no rows above it */
	bool asks;		/* also rows that are no calls */
	unsigned int ops;	/* which operators of frameworks; bit n: enum ops_level */
	bool shapes;		/* ... and the shapes of their tensors */
	bool marks;		/* also places that are marked for tracers */
	/* the cost that single-stepping adds on this host; 0: unknown, too much */
	uint64_t step_ns;
	uint64_t step_limit_ns;	/* its limit; 0: PLAN_STEP_LIMIT_NS */
};

/* The state of a row in a file, beside a plain probe. */
#define PLAN_STEPPED 0x01	/* probed, and its first instruction is single-stepped */
#define PLAN_TOO_DEAR 0x02	/* left out: single-stepping it is above the limit */
#define PLAN_REFUSED 0x04	/* left out: the kernel cannot probe its first instruction */
#define PLAN_LEFT_OUT 0x08	/* left out: not among the few that can be probed */
#define PLAN_FAILED 0x10	/* its file could not be attached to: it may have no probe */

/* Called for each operator that is probed: its id, and its name, valid during the call. */
struct plan_ops_sink {
	void (*found)(void *ctx, uint64_t id, const char *name);
	void *ctx;
};

#define PLAN_MAX 8192u

struct plan {			/* the probes of one file */
	uint64_t offsets[PLAN_MAX];
	/* or GP_COOKIE_OP, an operator's id, and its tensor but for the number of the layout */
	uint64_t rows[PLAN_MAX];
	uint64_t semaphores[PLAN_MAX];	/* file offsets of counters (struct elf_usdt); 0: none */
	struct gp_layout layout;	/* of tensors; types 0: unknown, or not of use */
	size_t end[PLAN_PARTS];	/* part by part: each begins where the one before it ends */
	bool found;		/* the file holds catalogue functions */
	bool has_calls;		/* ... and not only such as are no calls */
	unsigned int too_dear;	/* left out: single-stepping their first instruction is too dear */
	unsigned int refused;	/* left out: the kernel cannot probe their first instruction */
	unsigned int left_out;	/* by plan_keep_core */
	/* PLAN_* bits, by row; 0: a plain probe, or no such function */
	uint8_t outcome[GP_ROWS_MAX];
};

/* Adds what ef, which a process knows as path, has to probe. 0 or -errno; a file that lies has
 * nothing. ops is not used where none are wanted. */
int plan_file(struct plan *plan, struct elf_file *ef, const char *path,
	      const struct plan_rules *rules, const struct plan_ops_sink *ops);

/* Which libraries of the catalogue the file behind ef holds, which a process knows as path: by its
 * name, or as static copies inside. Bit i: catalog_library(i). */
uint32_t plan_libraries(struct elf_file *ef, const char *path);

static inline size_t plan_begin(const struct plan *plan, enum plan_part part)
{
	return part ? plan->end[part - 1] : 0;
}

/* The state of what is probed with this cookie; NULL: it is no function of the catalogue. */
static inline uint8_t *plan_outcome(struct plan *plan, uint64_t cookie)
{
	return cookie < GP_ROWS_MAX ? &plan->outcome[cookie] : NULL;
}

/* all of its probes */
static inline size_t plan_size(const struct plan *plan)
{
	return plan->end[PLAN_PARTS - 1];
}

/* does it have launches of the runtime? */
static inline bool plan_has_runtime(const struct plan *plan)
{
	return plan->end[PLAN_RUNTIME_LAUNCHES] > plan_begin(plan, PLAN_RUNTIME_LAUNCHES);
}

/* Keeps at most `max` functions of all these plans up to the end of `last`, the best first, a
 * function of several files once in each; the others are counted as left out. 0, or -ENOMEM: the
 * plans are as before. */
int plan_keep_core(struct plan *const *plans, size_t n, enum plan_part last, size_t max);

#endif
