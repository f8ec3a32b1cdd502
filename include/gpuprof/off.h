/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * A time that a thread was off the CPU, outside calls: a record of the calls ring, so that it
 * comes between those of its thread's calls. It begins like gp_call: a reader that only needs
 * the owner of a record need not distinguish them. Time off the CPU inside a call is sent with
 * the call (GP_CALL_BLOCKED).
 */
#ifndef GPUPROF_OFF_H
#define GPUPROF_OFF_H

#include "event.h"

/* gp_off.flags */
#define GP_OFF_RUNNABLE 0x01	/* it did not block: others ran */
#define GP_OFF_IOWAIT 0x02	/* the kernel counted it as waiting for a disk */
#define GP_OFF_INTERRUPT 0x04	/* it was woken by an interrupt, of no thread */
/* a reading of an ongoing wait: no number of its own, dur is so far */
#define GP_OFF_STILL 0x08
/* with STILL: start_ns is the open call's; dur: of it, off the CPU; state: now */
#define GP_OFF_IN_CALL 0x10

#define GP_OFF_MAYBE 0x20	/* the waker may have been an interrupt in that thread's time */

/* The time of its return is unknown: only that it left the CPU again at the end. */
#define GP_OFF_END_UNKNOWN 0x40

#define GP_OFF_NO_SYSCALL (-1)

/* gp_off.state: of the kernel's bits for it, those of which user space knows a name. */
#define GP_OFF_STOPPED 0x0c	/* by a signal or a debugger */

/* gp_off.file: the type bits of a mode (stat(2)), shifted right by 12, or: */
#define GP_FILE_UNKNOWN 0
#define GP_FILE_ANONYMOUS 0x10	/* eventfd, epoll, timerfd, ... */
#define GP_FILE_GIL 0x11	/* no file: the address of Python's global interpreter lock */

struct gp_off {
	gp_u8 kind;
	gp_u8 flags;
	gp_s16 syscall;		/* GP_OFF_NO_SYSCALL: in none */
	gp_u32 seq;
	gp_u64 start_ns;	/* it left the CPU */
	gp_u32 dur_lo_ns;	/* until it was back on one */
	gp_u16 dur_hi;
	gp_u8 state;
	gp_u8 file;		/* of the descriptor that is the system call's first argument */
	gp_u32 pid;
	gp_u32 tid;
	gp_u64 woken_ns;	/* 0: not seen */
	gp_u32 waker_pid;	/* its waker; 0: not seen, or an interrupt */
	gp_u32 waker_tid;
	char waker_comm[GP_COMM_LEN];
	gp_u64 stack;		/* id; 0: none was taken */
};

_Static_assert(sizeof(struct gp_off) == 72, "off record");
_Static_assert(__builtin_offsetof(struct gp_off, seq) == __builtin_offsetof(struct gp_call, seq) &&
	       __builtin_offsetof(struct gp_off, start_ns) ==
	       __builtin_offsetof(struct gp_call, start_ns) &&
	       __builtin_offsetof(struct gp_off, pid) == __builtin_offsetof(struct gp_call, pid) &&
	       __builtin_offsetof(struct gp_off, tid) == __builtin_offsetof(struct gp_call, tid),
	       "begins as a call record");

#endif
