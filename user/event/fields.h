/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the fields of struct event (event.h) mean in kinds that have others than a call's, and the
 * values that they take.
 */
#ifndef EVENT_FIELDS_H
#define EVENT_FIELDS_H

/* How much of a stack its frames are. */
enum stack_known {
	STACK_KNOWN_WHOLE = 0,	/* up to the outermost function of the thread */
	STACK_KNOWN_CUT = 1,	/* what called the outermost frame cannot be told */
	STACK_KNOWN_DEEP = 2,	/* it goes on beyond what is copied or kept of a stack */
	STACK_KNOWN_END
};

/* What a thread says of its ranges. They leave the process in captures: append only. */
enum range_what {
	RANGE_PUSH = 1,		/* begins within the one before */
	RANGE_POP = 2,		/* ends the last pushed of its domain */
	RANGE_START = 3,	/* ends in any thread, by its id */
	RANGE_END = 4,
	RANGE_MARK = 5,
	RANGE_WHAT_END
};

/* Why a thread was off the CPU. They leave the process in captures: append only. */
enum off_reason {
	OFF_RUNQUEUE = 0,	/* it could run, others did */
	OFF_DISK = 1,
	OFF_IO = 2,		/* in a system call that reads, writes or waits for a descriptor */
	OFF_LOCK = 3,
	OFF_PAGE_FAULT = 4,	/* blocked outside system calls */
	OFF_SLEEP = 5,
	OFF_OTHER = 6,		/* any other system call */
	OFF_STOPPED = 7,	/* by a signal or a debugger; before captures 1.11 that was OFF_OTHER */
	OFF_REASON_END,
	OFF_UNTOLD = 254,	/* when it came back is not known: it was on a CPU in a part of that */
	OFF_CALL = 255		/* without HAS_END: it is in the call that began at start_ns, which it
				 * has spent blocked_ns of off the CPU */
};

/* Why works are not known. It leaves the process in captures: append only. */
enum unseen_why {
	UNSEEN_LOST = 1,	/* records of them were made, and lost on the way */
	UNSEEN_UNKNOWN = 2,	/* nobody recorded, or what was recorded did not arrive */
	UNSEEN_END
};

/* Of what, as bits: EVENT_UNSEEN's func. None is set: of all, or nobody knows. In captures, too. */
#define UNSEEN_OF_WORKS 0x1
#define UNSEEN_OF_MEMORY 0x2
#define UNSEEN_OF_BEFORE 0x4	/* before the capture began: it may have missed what it says lives (no times) */

/* EVENT_IDENTITY's text: nothing more will come of the process; text2: when it ended, of CLOCK_MONOTONIC. It
 * may be said before the last calls of its threads are. */
#define EVENT_ENDED_NS "ended_ns"

/*
 * EVENT_FRAME: text = the function (NULL: no symbol covers it), text2 = the build id of its file
 * ("-": unknown), a blank, and the file's path. Frames are numbered from 1 and come before those
 * that they called. dir: bit 0: found by a frame pointer, bit 1: a signal handler returns to it.
 */
#define FRAME_NUMBER(e) ((e)->entity)
#define FRAME_CALLER(e) ((e)->stream)	/* number; 0: it is the outermost */
#define FRAME_OFFSET(e) ((e)->bytes)	/* of the instruction in the file; without one: its address */
#define STACKS_FRAMES_MAX (1u << 18)	/* of a session: what is over is not told */
#define STACKS_MAX (1u << 16)
#define FRAME_GUESSED 0x01
#define FRAME_SIGNAL 0x02

/* THREAD, EXIT, FORK, PROCESS: when the process began, exactly; 0: unknown, or known from start_ns
 * only, to 10 ms. */
#define EVENT_PROCESS_NS(e) ((e)->entity)

/* THREAD: its number in its own pid namespace; 0: not known. */
#define EVENT_OWN_TID(e) ((e)->stream)

/* RANGE (PUSH, START), MEMORY (ALLOC), API: it was told before this capture began, which says so again: it is
 * open, or lives, or its works may be told; but it has not begun once more. */
#define EVENT_AGAIN(e) ((e)->stream)

/* EVENT_COUNT reuses the numeric fields. */
#define EVENT_HITS(e) ((e)->start_ns)
#define EVENT_RECEIVED(e) ((e)->end_ns)
#define EVENT_LOST(e) ((e)->bytes)

/*
 * OFF: dir = enum off_reason; text2 = the system call, and behind a blank the kind of its file, if
 * that is known (NULL: in none); text = who woke it: its comm, behind it a ? if it may have been an
 * interrupt instead; or "interrupt" (NULL: unknown).
 */
#define OFF_WOKEN_NS(e) ((e)->bytes)	/* at the end of it, since it was woken: that is OFF_RUNQUEUE */
#define OFF_WAKER(e) ((e)->entity)	/* pid << 32 | tid; 0: unknown, or no thread */

const char *off_reason_name(unsigned int reason);	/* "runqueue", ..., "?" */

#endif
