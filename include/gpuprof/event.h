/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The border between BPF and user space: what the ring buffers carry.
 *
 * BPF writes raw registers and stack words; user space (event/decode) gives them meaning with the
 * catalogue row that `row` names. Everything here is fixed-width, explicitly padded and
 * append-only; 0 is no valid kind. Readers accept records longer than they know and skip kinds
 * they do not know.
 *
 * Three rings: `calls` carries gp_call, `tasks` carries gp_task (few, and must not drown in calls),
 * `stacks` gp_stack (large; a lost one is a stack that stays unknown, and takes no number).
 * Times are CLOCK_MONOTONIC nanoseconds; pids and tids are those of the initial pid namespace.
 *
 * Every record that a thread tries to send takes the next number of that thread (`seq`, from 1).
 * A hole in a thread's numbers is therefore a loss between two known times. A GP_TASK_EXIT takes
 * a number too, so that a loss just before a thread's end is seen.
 */
#ifndef GPUPROF_EVENT_H
#define GPUPROF_EVENT_H

#include "regs.h"

#ifndef __bpf__
#include <stdint.h>
typedef uint8_t gp_u8;
typedef uint16_t gp_u16;
typedef int16_t gp_s16;
typedef uint32_t gp_u32;
typedef uint64_t gp_u64;
#else
typedef __u8 gp_u8;
typedef __u16 gp_u16;
typedef __s16 gp_s16;
typedef __u32 gp_u32;
typedef __u64 gp_u64;
#endif

#define GP_EVENT_VERSION 5

/* Kinds of records. A new kind must reach: event/decode.c, bpf counters (GP_KINDS). */
#define GP_CALL 1	/* gp_call: a call that returned, complete */
#define GP_ENTER 2	/* gp_call: a call of a `two` row has begun; dur and result are 0 */
#define GP_OPEN 3	/* gp_call: a call still open when the session read the thread's state */
#define GP_TASK_NEW 4	/* gp_task: first call of a thread; seq 0 */
#define GP_TASK_EXIT 5	/* gp_task: a known thread ends */
#define GP_TASK_FORK 6	/* gp_task: a followed (or filtered) process has a child process */
#define GP_TASK_EXEC 7	/* gp_task: a followed process runs a new program */
#define GP_LEFT 8	/* gp_call without words: a call that began before its probes has returned */
#define GP_STACK 9	/* gp_stack: what a call's stack id means; no seq */
#define GP_KINDS 10

/* Raw words per record: 0-5 are the ABI's first six integer arguments, then the row's extra words. */
#define GP_REGS 6
#define GP_WORDS_SMALL 4	/* 64-byte record: the first four arguments */
#define GP_WORDS_MIDDLE 8	/* 96 bytes: six arguments and two extra words */
#define GP_WORDS_LARGE 12	/* 128 bytes: six arguments and six extra words */
#define GP_EXTRA_MAX (GP_WORDS_LARGE - GP_REGS)

/* Where a row's extra words come from. */
#define GP_EXTRA_NONE 0
#define GP_EXTRA_STACK 1	/* arguments 6, 7, ...: on x86-64 the words after the return address */
#define GP_EXTRA_DEREF 2	/* what argument gp_row.from points to, at entry */
#define GP_EXTRA_STACK_AT 3	/* the same, but single words: those that gp_row.at names */
#define GP_EXTRA_DEREF_AT 4

/* Attach cookies: the row (or slot) in the low 32 bits, and what the link was made for. While one
 * process uses a file the kernel's pid filter is used; when `handed_over` is set, links made with
 * the filter fall silent and those that waited for it begin, at one moment. */
#define GP_COOKIE_FILTERED (1ull << 32)
#define GP_COOKIE_WAITING (1ull << 33)

/* gp_row.flags */
#define GP_ROW_TWO 0x01		/* send GP_ENTER at entry too: the call may block or last */
#define GP_ROW_ENTRY_ONLY 0x02	/* no return probe: GP_CALL is sent at entry, dur 0 */
#define GP_ROW_JUMPS 0x04	/* ends in a jump to another row: both are hit with one return address */
#define GP_ROW_LAUNCH 0x08	/* starts work on a device */
#define GP_ROW_DRIVER 0x10	/* of the driver, which the runtime calls inside its own functions */

/* Which calls are followed to their return; set while the programs run. A return probe can kill a
 * process under a seccomp filter on some kernels. */
#define GP_RETURNS_ALL 0
#define GP_RETURNS_NO_SECCOMP 1	/* not those of processes under seccomp: as GP_ROW_ENTRY_ONLY */
#define GP_RETURNS_NONE 2	/* no return probes are attached: all are as GP_ROW_ENTRY_ONLY */

/* gp_call.flags */
#define GP_CALL_NO_RETURN 0x01	/* entry only: duration and result were not observed */
#define GP_CALL_EXTRA_FAULT 0x02 /* the extra words could not be read; they are 0 */
#define GP_CALL_BEFORE 0x04	/* it began before its probes: no words, start_ns is gp_seed's */
#define GP_CALL_STACK 0x08	/* behind the row's words follows one more: the id of the stack */

#define GP_DUR_MAX ((1ull << 48) - 1) /* durations saturate here: 78 hours */
#define GP_RESULT_MAX 32767	/* results saturate here; every probed API's codes are below */

struct gp_call {
	gp_u8 kind;
	gp_u8 flags;
	gp_s16 result;		/* low 32 bits of the return register, saturated */
	gp_u32 seq;
	gp_u64 start_ns;	/* entry */
	gp_u32 dur_lo_ns;	/* return - entry, low 32 bits */
	gp_u16 dur_hi;		/* ... bits 32-47 */
	gp_u16 row;		/* catalogue row, see user/probe/catalog.h */
	gp_u32 pid;
	gp_u32 tid;
	/* gp_u64 words[4, 8 or 12] follow: the record's length tells; then a stack's id */
};

/*
 * A stack, copied from the stack pointer upward when its id was not seen lately. The id is a hash
 * of the process, of what the process had mapped (gp_code.epoch), of the frame pointer's place in
 * the copy, and of every word of the copy that points into code, with its place. All return
 * addresses are such words, so two stacks of one id are the same chain of calls but for a collision
 * of 64 bits; except that code which was mapped since user space looked last (a few ms after a
 * dlopen) is not told from data.
 */
#define GP_STACK_BYTES_MAX 16384u
#define GP_STACK_BLOCK 256u

struct gp_stack {
	gp_u8 kind;
	gp_u8 pad;
	gp_u16 row;
	gp_u32 len;		/* bytes of stack that follow, from sp on: whole blocks */
	gp_u64 id;
	gp_u64 time_ns;
	gp_u32 pid;
	gp_u32 tid;
	gp_u64 sp;
	struct gp_thread_regs regs;	/* at the function's entry (or behind its endbr64) */
};

/* Where a process has code; two ranges that hold all of it. Unknown: whatever may be an address. */
struct gp_code {
	gp_u64 start[2];
	gp_u64 len[2];
	gp_u64 epoch;		/* changes with what is mapped */
};

#define GP_COMM_LEN 16

struct gp_task {
	gp_u8 kind;
	gp_u8 pad[3];
	gp_u32 seq;
	gp_u64 time_ns;		/* when it happened */
	gp_u64 start_ns;	/* NEW, EXIT: the thread's birth, 0: unknown; FORK: the child's */
	gp_u32 pid;
	gp_u32 tid;		/* FORK: the child's pid */
	char comm[GP_COMM_LEN];
	gp_u64 process_ns;	/* the birth of its process: tells two owners of one pid apart */
};

/* What BPF needs to know of a catalogue row; an array indexed by row. */
struct gp_row {
	gp_u8 words;		/* GP_WORDS_* */
	gp_u8 extra;		/* GP_EXTRA_* */
	gp_u8 extra_words;	/* how many to read, <= words - 6 */
	gp_u8 flags;		/* GP_ROW_* */
	gp_u8 at[GP_EXTRA_MAX];	/* GP_EXTRA_*_AT: word i is this many 8-byte words from there */
	gp_u8 from;		/* GP_EXTRA_DEREF*: the argument, < GP_REGS */
	gp_u8 pad;
};

/* One per CPU; summed by user space. hits[k] = sent[k] + lost[k] for every record kind. */
struct gp_counts {
	gp_u64 hits[GP_KINDS];	/* records that had to be sent */
	gp_u64 lost[GP_KINDS];	/* of these, not sent: the ring was full */
	gp_u64 nested;		/* entry hits inside another call: reported as its detail */
	gp_u64 abandoned;	/* calls left without returning (longjmp, exceptions, cancellation) */
	gp_u64 no_state;	/* entry hits without room for the thread's state: not recorded */
	gp_u64 foreign;		/* hits in processes that are not followed */
	gp_u64 unfollowed;	/* children for whom the set of followed processes had no room */
	gp_u64 reached;		/* of `nested`: launches of the driver inside one of the runtime */
};

/*
 * A thread that was inside a call when its probes came, as user space found it on the thread's
 * stack; by tid, until it returns or the thread ends (which is told in any case). Its return is
 * probed at the address it returns to, so that the call can end, and what it calls meanwhile is
 * known to be nested.
 */
struct gp_seed {
	gp_u64 sp;		/* as at the call's entry; 0: its return is not probed */
	gp_u64 start_ns;	/* since when it is known of */
	gp_u32 row;
	gp_u32 pid;
};

/* What the iterator task_files writes for each mapping of a file. */
struct gp_mapping {
	gp_u64 start;		/* address */
	gp_u64 ino;		/* of the real file, below any overlay */
	gp_u32 dev;		/* the kernel's encoding: major << 20 | minor */
	gp_u32 pid;		/* whose; before Linux 6.1 the iterator shows everybody's */
};

#define GP_ROWS_MAX 4096

/*
 * Where no single call is needed, calls are added up in the kernel: one gp_tally per process and
 * row, on each CPU. Durations go into a log-linear histogram: 16 bins an octave, so a quantile is
 * at most 1/16 too high.
 */
#define GP_BIN_BITS 4
#define GP_BINS ((48 - GP_BIN_BITS + 1) << GP_BIN_BITS)

#define GP_SLOTS_MAX 16384	/* see bpf/tally.bpf.h */

struct gp_tally_key {
	gp_u32 pid;
	gp_u32 row;
};

struct gp_tally {
	gp_u64 count;		/* calls that returned; where only entries are counted, those */
	gp_u64 entries;		/* further calls, not followed to their return */
	gp_u64 errors;		/* of `count`, result not 0 */
	gp_u64 total_ns;
	gp_u64 max_ns;
	gp_u32 bins[GP_BINS];
};

_Static_assert(sizeof(struct gp_call) == 32, "header of a call record");
_Static_assert(sizeof(struct gp_task) == 56, "task record");
_Static_assert(sizeof(struct gp_stack) == 40 + sizeof(struct gp_thread_regs), "header of a stack record");
_Static_assert(sizeof(struct gp_code) == 40, "code");
_Static_assert(sizeof(struct gp_row) == 12, "row");
_Static_assert(sizeof(struct gp_counts) == 8 * (2 * GP_KINDS + 6), "counts");
_Static_assert(sizeof(struct gp_mapping) == 24, "mapping");
_Static_assert(sizeof(struct gp_seed) == 24, "seed");
_Static_assert(sizeof(struct gp_tally_key) == 8, "tally key");
_Static_assert(sizeof(struct gp_tally) == 40 + 4 * GP_BINS, "tally");
_Static_assert(GP_WORDS_LARGE * 8 + sizeof(struct gp_call) == 128, "largest call record");

#endif
