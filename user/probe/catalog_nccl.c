// SPDX-License-Identifier: BSD-3-Clause
/*
 * libnccl: collectives. Weak aliases (pncclX) share the address of ncclX and need no rows.
 * Argument positions: NCCL API reference.
 */
#include "probe/catalog.h"

#define ROW(symbol, ...) { .name = #symbol, \
	.class = CLASS_COLLECTIVE, .rare = 1, __VA_ARGS__ }

static const struct catalog_row rows[] = {
	ROW(ncclGetUniqueId),
	ROW(ncclCommInitRank, .two = 1),
	/* (sendbuff, recvbuff, count, datatype, op, comm, stream) */
	ROW(ncclAllReduce, .two = 1, .bytes = 3, .dtype = 4, .extra = GP_EXTRA_STACK, .extra_words = 1,
	    .stream = 7),
	ROW(ncclGroupStart),
	ROW(ncclGroupEnd, .two = 1),
};

const struct catalog_library catalog_nccl = {
	.name = "nccl",
	.file = "libnccl.so",
	.rows = rows,
	.n_rows = sizeof(rows) / sizeof(rows[0]),
};
