/* SPDX-License-Identifier: BSD-3-Clause */
/* What a helper's records say of works, in our own terms. Pure: times, names and clocks are elsewhere. */
#ifndef SOURCE_HELPER_HELPER_WORK_H
#define SOURCE_HELPER_HELPER_WORK_H

#include <stdbool.h>

#include "event/event.h"
#include "gpuprof/work.h"

void helper_work_kernel(const struct gp_ring_kernel *k, struct work *out);
void helper_work_copy(const struct gp_ring_copy *c, bool is_set, struct work *out);
void helper_work_device(const struct gp_ring_device *d, struct device_facts *out);
void helper_work_graph(const struct gp_ring_graph *g, struct work *out);

uint16_t helper_work_unseen_of(const struct gp_ring_loss *loss);	/* UNSEEN_OF_* */

/* Of which device the contexts are that works had, and which devices there are. Start zeroed. */
#define HELPER_CONTEXTS_MAX 64
struct helper_contexts {
	unsigned int n, devices;
	uint32_t device;	/* the last one that was told */
	struct {
		uint32_t context, device;
	} v[HELPER_CONTEXTS_MAX];
};

void helper_contexts_note(struct helper_contexts *c, uint32_t context, uint32_t device);

/* A graph that begins on the host has no device of its own: that of its context, or the only one there
 * is. False: not known. */
bool helper_contexts_device(struct helper_contexts *c, struct work *graph);

#endif
