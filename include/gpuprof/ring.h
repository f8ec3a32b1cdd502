/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The border between the helper (user/helper, a guest inside the target) and gpuprof: one memfd a
 * process, sealed against resizing, with a head page and a ring of its own for each
 * of a few readers. Both sides write it, so to each of them all of it is hostile: positions are
 * kept in private copies, a record is copied once and checked in the copy.
 *
 * The file: gp_ring_head in its first page, then GP_RING_SLOTS data areas of ring_bytes each.
 *
 * A reader takes a slot by exchanging `owner` from 0 to a random number of its own, sets `read`
 * to `written`, then `kinds`, wakes the helper, and renews the lease at least every second; the
 * helper gives records to slots whose lease has not run out, and frees those whose lease ran out
 * long ago (or ends as long from now). A lease of 0 means that the earlier reader has left in
 * order, having read all complete records: `read` stays, since a record that is still being
 * written must not be passed over. The helper checks slots only now and then: records before a
 * GP_RING_BEGIN of that number were for the slot's previous reader, and after it everything that
 * records refer to is sent again. Kinds enabled are the union of the slots' kinds. No slot with
 * a lease: the helper drains and falls asleep.
 *
 * A record takes whole units of 8 bytes and never wraps: the rest at the end of the area is
 * skipped by a GP_RING_PAD of 0 units. Any thread may write: it reserves by moving `written`,
 * and a record is complete when its stamp is that of its position, which is written last. So
 * that no old bytes look like a stamp, a reader clears records before it moves `read`. Without
 * space the record is counted in `lost` and nothing is written.
 *
 * Times in records are of the helper's own clocks: GP_RING_CLOCK relates them.
 * Everything is fixed-width, explicitly padded and append-only; readers skip kinds and bytes they
 * do not know.
 */
#ifndef GPUPROF_RING_H
#define GPUPROF_RING_H

#include <stdint.h>

#define GP_RING_VERSION 4	/* 1: slots had 13 kinds, 2: 14 and no room for more, 3: no BEGIN */
#define GP_RING_TAG 0x676e697266707567ull	/* "gupfring", of this byte order */
#define GP_RING_NAME "gpuprof-ring"		/* the memfd's, as /proc/PID/fd shows it */
#define GP_RING_SLOTS 4
#define GP_RING_HEAD_BYTES 4096u		/* of any page size: data begins at data_offset */
#define GP_RING_BYTES_MIN 65536u
#define GP_RING_BYTES_USUAL (8u << 20)	/* less: the process may have no larger file */
#define GP_RING_BYTES_MAX (16u << 20)
#define GP_RING_RECORD_MAX 16384u		/* bytes, with the header */
#define GP_RING_LEASE_NS 2000000000ull		/* a reader adds that to now when it renews */
/* a slot whose lease ended so long ago is free */
#define GP_RING_ABANDONED_NS (5 * GP_RING_LEASE_NS)

/* gp_ring_head.state (design §5). */
#define GP_HELPER_VIRGIN 1	/* loaded, has touched nothing */
#define GP_HELPER_ARMING 2	/* makes CUPTI ready: launches may stall */
#define GP_HELPER_AWAKE 3
#define GP_HELPER_DRAINED 4	/* no reader: CUPTI is disabled, its records were delivered */
#define GP_HELPER_YIELDED 5	/* another client uses CUPTI: see `occupant` */
#define GP_HELPER_FAILED 6	/* see `reason`, `code` */
#define GP_HELPER_ENDED 7	/* the process exits: nothing is recorded since state_ns */

/* Kinds of records. A new kind must reach: its producer, source/helper/decode.c,
 * fuzz_helper. */
#define GP_RING_PAD 1
#define GP_RING_CLOCK 2		/* gp_ring_clock */
#define GP_RING_NAME_IS 3	/* gp_ring_name: a number for a text, before its first use */
#define GP_RING_DEVICE 4	/* gp_ring_device */
#define GP_RING_CONTEXT 5	/* gp_ring_context */
#define GP_RING_KERNEL 6	/* gp_ring_kernel */
#define GP_RING_COPY 7		/* gp_ring_copy */
#define GP_RING_SET 8		/* gp_ring_copy, of which nothing is the source */
#define GP_RING_GRAPH 9		/* gp_ring_graph: a whole graph launch */
#define GP_RING_API 10		/* gp_ring_api */
#define GP_RING_RANGE 11	/* gp_ring_range */
#define GP_RING_LOSS 12		/* gp_ring_loss */
#define GP_RING_MEMORY 13	/* gp_ring_memory */
#define GP_RING_NODE 14		/* gp_ring_node: of graphs, with GP_RING_WANT_SUBSCRIBED */
#define GP_RING_BEGIN 15	/* gp_ring_begin: comes of itself, no reader has to want it */
#define GP_RING_KINDS 16
#define GP_RING_KINDS_ROOM 23	/* slots have room for so many */

/* A reader's wishes beside kinds, in the same bits. */
#define GP_RING_WANT_KINDS ((1u << GP_RING_KINDS) - 1)
/* Nothing is to be recorded for it any more, but all that was is to be handed on: it waits until
 * the helper is awake no longer, or other readers keep it awake and its clock has been read. */
#define GP_RING_WANT_END (1u << 28)
/* CUPTI's callbacks too, which only one client can have */
#define GP_RING_WANT_SUBSCRIBED (1u << 29)
#define GP_RING_WANT_NODES (1u << 30)	/* of graphs each node; else whole graphs are enough */
#define GP_RING_WANT_ALL_CALLS (1u << 31)	/* it knows of calls by GP_RING_API alone */

/* gp_ring_head.calls: which calls CUPTI records. */
#define GP_CALLS_SINGLE 1	/* functions enabled one by one (12.5) */
#define GP_CALLS_WHOLE 2	/* all of the runtime and of the driver */

#define GP_REASON_TOO_NEW " is newer than the driver's CUDA "	/* in gp_ring_head.reason */
#define GP_REASON_NO_CUPTI "no libcupti found"
#define GP_CHAIN_LOADED "it was loaded"	/* gp_ring_head.chained, when all is well */

struct gp_ring_slot {
	/* the reader's */
	uint64_t lease_ns;	/* CLOCK_MONOTONIC of the target's time namespace */
	uint64_t read;		/* bytes, ever growing */
	uint32_t owner;		/* 0: free */
	uint32_t kinds;		/* bit n: kind n is wanted; GP_RING_WANT_* */
	uint8_t pad[40];
	/* the helper's */
	uint64_t written;	/* bytes reserved, ever growing */
	uint64_t lost[GP_RING_KINDS_ROOM];	/* records without room, by kind */
};

struct gp_ring_head {
	uint64_t tag;
	uint32_t version;
	uint32_t head_bytes;	/* sizeof(struct gp_ring_head): longer in later versions */
	uint64_t data_offset;
	uint64_t ring_bytes;	/* of one slot; a power of two */
	uint32_t pid;		/* as the process itself sees it */
	uint32_t slots;
	uint64_t start_ns;	/* when the helper was loaded */
	uint32_t state;		/* GP_HELPER_* */
	uint32_t code;		/* CUPTI's, of the last failure */
	uint64_t state_ns;	/* since when */
	uint32_t cupti_version;	/* cuptiGetVersion's; 0: not known yet */
	uint32_t kernel_bytes;	/* measured size of CUPTI's kernel record */
	/* a reader adds 1 and wakes it as a futex: the helper sleeps on it */
	uint32_t wake;
	uint32_t calls;		/* GP_CALLS_*; 0: not armed yet */
	char reason[64];	/* of the failure; 0-terminated */
	char occupant[64];	/* another client of CUPTI; "": none known */
	char chained[48];	/* the result of GPUPROF_CHAIN_INJECTION; "": there is none */
	uint64_t subscribed_ns;	/* since when we have CUPTI's callbacks; 0: we have not */
	char unsubscribed[120];	/* why not, if they are wanted; "": they are not, or we have */
	struct gp_ring_slot slot[GP_RING_SLOTS];
	/* CUPTI's records in buffers that it was given and does not give back: not handed on. */
	uint64_t kept_bytes;	/* 0: there are none, or the helper does not report it */
	uint64_t kept_since_ns;	/* they were made after it; CLOCK_MONOTONIC of the target's */
	uint32_t filters;	/* of seccomp, when the helper came, and 1; 0: not known */
	/* Times that CUPTI was armed so far, this one too; 0: not reported. Before CUPTI 13.1 U1
	 * works of graphs have wrong correlations from 2 on. */
	uint32_t sessions;
	uint32_t cuda_version;	/* cuDriverGetVersion's, 13000: 13.0; 0: not known (yet) */
	uint32_t pad;
};

/* Begins every record. The payload follows; the record is `units` * 8 bytes. */
struct gp_ring_record {
	uint32_t stamp;		/* gp_ring_stamp of the position in bytes */
	uint16_t units;
	uint16_t kind;
};

struct gp_ring_begin {
	uint32_t owner;		/* its number; the rest of the slot is its own */
	uint32_t pad;
	uint64_t at_ns;		/* CLOCK_MONOTONIC: when the helper saw that reader */
};

static inline uint32_t gp_ring_stamp(uint64_t position)
{
	return (uint32_t)(position >> 3) + 1;
}

_Static_assert(sizeof(struct gp_ring_slot) == 256, "slot");
_Static_assert(GP_RING_KINDS <= GP_RING_KINDS_ROOM,
	       "more moves what follows: raise GP_RING_VERSION");
_Static_assert(__builtin_offsetof(struct gp_ring_slot, written) == 64,
	       "a cache line for each side");
_Static_assert(sizeof(struct gp_ring_slot) % 64 == 0, "slots share no cache line");
_Static_assert(__builtin_offsetof(struct gp_ring_head, slot) == 384, "head");
_Static_assert(sizeof(struct gp_ring_head) <= GP_RING_HEAD_BYTES, "head fits its page");
_Static_assert(sizeof(struct gp_ring_record) == 8, "record header");
_Static_assert(sizeof(struct gp_ring_begin) == 16, "begin");

#endif
