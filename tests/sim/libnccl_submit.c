// SPDX-License-Identifier: BSD-3-Clause
/*
 * libnccl.so.2, the simulated NCCL: works become gates of the simulated device. The works of one
 * communicator and stream that are submitted together begin together, so that a send and a receive
 * in one group do not wait for each other. Faults on order are planted here.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "gpusim_gate.h"
#include "gpusim_trace.h"
#include "libnccl.h"

/* What one gate waits for. */
struct bundle {
	struct ncclComm *comm;
	uint64_t late_ns;
	unsigned int count;
	struct nccl_place places[];
};

/* The value of NAME=RANK:VALUE for this rank, or 0. */
static uint64_t fault_of(const char *name, int rank)
{
	const char *text = getenv(name);
	unsigned int whose;
	unsigned long long value;

	if (!text || sscanf(text, "%u:%llu", &whose, &value) != 2 || whose != (unsigned int)rank)
		return 0;
	return value;
}

static void arrive(void *argument, uint64_t time_ns)
{
	struct bundle *bundle = argument;
	unsigned int i;

	if (time_ns != GPUSIM_FOREVER)
		time_ns += bundle->late_ns;
	for (i = 0; i < bundle->count; i++)
		nccl_shared_arrive(bundle->comm->shared, &bundle->places[i], time_ns);
}

static uint64_t end_ns(void *argument)
{
	struct bundle *bundle = argument;
	uint64_t latest_ns = 0, ns;
	unsigned int i;

	if (bundle->comm->aborted)
		return gpusim_now_ns();
	for (i = 0; i < bundle->count; i++) {
		ns = nccl_shared_end(bundle->comm->shared, &bundle->places[i]);
		if (!ns)
			return 0;
		if (ns > latest_ns)
			latest_ns = ns;
	}
	return latest_ns;
}

static const uint32_t *changes(void *argument)
{
	const struct bundle *bundle = argument;

	return nccl_shared_changes(bundle->comm->shared);
}

/* What a device shows of a collective: the kernel that can do them all. */
static const char kernel[] = "ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>)";

static const void *entity(void *argument)
{
	(void)argument;
	return kernel;
}

static const struct gpusim_gate_calls gate_calls = {
	.entity = entity,
	.arrive = arrive,
	.end_ns = end_ns,
	.changes = changes,
	.release = free,
};

static struct nccl_place place_of(const struct nccl_work *work)
{
	struct ncclComm *comm = work->comm;
	struct nccl_place place;

	if (work->peer == NCCL_ALL_RANKS)
		place = nccl_shared_all(comm->shared, ++comm->collectives);
	else if (work->receives)
		place = nccl_shared_pair(comm->shared, work->peer, comm->rank,
					 ++comm->received[work->peer]);
	else
		place = nccl_shared_pair(comm->shared, comm->rank, work->peer,
					 ++comm->sent[work->peer]);
	place.bytes = work->bytes;
	return place;
}

static bool go_together(const struct nccl_work *a, const struct nccl_work *b)
{
	return a->comm == b->comm && a->stream == b->stream;
}

static int submit_bundle(const struct nccl_work *works, unsigned int count)
{
	struct ncclComm *comm = works[0].comm;
	struct bundle *bundle = calloc(1, sizeof(*bundle) + count * sizeof(bundle->places[0]));
	struct gpusim_context *before = gpusim_context_current();
	unsigned int i;
	int result;

	if (!bundle)
		return ncclSystemError;
	bundle->comm = comm;
	bundle->late_ns = fault_of("GPUSIM_NCCL_LATE", comm->rank) * 1000000;
	for (i = 0; i < count; i++)
		if (go_together(&works[0], &works[i]))
			bundle->places[bundle->count++] = place_of(&works[i]);
	gpusim_context_set_current(comm->context);
	if (!gpusim_kernel_name(kernel))
		gpusim_kernel_register(kernel, kernel);
	result = gpusim_gate_submit(works[0].stream, comm->lane, &gate_calls, bundle);
	gpusim_context_set_current(before);
	if (result)
		free(bundle);
	return nccl_result(result);
}

static void hang_on_order(const struct nccl_work *work)
{
	uint64_t hang = fault_of("GPUSIM_NCCL_HANG", work->comm->rank);

	work->comm->calls++;
	while (hang && work->comm->calls >= hang)
		pause();
}

int nccl_submit(const struct nccl_work *works, unsigned int count)
{
	unsigned int i, j;
	int result = ncclSuccess;

	for (i = 0; i < count; i++)
		hang_on_order(&works[i]);
	for (i = 0; i < count && !result; i++) {
		for (j = 0; j < i && !go_together(&works[j], &works[i]); j++)
			;
		if (j == i)
			result = submit_bundle(works + i, count - i);
	}
	return result;
}
