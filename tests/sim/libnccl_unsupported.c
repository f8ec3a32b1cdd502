// SPDX-License-Identifier: BSD-3-Clause
/*
 * libnccl.so.2, the simulated NCCL: functions that PyTorch links and the simulation does not do: splits
 * and growth of communicators, windows of memory, signals, reductions of one's own.
 */
#include "libnccl.h"

#define UNSUPPORTED(name)         \
	ncclResult_t name(void);  \
	NCCL_CALL(name, (void), nccl_end(&call, ncclInvalidUsage))

UNSUPPORTED(ncclAlltoAll)
UNSUPPORTED(ncclCommDeregister)
UNSUPPORTED(ncclCommGetUniqueId)
UNSUPPORTED(ncclCommGrow)
UNSUPPORTED(ncclCommInitRankScalable)
UNSUPPORTED(ncclCommMemStats)
UNSUPPORTED(ncclCommRegister)
UNSUPPORTED(ncclCommResume)
UNSUPPORTED(ncclCommRevoke)
UNSUPPORTED(ncclCommShrink)
UNSUPPORTED(ncclCommSplit)
UNSUPPORTED(ncclCommSuspend)
UNSUPPORTED(ncclCommWindowDeregister)
UNSUPPORTED(ncclCommWindowRegister)
UNSUPPORTED(ncclDevCommCreate)
UNSUPPORTED(ncclDevCommDestroy)
UNSUPPORTED(ncclGather)
UNSUPPORTED(ncclGetLsaMultimemDevicePointer)
UNSUPPORTED(ncclGetPeerDevicePointer)
UNSUPPORTED(ncclGroupSimulateEnd)
UNSUPPORTED(ncclMemAlloc)
UNSUPPORTED(ncclMemFree)
UNSUPPORTED(ncclPutSignal)
UNSUPPORTED(ncclRedOpCreatePreMulSum)
UNSUPPORTED(ncclRedOpDestroy)
UNSUPPORTED(ncclSignal)
UNSUPPORTED(ncclWaitSignal)
UNSUPPORTED(ncclWinGetUserPtr)

const char *ncclGetLastError(ncclComm_t comm);
NCCL_NAMES(ncclGetLastError);
const char *ncclGetLastError(ncclComm_t comm)
{
	struct gpusim_call call = shim_begin(GPUSIM_FN_ncclGetLastError);

	(void)comm;
	nccl_end(&call, ncclSuccess);
	return "";
}
