// SPDX-License-Identifier: BSD-3-Clause
/*
 * libnccl.so.2, the simulated NCCL: communicators, from unique id to destroy.
 */
#include <stdlib.h>

#include "gpusim_gate.h"
#include "libnccl.h"

enum { MAGIC = 0x6c63636e, VERSION = 22800 };

bool nccl_comm_valid(const struct ncclComm *comm)
{
	return comm && comm->magic == MAGIC;
}

int nccl_result(int gpusim_result)
{
	switch (gpusim_result) {
	case GPUSIM_OK:
		return ncclSuccess;
	case GPUSIM_INVALID_HANDLE:
		return ncclInvalidArgument;
	case GPUSIM_CAPTURE_UNSUPPORTED:
		return ncclInvalidUsage;
	default:
		return ncclUnhandledCudaError;
	}
}

/* The current context, or as in the real one that of the first device. */
static int find_context(struct gpusim_context **out)
{
	int result = GPUSIM_OK;

	*out = gpusim_context_current();
	if (!*out)
		result = gpusim_context_primary(0, out);
	return result ? result : gpusim_context_set_current(*out);
}

static int comm_new(const ncclUniqueId *id, int ranks, int rank, struct ncclComm **out)
{
	struct ncclComm *comm = calloc(1, sizeof(*comm));
	int result;

	if (!comm)
		return ncclSystemError;
	comm->magic = MAGIC;
	comm->rank = rank;
	comm->ranks = ranks;
	result = nccl_result(find_context(&comm->context));
	if (!result)
		result = nccl_result(gpusim_stream_create(GPUSIM_STREAM_NON_BLOCKING, &comm->lane));
	if (!result)
		result = nccl_shared_join(id, ranks, rank, &comm->shared);
	if (result) {
		gpusim_stream_destroy(comm->lane);
		free(comm);
		return result;
	}
	comm->device = gpusim_context_device(comm->context);
	*out = comm;
	return ncclSuccess;
}

static void comm_free(struct ncclComm *comm)
{
	nccl_group_forget(comm);
	nccl_shared_leave(comm->shared);
	gpusim_stream_destroy(comm->lane);
	comm->magic = 0;
	free(comm);
}

static int comm_init(struct ncclComm **out, int ranks, const ncclUniqueId *id, int rank)
{
	int result;

	if (!out)
		return ncclInvalidArgument;
	result = comm_new(id, ranks, rank, out);
	return result ? result : nccl_group_wait(*out);
}

NCCL_CALL(ncclGetUniqueId, (ncclUniqueId *out),
	nccl_end(&call, out ? nccl_shared_new_id(out) : (int)ncclInvalidArgument))
NCCL_CALL(ncclCommInitRank, (ncclComm_t *out, int ranks, ncclUniqueId id, int rank),
	nccl_end(&call, comm_init(out, ranks, &id, rank)))
NCCL_CALL(ncclCommInitRankConfig, (ncclComm_t *out, int ranks, ncclUniqueId id, int rank,
	ncclConfig_t *config), nccl_end(&call, comm_init(out, ranks, &id, rank)))

/* All ranks are devices of this process, so no rank is waited for. */
static int init_all(struct ncclComm **out, int devices, const int *device_list)
{
	struct gpusim_context *before = gpusim_context_current(), *context;
	ncclUniqueId id;
	int i = 0, result = nccl_shared_new_id(&id);

	for (; i < devices && !result; i++) {
		result = nccl_result(
			gpusim_context_primary(device_list ? device_list[i] : i, &context));
		if (!result)
			result = nccl_result(gpusim_context_set_current(context));
		if (!result)
			result = comm_new(&id, devices, i, &out[i]);
	}
	gpusim_context_set_current(before);
	if (result && i)
		i--; /* the one that failed */
	while (result && i)
		comm_free(out[--i]);
	for (i = 0; i < devices && !result; i++)
		nccl_shared_wait(out[i]->shared);
	return result;
}

NCCL_NAMES(ncclCommInitAll);
ncclResult_t ncclCommInitAll(ncclComm_t *out, int devices, const int *device_list)
{
	struct gpusim_call call = shim_begin(GPUSIM_FN_ncclCommInitAll);
	int result = ncclInvalidArgument;

	if (out && devices > 0)
		result = init_all(out, devices, device_list);
	return nccl_end(&call, result);
}

/* Waits for what the communicator was given. */
static int flush(struct ncclComm *comm)
{
	struct gpusim_context *before = gpusim_context_current();
	int result;

	if (!nccl_comm_valid(comm))
		return ncclInvalidArgument;
	gpusim_context_set_current(comm->context);
	result = gpusim_stream_sync(comm->lane);
	gpusim_context_set_current(before);
	return nccl_result(result);
}

NCCL_CALL(ncclCommFinalize, (ncclComm_t comm), nccl_end(&call, flush(comm)))

NCCL_NAMES(ncclCommDestroy);
ncclResult_t ncclCommDestroy(ncclComm_t comm)
{
	struct gpusim_call call = shim_begin(GPUSIM_FN_ncclCommDestroy);
	int result = flush(comm);

	if (!result)
		comm_free(comm);
	return nccl_end(&call, result);
}

NCCL_NAMES(ncclCommAbort);
/* What hangs ends now. */
ncclResult_t ncclCommAbort(ncclComm_t comm)
{
	struct gpusim_call call = shim_begin(GPUSIM_FN_ncclCommAbort);

	if (!nccl_comm_valid(comm))
		return nccl_end(&call, ncclInvalidArgument);
	comm->aborted = true;
	gpusim_gates_ask();
	comm_free(comm);
	return nccl_end(&call, ncclSuccess);
}

static int report(const struct ncclComm *comm, int value, int *out)
{
	if (!out || !nccl_comm_valid(comm))
		return ncclInvalidArgument;
	*out = value;
	return ncclSuccess;
}

NCCL_CALL(ncclCommCount, (ncclComm_t comm, int *out),
	nccl_end(&call, report(comm, comm ? comm->ranks : 0, out)))
NCCL_CALL(ncclCommUserRank, (ncclComm_t comm, int *out),
	nccl_end(&call, report(comm, comm ? comm->rank : 0, out)))
NCCL_CALL(ncclCommCuDevice, (ncclComm_t comm, int *out),
	nccl_end(&call, report(comm, comm ? comm->device : 0, out)))

NCCL_NAMES(ncclCommGetAsyncError);
/* A simulated communicator never fails by itself, it hangs. */
ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t *out)
{
	struct gpusim_call call = shim_begin(GPUSIM_FN_ncclCommGetAsyncError);

	if (!out || !nccl_comm_valid(comm))
		return nccl_end(&call, ncclInvalidArgument);
	*out = ncclSuccess;
	return nccl_end(&call, ncclSuccess);
}

NCCL_NAMES(ncclGetVersion);
ncclResult_t ncclGetVersion(int *version)
{
	struct gpusim_call call = shim_begin(GPUSIM_FN_ncclGetVersion);

	if (version)
		*version = VERSION;
	return nccl_end(&call, version ? ncclSuccess : ncclInvalidArgument);
}

NCCL_NAMES(ncclGetErrorString);
const char *ncclGetErrorString(ncclResult_t result)
{
	struct gpusim_call call = shim_begin(GPUSIM_FN_ncclGetErrorString);
	const char *name = gpusim_nccl_error_name((int)result);

	nccl_end(&call, ncclSuccess);
	return name ? name : "unknown result code";
}
