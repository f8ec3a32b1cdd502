/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kernels of all devices by how they were launched: grid and block, and of those that graphs ran the
 * call that was captured. Knows nothing of books; copies the names. Bounded: when there are too many
 * rows what is new is a row LAUNCHED_OTHER of its process and device.
 */
#ifndef FACTS_LAUNCHED_H
#define FACTS_LAUNCHED_H

#include "base/map.h"
#include "base/vec.h"
#include "event/event.h"
#include "join/graphs.h"
#include "facts/kernel_launch.h"

#define LAUNCHED_MAX 16384
#define LAUNCHED_OTHER "[other]"

struct launched_row {
	uint32_t pid, device;
	char *name;			/* NULL: unknown */
	uint8_t evidence;		/* enum graph_evidence */
	uint16_t func;			/* what follows is of the captured call, if it is known */
	uint32_t tid, range;
	uint64_t node;			/* with EVIDENCE_PENDING: whose call is not known yet; else 0 */
	uint64_t open_ns;		/* when its call was made, of which the range is not known yet; else 0 */
	uint64_t count, total_ns, min_ns, max_ns;
	struct kernel_launch last;
};

struct launched {
	VEC(struct launched_row) rows;
	struct map by_key;		/* hash -> index; chains go on by adding 1 */
};

void launched_free(struct launched *l);

/* Something of its call is told later. */
bool launched_waits(enum graph_evidence evidence, const struct captured_call *call);

/* A kernel; call NULL: which was captured is not known, or none was. 0 or -ENOMEM. */
int launched_count(struct launched *l, const struct event *kernel, enum graph_evidence evidence,
		   const struct captured_call *call);

/* Of rows that wait those go to `to` whose call is known now, with its range, or never will be: find says
 * which, PENDING if neither; *call is read before it is called again. 0 or -ENOMEM. */
typedef enum graph_evidence (*launched_find_fn)(void *ctx, const struct launched_row *row,
						const struct captured_call **call);
int launched_resolve(struct launched *waiting, struct launched *to, launched_find_fn find,
		     void *ctx);

void launched_cut(struct launched *l);	/* a new interval: there are none */

#endif
