// SPDX-License-Identifier: BSD-3-Clause
/*
 * libnccl, 2.18 and later. Weak aliases (pncclX) share the address of ncclX and need no rows.
 * Argument positions: NCCL API reference. Bytes are those of one rank's argument `count`.
 */
#include "catalog/catalog.h"
#include "catalog/rows.h"

#define COLLECTIVE .class = CLASS_COLLECTIVE, .two = 1, .rare = 1
#define COMM .class = CLASS_INIT, .two = 1, .rare = 1
/* A count of elements and their ncclDataType_t; the stream is argument 6, or beyond. */
#define ELEMENTS(count) .bytes = (count), .dtype = (count) + 1
#define STREAM_7 .stream = 7, .extra = GP_EXTRA_STACK, .extra_words = 1
#define STREAM_8 .stream = 8, .extra = GP_EXTRA_STACK, .extra_words = 2

/* The twin with a configuration behind the stream: 2.31 and later. */
#define CONFIG(symbol, ...) ROW(symbol, __VA_ARGS__), ROW(symbol##Config, __VA_ARGS__)

static const struct catalog_row rows[] = {
#define COMMON DEFAULT_ROWS
	/* (sendbuff, recvbuff, count, datatype, ...) */
	CONFIG(ncclAllReduce, COLLECTIVE, ELEMENTS(3), .entity = 6, STREAM_7),
	CONFIG(ncclReduceScatter, COLLECTIVE, ELEMENTS(3), .entity = 6, STREAM_7),
	CONFIG(ncclReduce, COLLECTIVE, ELEMENTS(3), STREAM_8),
	CONFIG(ncclBroadcast, COLLECTIVE, ELEMENTS(3), .entity = 6, STREAM_7),
	CONFIG(ncclAllGather, COLLECTIVE, ELEMENTS(3), .entity = 5, .stream = 6),
	CONFIG(ncclAlltoAll, COLLECTIVE, ELEMENTS(3), .entity = 5, .stream = 6),
	CONFIG(ncclGather, COLLECTIVE, ELEMENTS(3), .entity = 6, STREAM_7),
	CONFIG(ncclScatter, COLLECTIVE, ELEMENTS(3), .entity = 6, STREAM_7),
	/* (buff, count, datatype, root or peer, comm, stream) */
	ROW(ncclBcast, COLLECTIVE, ELEMENTS(2), .entity = 5, .stream = 6),
	ROW(ncclSend, COLLECTIVE, ELEMENTS(2), .entity = 5, .stream = 6),
	ROW(ncclRecv, COLLECTIVE, ELEMENTS(2), .entity = 5, .stream = 6),
	ROW(ncclPutSignal, COLLECTIVE, ELEMENTS(2), .stream = 11, .extra = GP_EXTRA_STACK,
	    .extra_words = 5),
	ROW(ncclSignal, COLLECTIVE, .entity = 5, .stream = 6),
	ROW(ncclWaitSignal, COLLECTIVE, .entity = 3, .stream = 4),
	ROW(ncclGroupStart, .class = CLASS_COLLECTIVE, .rare = 1),
	ROW(ncclGroupEnd, COLLECTIVE),
	ROW(ncclGroupSimulateEnd, COLLECTIVE),
	ROW(ncclRedOpCreatePreMulSum, .class = CLASS_COLLECTIVE, .rare = 1, .entity = 5),
	ROW(ncclRedOpDestroy, .class = CLASS_COLLECTIVE, .rare = 1, .entity = 2),

	ROW(ncclGetUniqueId, COMM),	/* the root opens its socket */
	ROW(ncclCommInitRank, COMM),
	ROW(ncclCommInitRankConfig, COMM),
	ROW(ncclCommInitRankScalable, COMM),
	ROW(ncclCommInitAll, COMM),
	ROW(ncclCommSplit, COMM, .entity = 1),
	ROW(ncclCommShrink, COMM, .entity = 1),
	ROW(ncclCommGrow, COMM, .entity = 1),
	ROW(ncclCommGetUniqueId, COMM, .entity = 1),
	ROW(ncclCommSuspend, COMM, .entity = 1),
	ROW(ncclCommResume, COMM, .entity = 1),
	ROW(ncclCommFinalize, COMM, .entity = 1),
	ROW(ncclCommDestroy, COMM, .entity = 1),
	ROW(ncclCommAbort, COMM, .entity = 1),
	ROW(ncclCommRevoke, COMM, .entity = 1),
	ROW(ncclDevCommCreate, COMM, .entity = 1),
	ROW(ncclDevCommDestroy, COMM, .entity = 1),

	ROW(ncclMemAlloc, .class = CLASS_ALLOC, .two = 1, .rare = 1, .bytes = 2),
	ROW(ncclMemFree, .class = CLASS_FREE, .two = 1, .rare = 1),
	ROW(ncclCommRegister, .class = CLASS_ALLOC, .two = 1, .rare = 1, .bytes = 3),
	ROW(ncclCommDeregister, .class = CLASS_FREE, .two = 1, .rare = 1),
	ROW(ncclCommWindowRegister, .class = CLASS_ALLOC, .two = 1, .rare = 1, .bytes = 3),
	ROW(ncclCommWindowDeregister, .class = CLASS_FREE, .two = 1, .rare = 1),
#undef COMMON
#define COMMON QUERY_ROWS
	ROW(ncclGetVersion, .rare = 1),
	ROW(ncclCommCount, .rare = 1),
	ROW(ncclCommCuDevice, .rare = 1),
	ROW(ncclCommUserRank, .rare = 1),
	ROW(ncclCommGetAsyncError, .rare = 1),
	ROW(ncclCommMemStats, .rare = 1),
	ROW(ncclCommQueryProperties, .rare = 1),
#undef COMMON
};

const struct catalog_library catalog_nccl = {
	.name = "nccl", .file = "libnccl.so", ROWS(rows),
};
