/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The event model: what every source (BPF rings, capture files, the simulator) delivers and every
 * consumer (capture writer, ledger, tables) takes. Nothing after this header can tell sources
 * apart. Pure data: knows nothing of BPF, files or tables.
 *
 * Order: events of one thread arrive in the order of their `seq`; across threads in no order that
 * anything may rely on but the watermark. A capture keeps arrival order, so a replay is the run.
 */
#ifndef EVENT_EVENT_H
#define EVENT_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event/func.h"

/*
 * Kinds leave the process in captures: append only. A new kind must reach event.c (names), its source
 * (event/decode.c, cli/), roster.c, ledger/model.c and view/events.c; captures hold whatever is here.
 */
enum event_kind {
	EVENT_CALL = 1,		/* a call that returned */
	EVENT_ENTER = 2,	/* a call has begun that may block or last */
	EVENT_OPEN = 3,		/* state at session end: this call had not returned at end_ns */
	EVENT_THREAD = 4,	/* a thread is known: start_ns = its birth, text = comm */
	EVENT_EXIT = 5,		/* a thread ended at end_ns (takes a seq) */
	EVENT_FORK = 6,		/* process pid has the child process tid, born at start_ns */
	EVENT_PROCESS = 7,	/* a process is known: pid, start_ns, text = comm, cmdline in text2 */
	EVENT_TAIL = 8,		/* state at session end: seq = last number the thread has used */
	EVENT_FACT = 9,		/* session fact: text = key, text2 = value (host, version, ...) */
	EVENT_COUNT = 10,	/* counter, cumulative: text = source, text2 = kind; fields below */
	EVENT_START = 11,	/* the session begins at start_ns (probes are attached) */
	EVENT_STOP = 12,	/* the session ended at end_ns */
	EVENT_WATERMARK = 13,	/* every event that ended before end_ns has been delivered */
	EVENT_UNARMED = 14,	/* pid had a library mapped but no probes in [start_ns, end_ns) */
	EVENT_TALLY = 15,	/* calls added up in the kernel: pid, func; see TALLY_* below */
	EVENT_BIN = 16,		/* of these, bytes calls took [start_ns, end_ns) each */
	EVENT_IDENTITY = 17,	/* of process pid, of which a PROCESS came before: text = what (rank,
				 * container, ...), text2 = its value; a new PROCESS with a
				 * text forgets them */

	/* A call that began before its probes were there: no number, no arguments. start_ns is the
	 * earliest time that it is known of; when it began is not known. */
	EVENT_INSIDE = 18,	/* the thread was in it all of [start_ns, end_ns). Again: it still was
				 * at end_ns. has & HAS_END: its return will be seen (LEFT) */
	EVENT_LEFT = 19,	/* it returned at end_ns, with result (takes a seq) */
	EVENT_GONE = 20,	/* it returned before end_ns; when was not seen */
	EVENT_FRAME = 21,	/* a place in code and who called it; see FRAME_* below */
	EVENT_STACK = 22,	/* what a call's stack is: entity = its id, stream = the number of its
				 * innermost frame (0: nothing is known), dir = enum stack_known */

	/* What devices did, from a helper (event/work.h). */
	EVENT_DEVICE = 23,	/* process pid has the device of `device`; text = its name */
	EVENT_WORK = 24,	/* a device did `work` in [start_ns, end_ns); text = the kernel's name */
	EVENT_API = 25,		/* CUPTI's record of a call: tid, start, end, result; func = CUPTI's number
				 * of the function, dir = its domain (4 driver, 5 runtime), seq =
				 * the correlation that the works it launched have */
	EVENT_RANGE = 26,	/* the application says so at start_ns, in thread tid: dir = enum
				 * range_what, text = name (NULL: it has none), text2 = its domain
				 * (NULL: the default one), entity = START's and END's id */
	EVENT_OFF = 27,		/* the thread was off the CPU in [start_ns, end_ns), outside calls (takes
				 * a seq); see OFF_* below. Without HAS_END it still was at end_ns, and
				 * seq is the thread's last one */
	EVENT_UNSEEN = 28,	/* of what devices did for pid in [start_ns, end_ns) works are missing:
				 * dir = enum unseen_why, bytes = how many (0: unknown) */
	EVENT_KIND_END
};

/* Kinds that tell of a single call. */
static inline bool event_is_call(unsigned int kind)
{
	return (kind >= EVENT_CALL && kind <= EVENT_OPEN) ||
	       (kind >= EVENT_INSIDE && kind <= EVENT_GONE);
}

/* Kinds that tell of several: start_ns and end_ns are no times. */
static inline bool event_is_sum(unsigned int kind)
{
	return kind == EVENT_TALLY || kind == EVENT_BIN;
}

/* Kinds whose func names a function. */
static inline bool event_has_func(unsigned int kind)
{
	return event_is_call(kind) || event_is_sum(kind);
}

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
	OFF_OTHER = 6,		/* any other system call, or it was stopped */
	OFF_REASON_END,
	OFF_CALL = 255		/* without HAS_END: it is in the call that began at start_ns, which it
				 * has spent blocked_ns of off the CPU */
};

/* Why works are not known. It leaves the process in captures: append only. */
enum unseen_why {
	UNSEEN_LOST = 1,	/* records of them were made, and lost on the way */
	UNSEEN_UNKNOWN = 2,	/* nobody recorded, or what was recorded did not arrive */
	UNSEEN_END
};

/* Direction of a copy, as cudaMemcpyKind. */
enum copy_dir { COPY_H2H = 0, COPY_H2D = 1, COPY_D2H = 2, COPY_D2D = 3, COPY_DEFAULT = 4 };

/* event.has: which details are known. Unknown is not zero. */
enum event_has {
	HAS_RESULT = 0x01,
	HAS_BYTES = 0x02,
	HAS_SHAPE = 0x04,	/* grid, block, shared_bytes */
	HAS_DIR = 0x08,
	HAS_STREAM = 0x10,
	HAS_ENTITY = 0x20,
	HAS_END = 0x40,		/* the return was observed: end_ns is measured */
};

/* Of a matrix product (CLASS_LIBRARY): grid = m, n, k; block = number of products, 1, 1. */
struct launch_shape {
	uint32_t grid[3];
	uint32_t block[3];
	uint64_t shared_bytes;	/* dynamic shared memory */
};

struct event {
	uint8_t kind;		/* enum event_kind */
	uint8_t has;		/* enum event_has, bits */
	uint8_t dir;		/* enum copy_dir */
	uint8_t pad;
	uint16_t func;		/* index into the source's struct funcs */
	uint16_t pad2;
	int32_t result;		/* the API's own code */
	uint32_t pid;
	uint32_t tid;
	uint32_t seq;
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t bytes;
	uint64_t stream;	/* handle */
	uint64_t entity;	/* what is launched (host stub, cudaKernel_t, CUfunction, graph exec),
				 * the memory pool of an allocation, or a communicator */
	uint64_t stack;		/* of a call or OFF: the id of its stack; 0: none was taken */
	uint64_t blocked_ns;	/* of a call, up to its end: it was off the CPU */
	struct launch_shape shape;
	const char *text;	/* valid during the call that delivers the event; NULL unknown */
	const char *text2;
	const struct work *work;	/* the same, of EVENT_WORK */
	const struct device_facts *device;	/* of EVENT_DEVICE */
};

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

/* EVENT_COUNT reuses the numeric fields. */
#define EVENT_HITS(e) ((e)->start_ns)
#define EVENT_RECEIVED(e) ((e)->end_ns)
#define EVENT_LOST(e) ((e)->bytes)

/* EVENT_TALLY: calls since the one before. has & HAS_END: times are known, and EVENT_BINs follow. */
#define TALLY_CALLS(e) ((e)->start_ns)
#define TALLY_TOTAL_NS(e) ((e)->end_ns)
#define TALLY_ERRORS(e) ((e)->bytes)
#define TALLY_MAX_NS(e) ((e)->entity)	/* since the beginning */
#define TALLY_PROCESS_NS(e) ((e)->stream)	/* its process's birth, exactly; 0: unknown, in captures */

/*
 * OFF: dir = enum off_reason; text2 = the system call, and behind a blank the kind of its file, if
 * that is known (NULL: in none); text = who woke it: its comm, behind it a ? if it may have been an
 * interrupt instead; or "interrupt" (NULL: unknown).
 */
#define OFF_WOKEN_NS(e) ((e)->bytes)	/* at the end of it, since it was woken: that is OFF_RUNQUEUE */
#define OFF_WAKER(e) ((e)->entity)	/* pid << 32 | tid; 0: unknown, or no thread */

/*
 * A consumer of events. push returns 0 or -errno, which ends the session (a full disk); the event
 * and its texts belong to the caller and die when push returns.
 */
struct event_sink {
	int (*push)(void *ctx, const struct event *ev);
	void *ctx;
};

const char *event_kind_name(unsigned int kind);	/* "call", ..., "?" */
const char *off_reason_name(unsigned int reason);	/* "runqueue", ..., "?" */

#endif
