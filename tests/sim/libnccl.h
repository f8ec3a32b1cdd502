/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Inside libnccl.so.2, the simulated NCCL. Ranks (processes, or devices of one) meet in shared
 * memory; a collective of the n-th call ends when the last rank's stream has reached it, plus bytes
 * by the bandwidth of the bus. No byte is moved. Sizes are bytes per rank: count x type size.
 *
 * Environment: GPUSIM_NCCL_GBPS (100); GPUSIM_NCCL_HANG=RANK:N, rank RANK stays inside its N-th
 * call (collective, send or receive; within a group, inside ncclGroupEnd) for good, so that the
 * others wait for it on their devices; GPUSIM_NCCL_LATE=RANK:MS, rank RANK's device reaches each
 * one MS milliseconds late.
 */
#ifndef LIBNCCL_H
#define LIBNCCL_H

#include <stdbool.h>
#include <stdint.h>

#include "nccl_api.h"
#include "shim.h"

#define NCCL_HIDDEN __attribute__((visibility("hidden")))
/* ncclX is weak, pncclX has the same address. */
#define NCCL_NAMES(name)                                    \
	extern __typeof__(name) name __attribute__((weak)); \
	extern __typeof__(name) p##name __attribute__((alias(#name)))

/* A function that one expression over its call does and ends. */
#define NCCL_CALL(name, parameters, result)                                   \
	NCCL_NAMES(name);                                                     \
	ncclResult_t name parameters                                          \
	{                                                                     \
		struct gpusim_call call = shim_begin(GPUSIM_FN_##name);       \
                                                                              \
		return result;                                                \
	}

enum { NCCL_RANKS = 64, NCCL_GROUP_WORKS = 256, NCCL_PAIR_WORKS = 32 };
enum { NCCL_ALL_RANKS = -1 }; /* instead of a peer */

struct nccl_shared;
struct nccl_meeting;

struct ncclComm {
	uint32_t magic;
	int rank, ranks, device;
	struct gpusim_context *context;
	struct gpusim_stream *lane; /* keeps the works of this communicator in order */
	struct nccl_shared *shared;
	uint64_t calls;
	uint64_t collectives; /* numbers of the next meetings */
	uint64_t sent[NCCL_RANKS], received[NCCL_RANKS];
	bool aborted;
};

/* What one call asks for. */
struct nccl_work {
	struct ncclComm *comm;
	cudaStream_t stream;
	uint64_t bytes;
	int peer; /* NCCL_ALL_RANKS: a collective */
	bool receives;
};

/* libnccl_shared.c: the segment that the ranks of a communicator share. */
struct nccl_place { /* one meeting of ranks: which, and how many come */
	struct nccl_meeting *meeting;
	uint64_t number;
	uint32_t expected;
	uint64_t bytes;
};

int nccl_shared_new_id(ncclUniqueId *out) NCCL_HIDDEN; /* also removes stale segments */
/* An ncclResult_t; does not wait. */
int nccl_shared_join(const ncclUniqueId *id, int ranks, int rank,
		     struct nccl_shared **out) NCCL_HIDDEN;
void nccl_shared_wait(struct nccl_shared *shared) NCCL_HIDDEN; /* until all ranks have joined */
void nccl_shared_leave(struct nccl_shared *shared) NCCL_HIDDEN;
struct nccl_place nccl_shared_all(struct nccl_shared *shared, uint64_t number) NCCL_HIDDEN;
struct nccl_place nccl_shared_pair(struct nccl_shared *shared, int from, int to,
				   uint64_t number) NCCL_HIDDEN;
void nccl_shared_arrive(struct nccl_shared *shared, const struct nccl_place *place,
			uint64_t time_ns) NCCL_HIDDEN;
uint64_t nccl_shared_end(struct nccl_shared *shared,
			 const struct nccl_place *place) NCCL_HIDDEN; /* 0: not known yet */
const uint32_t *nccl_shared_changes(const struct nccl_shared *shared) NCCL_HIDDEN;

/* libnccl_group.c */
int nccl_group_work(const struct nccl_work *work) NCCL_HIDDEN; /* now, or at the group's end */
int nccl_group_wait(struct ncclComm *comm) NCCL_HIDDEN; /* for all ranks; the same */
void nccl_group_forget(struct ncclComm *comm) NCCL_HIDDEN; /* it is going away */

/* libnccl_submit.c: puts works, in order, on their streams. */
int nccl_submit(const struct nccl_work *works, unsigned int count) NCCL_HIDDEN;

/* libnccl_comm.c */
bool nccl_comm_valid(const struct ncclComm *comm) NCCL_HIDDEN;
int nccl_result(int gpusim_result) NCCL_HIDDEN;

static inline ncclResult_t nccl_end(const struct gpusim_call *call, int result)
{
	return (ncclResult_t)gpusim_call_end(call, result);
}

#endif
