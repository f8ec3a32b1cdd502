// SPDX-License-Identifier: BSD-3-Clause
/*
 * libnccl.so.2, the simulated NCCL: collectives, send and receive. Buffers are never touched.
 */
#include "libnccl.h"

static uint64_t type_size(ncclDataType_t type)
{
	static const uint8_t sizes[ncclNumTypes] = {
		[ncclInt8] = 1,	   [ncclUint8] = 1,    [ncclInt32] = 4,	     [ncclUint32] = 4,
		[ncclInt64] = 8,   [ncclUint64] = 8,   [ncclFloat16] = 2,    [ncclFloat32] = 4,
		[ncclFloat64] = 8, [ncclBfloat16] = 2, [ncclFloat8e4m3] = 1, [ncclFloat8e5m2] = 1,
	};

	return (unsigned int)type < ncclNumTypes ? sizes[type] : 0;
}

/* Counts the bytes, whatever else is wrong with the call. */
static ncclResult_t finish(struct gpusim_call *call, struct nccl_work work, size_t count,
			   ncclDataType_t type)
{
	call->bytes = work.bytes = count * type_size(type);
	if (!type_size(type))
		return nccl_end(call, ncclInvalidArgument);
	return nccl_end(call, nccl_group_work(&work));
}

static struct nccl_work with_all(ncclComm_t comm, cudaStream_t stream)
{
	return (struct nccl_work){ .comm = comm, .stream = stream, .peer = NCCL_ALL_RANKS };
}

static bool is_rank(const struct ncclComm *comm, int rank)
{
	return nccl_comm_valid(comm) && rank >= 0 && rank < comm->ranks;
}

NCCL_CALL(ncclAllReduce, (const void *send, void *receive, size_t count, ncclDataType_t type,
	ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream),
	finish(&call, with_all(comm, stream), count, type))
NCCL_CALL(ncclAllGather, (const void *send, void *receive, size_t count, ncclDataType_t type,
	ncclComm_t comm, cudaStream_t stream), finish(&call, with_all(comm, stream), count, type))
NCCL_CALL(ncclReduceScatter, (const void *send, void *receive, size_t count, ncclDataType_t type,
	ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream),
	finish(&call, with_all(comm, stream), count, type))

/* A collective with a root; one that is no rank makes the communicator invalid for this call. */
static ncclResult_t rooted(struct gpusim_call *call, struct nccl_work work, int root, size_t count,
			   ncclDataType_t type)
{
	if (!is_rank(work.comm, root))
		work.comm = NULL;
	return finish(call, work, count, type);
}

NCCL_CALL(ncclBroadcast, (const void *send, void *receive, size_t count, ncclDataType_t type,
	int root, ncclComm_t comm, cudaStream_t stream),
	rooted(&call, with_all(comm, stream), root, count, type))

NCCL_NAMES(ncclBcast);
/* In the real one this calls ncclBroadcast. */
ncclResult_t ncclBcast(void *buffer, size_t count, ncclDataType_t type, int root, ncclComm_t comm,
		       cudaStream_t stream)
{
	struct gpusim_call call = shim_begin(GPUSIM_FN_ncclBcast);

	call.bytes = count * type_size(type);
	return nccl_end(&call, ncclBroadcast(buffer, buffer, count, type, root, comm, stream));
}

NCCL_CALL(ncclReduce, (const void *send, void *receive, size_t count, ncclDataType_t type,
	ncclRedOp_t op, int root, ncclComm_t comm, cudaStream_t stream),
	rooted(&call, with_all(comm, stream), root, count, type))

/* A peer that is no rank makes the communicator invalid for this call too. */
static struct nccl_work with_peer(ncclComm_t comm, cudaStream_t stream, int peer, bool receives)
{
	return (struct nccl_work){ .comm = is_rank(comm, peer) ? comm : NULL, .stream = stream,
				   .peer = peer, .receives = receives };
}

NCCL_CALL(ncclSend, (const void *send, size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
	cudaStream_t stream), finish(&call, with_peer(comm, stream, peer, false), count, type))
NCCL_CALL(ncclRecv, (void *receive, size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
	cudaStream_t stream), finish(&call, with_peer(comm, stream, peer, true), count, type))
