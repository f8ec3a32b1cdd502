/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kernels of all devices by how they were launched: grid and block, and for kernels of graphs the
 * captured call. Bounded: beyond KERNEL_CONFIGS_MAX a new one counts in the row "[other]" of its
 * process and device. Knows nothing of books; copies the names.
 */
#ifndef FACTS_KERNEL_CONFIGS_H
#define FACTS_KERNEL_CONFIGS_H

#include "base/rows.h"
#include "event/event.h"
#include "facts/kernels.h"
#include "join/graphs.h"

#define KERNEL_CONFIGS_MAX 16384
#define KERNEL_CONFIGS_OTHER "[other]"

struct kernel_config_key {
	uint32_t process, pid, device;	/* handle; as it is shown */
	uint32_t pad;
	uint32_t grid[3], block[3];
	uint32_t tid, range;		/* of the captured call, with its func, if it is known */
	uint32_t func;
	uint32_t evidence;		/* enum graph_evidence */
	/* of EVIDENCE_PENDING: the graph node whose call is not known yet */
	uint64_t node;
	/* when the call was made whose range is not known yet; else 0 */
	uint64_t open_ns;
	uint64_t name;			/* event_text_hash */
};

struct kernel_config {
	struct kernel_config_key key;
	char *name;			/* NULL: unknown */
	uint64_t count, total_ns, min_ns, max_ns;
	struct kernel_launch last;
};

struct kernel_configs {
	struct rows rows;		/* struct kernel_config */
	struct rows pending;		/* whose call, or its range, may still become known */
};

static inline size_t kernel_configs_count(const struct kernel_configs *kc)
{
	return kc->rows.n;
}

static inline const struct kernel_config *kernel_configs_at(const struct kernel_configs *kc,
							    size_t i)
{
	return kc->rows.v[i];
}

/* Counts a kernel; call NULL: no call was captured, or it is unknown. 0 or -ENOMEM. */
int kernel_configs_add(struct kernel_configs *kc, const struct event *kernel,
		       enum graph_evidence evidence, const struct captured_call *call);

/* Moves pending rows to the others once find knows their call and range, or that they stay unknown;
 * find returns PENDING while neither is. *call is read before find is called again. 0 or -ENOMEM.
 */
typedef enum graph_evidence (*kernel_configs_find_fn)(void *ctx, const struct kernel_config *row,
						      const struct captured_call **call);
int kernel_configs_resolve(struct kernel_configs *kc, kernel_configs_find_fn find, void *ctx);

#endif
