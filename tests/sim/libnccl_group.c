// SPDX-License-Identifier: BSD-3-Clause
/*
 * libnccl.so.2, the simulated NCCL: groups. Between start and end of the outermost group of a
 * thread, works and waits for other ranks are kept; the end does them.
 */
#include "libnccl.h"

struct group {
	unsigned int depth, works, waits;
	int result; /* the first failure within */
	struct nccl_work work[NCCL_GROUP_WORKS];
	struct ncclComm *wait[NCCL_RANKS];
};

static __thread struct group group;

static int fail(int result)
{
	if (group.depth && !group.result)
		group.result = result;
	return result;
}

static unsigned int count_of_pair(const struct nccl_work *work)
{
	unsigned int i, count = 0;

	for (i = 0; i < group.works; i++)
		count += group.work[i].comm == work->comm && group.work[i].peer == work->peer &&
			 group.work[i].receives == work->receives;
	return count;
}

int nccl_group_work(const struct nccl_work *work)
{
	if (!nccl_comm_valid(work->comm))
		return fail(ncclInvalidArgument);
	if (work->peer < NCCL_ALL_RANKS || work->peer >= work->comm->ranks)
		return fail(ncclInvalidArgument);
	if (!group.depth)
		return nccl_submit(work, 1);
	if (group.works == NCCL_GROUP_WORKS ||
	    (work->peer != NCCL_ALL_RANKS && count_of_pair(work) == NCCL_PAIR_WORKS))
		return fail(ncclInvalidUsage);
	group.work[group.works++] = *work;
	return ncclSuccess;
}

int nccl_group_wait(struct ncclComm *comm)
{
	if (!group.depth) {
		nccl_shared_wait(comm->shared);
		return ncclSuccess;
	}
	if (group.waits == NCCL_RANKS)
		return fail(ncclInvalidUsage);
	group.wait[group.waits++] = comm;
	return ncclSuccess;
}

void nccl_group_forget(struct ncclComm *comm)
{
	unsigned int i, kept = 0;

	for (i = 0; i < group.works; i++)
		if (group.work[i].comm != comm)
			group.work[kept++] = group.work[i];
	group.works = kept;
	for (kept = i = 0; i < group.waits; i++)
		if (group.wait[i] != comm)
			group.wait[kept++] = group.wait[i];
	group.waits = kept;
}

static int end_outermost(void)
{
	int result = group.result;
	unsigned int i;

	for (i = 0; i < group.waits; i++)
		nccl_shared_wait(group.wait[i]->shared);
	if (!result)
		result = nccl_submit(group.work, group.works);
	group.works = group.waits = 0;
	group.result = ncclSuccess;
	return result;
}

NCCL_NAMES(ncclGroupStart);
ncclResult_t ncclGroupStart(void)
{
	struct gpusim_call call = shim_begin(GPUSIM_FN_ncclGroupStart);

	group.depth++;
	return nccl_end(&call, ncclSuccess);
}

NCCL_NAMES(ncclGroupEnd);
ncclResult_t ncclGroupEnd(void)
{
	struct gpusim_call call = shim_begin(GPUSIM_FN_ncclGroupEnd);
	int result = ncclSuccess;

	if (!group.depth)
		return nccl_end(&call, ncclInvalidUsage);
	if (!--group.depth)
		result = end_outermost();
	return nccl_end(&call, result);
}
