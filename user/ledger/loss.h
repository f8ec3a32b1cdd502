/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What ran a device dry, and who: each gap of a device's book, divided by causes as ledger/idle.h
 * has it, is the loss of one kind or of several, of the thread that launched the work which ended
 * it. Bounded. Knows no works, names or tables; findings are made of it.
 *
 * A gap's time inside calls is the loss that these calls are (`sync`, `copy`, `alloc`, ...). What was
 * lost outside of calls for LOSS_HOST_NS or longer is `host`, on a CPU or off it, but `runqueue` where
 * no CPU was free, `stopped` where the thread was that, in a call or not. A launched work that did not begin for LOSS_WAIT_NS or longer `waited` for others.
 * The rest, that is launching, short ways in between and what the device took to begin, belongs to the
 * call that the thread was in when the device ran dry, since with work ahead none of it would have
 * shown; if it was in none of these, it is `launch`: the thread did not launch fast enough; or `queued`
 * if the launch was over before the gap began. What was not seen, and what nothing ended, is no loss.
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
 *   launched at -1               waited 10; queued, if the gap is shorter than LOSS_WAIT_NS
 */
#ifndef LEDGER_LOSS_H
#define LEDGER_LOSS_H

#include "base/vec.h"
#include "ledger/idle.h"

#define LOSS_HOST_NS 1000000ull
#define LOSS_WAIT_NS 200000ull	/* above what a device takes to begin */
#define LOSS_ROWS 128		/* of one device; more are added to rows of thread 0 */
#define LOSS_EPOCHS 16

enum loss_kind {
	LOSS_SYNC,
	LOSS_COPY,		/* in a host copy of at least TIMELINE_LARGE_BYTES */
	LOSS_COPY_SMALL,	/* in one of less: it waited for what was before */
	LOSS_ALLOC,
	LOSS_COMPILE,
	LOSS_COLLECTIVE,	/* inside a collective's call */
	LOSS_HOST,
	LOSS_LAUNCH,
	LOSS_QUEUED,
	LOSS_WAITED,
	LOSS_RUNQUEUE,		/* ready to run, but no CPU was free */
	LOSS_STOPPED,		/* by a signal or a debugger */
	LOSS_KINDS
};

struct loss {
	uint32_t tid;			/* 0: rows that had no room */
	uint16_t func;			/* the call, of kinds that are calls; else TIMELINE_NO_FUNC */
	uint8_t kind;			/* enum loss_kind */
	uint64_t ns, gaps, longest_ns;	/* longest: of one gap's part */
	uint64_t cause_ns[IDLE_CAUSES];	/* what ns is made of */
	uint64_t epoch_ns[LOSS_EPOCHS];	/* ... and when: see losses.epoch_ns */
};

/* Start zeroed. */
struct losses {
	VEC(struct loss) all;
	uint64_t before_ns;		/* until the first work began: judged by nobody */
	uint64_t base_ns;		/* the first gap's start; 0: none yet */
	uint64_t epoch_ns;		/* epochs are so long, from base_ns on */
};

/* A gap that a work of known launch ended, the thread that launched it, and by how much of each cause
 * it was idle (idle_divide). 0 or -ENOMEM. */
int losses_add(struct losses *l, const struct device_gap *gap, const struct idle_thread *who,
	       const uint64_t ns[IDLE_CAUSES]);
int losses_copy(struct losses *to, const struct losses *from);	/* to is zeroed; 0 or -ENOMEM */
void losses_free(struct losses *l);				/* zeroed again */

/* How much of it lies in the later half of [base_ns, now). To an epoch, rounded down. */
uint64_t losses_late_ns(const struct losses *l, const struct loss *row, uint64_t now_ns);

#endif
