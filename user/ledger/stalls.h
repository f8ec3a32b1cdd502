/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The reason and the thread that ran a device dry: each gap of a device's book, divided by
 * causes as in ledger/idle.h, is the loss of one kind or of several, of the thread that launched
 * the work which ended it. Bounded. Knows no works, names or tables; findings are made of it.
 *
 * A gap's time inside calls is the loss of these calls (`sync`, `copy`, `alloc`, ...). Time lost
 * outside of calls for STALL_HOST_NS or longer is `host`, on a CPU or off it, but `runqueue`
 * where no CPU was free, `stopped` where the thread was that, in a call or not. A launched work
 * that did not begin for STALL_WAIT_NS or longer `waited` for others. The rest, that is
 * launching, short code in between and the device's own delay, belongs to the call that the
 * thread was in when the device ran dry, since with work ahead none of it would have shown; if
 * it was in none of these, it is `launch`: the thread did not launch fast enough; or `queued` if
 * the launch was over before the gap began. Unseen time, and a gap without an end, are no loss.
 *
 * Examples; a gap [0, 10 ms), S sync, L launch:
 *
 *   S [-5,2) L [2.5,10)          sync 10: 2 in the call, 0.5 to the launch, 7.5 in it
 *   S [-5,2) L [3,4)             sync 3, host 1 (1 ms outside of calls is long), waited 6
 *   L [3,4)                      host 3, launch 1, waited 6
 *   L [0.5,9.9)                  launch 10
 *   S [1,2) L [3,10)             sync 1, host 2, launch 7: the device was dry before S
 *   S [-5,1) lock [1,3) runqueue [3,4) L [4,10)
 *                                sync 7, host 2, runqueue 1
 *   launched at -1               waited 10; queued, if the gap is shorter than STALL_WAIT_NS
 */
#ifndef LEDGER_STALLS_H
#define LEDGER_STALLS_H

#include "base/rows.h"
#include "ledger/idle.h"

#define STALL_HOST_NS 1000000ull
#define STALL_WAIT_NS 200000ull	/* above a device's own delay to begin */
#define STALL_ROWS 128		/* of one device; more are added to rows of thread 0 */
#define STALL_PLACES 256	/* of one device; more are in none */
#define STALL_EPOCHS 16

enum stall_kind {
	STALL_SYNC,
	STALL_COPY,		/* in a host copy of at least TIMELINE_LARGE_BYTES */
	STALL_COPY_SMALL,	/* in one of less: it waited for earlier work */
	STALL_ALLOC,
	STALL_COMPILE,
	STALL_COLLECTIVE,	/* inside a collective's call */
	STALL_HOST,
	STALL_LAUNCH,
	STALL_QUEUED,
	STALL_WAITED,
	STALL_RUNQUEUE,		/* ready to run, but no CPU was free */
	STALL_STOPPED,		/* by a signal or a debugger */
	STALL_KINDS
};

struct stall_key {
	uint32_t tid;			/* 0: rows beyond STALL_ROWS */
	uint16_t func;			/* the call, of kinds that are calls; else
					 * TIMELINE_NO_FUNC */
	uint16_t kind;			/* enum stall_kind */
};

struct stall {
	struct stall_key key;
	uint64_t ns, gaps;
	uint64_t cause_ns[IDLE_CAUSES];	/* the parts of ns */
	uint64_t longest_ns;		/* of one gap's part */
	uint64_t epoch_ns[STALL_EPOCHS];	/* ... and when: see stalls.epoch_ns */
};

/* From where the calls of a kind were made, as far as their stacks are known. */
struct stall_place {
	struct stall_place_key {
		uint64_t stack;		/* id; 0: of those that are more than STALL_PLACES */
		uint64_t kind;		/* enum stall_kind */
	} key;
	uint64_t ns;			/* of the stalls in these calls */
};

/* Start zeroed. */
struct stalls {
	struct rows rows;		/* struct stall */
	struct rows places;		/* struct stall_place */
	uint64_t before_ns;		/* until the first work began: in no stall */
	uint64_t base_ns;		/* the first gap's start; 0: none yet */
	/* length of an epoch, from base_ns on; 0 in a difference, whose stalls have none */
	uint64_t epoch_ns;
};

static inline size_t stalls_count(const struct stalls *s)
{
	return s->rows.n;
}

static inline const struct stall *stalls_at(const struct stalls *s, size_t i)
{
	return s->rows.v[i];
}

/* A gap that a work of known launch ended, the thread that launched it, and by how much of each
 * cause it was idle (idle_divide). 0 or -ENOMEM. */
int stalls_add(struct stalls *s, const struct device_gap *gap, const struct idle_thread *who,
	       const uint64_t ns[IDLE_CAUSES]);

int stalls_copy(struct stalls *to, const struct stalls *from);	/* to is zeroed; 0 or -ENOMEM */

/* Subtracts an earlier copy. A longest_ns that was reached before becomes what there is at most. */
void stalls_subtract(struct stalls *from, const struct stalls *earlier);

void stalls_free(struct stalls *s);	/* zeroed again */

/* The part of a stall in the later half of [base_ns, now), rounded down to an epoch; in a
 * difference all of it. */
uint64_t stalls_late_ns(const struct stalls *s, const struct stall *row, uint64_t now_ns);

#endif
