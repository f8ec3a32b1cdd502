// SPDX-License-Identifier: BSD-3-Clause
/* Fields to fields; CUPTI's numbers of directions and of memory by tables. */
#include "source/helper/helper_work.h"

#include <stdio.h>
#include <string.h>

#include "event/event.h"
#include "gpuprof/cuda_numbers.h"
#include "gpuprof/ring.h"

#define ON_HOST 0x7fffffffu	/* the device of a graph that begins there */

/* Only works have no time, as far as the helper looks. A call's record is told of as if a work's was lost. */
uint16_t helper_work_unseen_of(const struct gp_ring_loss *loss)
{
	const uint32_t memory = 1u << GP_RING_MEMORY;

	if (loss->cause == GP_LOSS_NO_TIME)
		return UNSEEN_OF_WORKS;
	return (uint16_t)((loss->kinds & memory ? UNSEEN_OF_MEMORY : 0) |
			  (loss->kinds & ~memory ? UNSEEN_OF_WORKS : 0));
}

void helper_work_kernel(const struct gp_ring_kernel *k, struct work *out)
{
	*out = (struct work){
		.kind = WORK_KIND_KERNEL, .registers = k->registers, .launch_type = k->launch_type,
		.has = (k->has & GP_KERNEL_HAS_GRAPH ? WORK_HAS_GRAPH : 0) |
		       (k->has & GP_KERNEL_HAS_CLUSTER ? WORK_HAS_CLUSTER : 0) |
		       (k->has & GP_KERNEL_HAS_MAX_CLUSTERS ? WORK_HAS_MAX_CLUSTERS : 0),
		.device = k->device, .context = k->context, .stream = k->stream,
		.correlation = k->correlation, .graph = k->graph, .graph_node = k->graph_node,
		.static_shared = k->static_shared, .dynamic_shared = k->dynamic_shared,
		.shared_executed = k->shared_executed, .local_per_thread = k->local_per_thread,
		.max_active_clusters = k->max_active_clusters };
	memcpy(out->grid, k->grid, sizeof(k->grid));
	memcpy(out->block, k->block, sizeof(k->block));
	memcpy(out->cluster, k->cluster, sizeof(k->cluster));
}

static const struct {
	uint8_t dir, known;
} directions[] = {
	[GP_COPY_HTOD] = { COPY_H2D, 1 }, [GP_COPY_DTOH] = { COPY_D2H, 1 },
	[GP_COPY_HTOA] = { COPY_H2D, 1 }, [GP_COPY_ATOH] = { COPY_D2H, 1 },
	[GP_COPY_ATOA] = { COPY_D2D, 1 }, [GP_COPY_ATOD] = { COPY_D2D, 1 },
	[GP_COPY_DTOA] = { COPY_D2D, 1 }, [GP_COPY_DTOD] = { COPY_D2D, 1 },
	[GP_COPY_HTOH] = { COPY_H2H, 1 }, [GP_COPY_PTOP] = { COPY_D2D, 1 },
};

static const uint8_t host_kinds[] = {
	[GP_KIND_PAGEABLE] = MEMORY_PAGEABLE, [GP_KIND_PINNED] = MEMORY_PINNED,
};

static uint8_t host_memory(const struct gp_ring_copy *c)
{
	uint8_t host = c->copy_kind == GP_COPY_HTOD ? c->from_kind :
		       c->copy_kind == GP_COPY_DTOH ? c->to_kind : 0;

	return host < sizeof(host_kinds) ? host_kinds[host] : MEMORY_UNKNOWN;
}

void helper_work_copy(const struct gp_ring_copy *c, bool is_set, struct work *out)
{
	bool known = c->copy_kind < sizeof(directions) / sizeof(directions[0]) &&
		     directions[c->copy_kind].known;

	*out = (struct work){
		.kind = is_set ? WORK_KIND_SET : c->is_peer ? WORK_KIND_PEER : WORK_KIND_COPY,
		.has = WORK_HAS_GRAPH | (known && !is_set ? WORK_HAS_DIR : 0),
		.dir = known ? directions[c->copy_kind].dir : 0,
		.memory = is_set ? MEMORY_UNKNOWN : host_memory(c),
		.device = c->device, .context = c->context, .stream = c->stream,
		.correlation = c->correlation, .graph = c->graph, .graph_node = c->graph_node,
		.bytes = c->bytes, .peer_from = c->peer_from, .peer_to = c->peer_to };
}

void helper_work_graph(const struct gp_ring_graph *g, struct work *out)
{
	*out = (struct work){ .kind = WORK_KIND_GRAPH, .has = WORK_HAS_GRAPH, .device = g->device,
			      .context = g->context, .stream = g->stream,
			      .correlation = g->correlation, .graph = g->graph };
}

void helper_contexts_note(struct helper_contexts *c, uint32_t context, uint32_t device)
{
	for (unsigned int i = 0; i < c->n; i++)
		if (c->v[i].context == context)
			return;
	if (c->n == HELPER_CONTEXTS_MAX)
		return;
	c->v[c->n].context = context;
	c->v[c->n++].device = device;
}

bool helper_contexts_device(struct helper_contexts *c, struct work *graph)
{
	if (graph->device != ON_HOST) {
		helper_contexts_note(c, graph->context, graph->device);
		return true;
	}
	for (unsigned int i = 0; i < c->n; i++)
		if (c->v[i].context == graph->context) {
			graph->device = c->v[i].device;
			return true;
		}
	graph->device = c->device;
	return c->devices == 1;
}

static void format_uuid(char *out, const uint8_t u[16])
{
	snprintf(out, DEVICE_UUID_LEN + 1, "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-"
		 "%02x%02x%02x%02x%02x%02x", u[0], u[1], u[2], u[3], u[4], u[5], u[6], u[7], u[8],
		 u[9], u[10], u[11], u[12], u[13], u[14], u[15]);
}

void helper_work_device(const struct gp_ring_device *d, struct device_facts *out)
{
	*out = (struct device_facts){
		.device = d->device, .cc_major = d->cc_major, .cc_minor = d->cc_minor,
		.multiprocessors = d->multiprocessors, .warp_threads = d->warp_threads,
		.threads_per_sm = d->threads_per_sm, .blocks_per_sm = d->blocks_per_sm,
		.registers_per_sm = d->registers_per_sm, .shared_per_sm = d->shared_per_sm,
		.shared_per_block = d->shared_per_block, .shared_reserved = d->shared_reserved,
		.memory_bytes = d->memory_bytes };
	format_uuid(out->uuid, d->uuid);
}
