/* SPDX-License-Identifier: BSD-3-Clause */
/* The kinds of events, and what can be said of an event by its kind alone. */
#ifndef EVENT_KIND_H
#define EVENT_KIND_H

#include <stdbool.h>

/*
 * Kinds leave the process in captures: append only. A new kind must reach event.c (names), its source
 * (source/bpf/decode.c, cli/), roster.c, ledger/model.c and view/events.c; captures hold whatever is here.
 */
enum event_kind {
	EVENT_CALL = 1,		/* a call that returned */
	EVENT_ENTER = 2,	/* a call has begun that may block or last */
	EVENT_OPEN = 3,		/* state at session end: this call had not returned at end_ns */
	EVENT_THREAD = 4,	/* a thread is known: start_ns = its birth, text = comm */
	EVENT_EXIT = 5,		/* a thread ended at end_ns (takes a seq) */
	EVENT_FORK = 6,		/* process pid has the child process tid, born at start_ns */
	EVENT_PROCESS = 7,	/* a process is known: pid, start_ns, text = comm, cmdline in text2;
				 * end_ns: it executed its program then (0: it was there before) */
	EVENT_TAIL = 8,		/* state at session end: seq = last number the thread has used */
	EVENT_FACT = 9,		/* session fact: text = key, text2 = value (host, version, ...) */
	EVENT_COUNT = 10,	/* counter, cumulative: text = source, text2 = kind; fields below */
	EVENT_START = 11,	/* the session begins at start_ns (probes are attached) */
	EVENT_STOP = 12,	/* the session ended at end_ns */
	EVENT_WATERMARK = 13,	/* every event that ended before end_ns has been delivered */
	EVENT_UNARMED = 14,	/* pid had a library mapped but no probes in [start_ns, end_ns) */
	/* 15, 16: no longer used */
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
	EVENT_UNSEEN = 28,	/* of what devices did for pid in [start_ns, end_ns) works or CUPTI's records
				 * of memory are missing: dir = enum unseen_why, func = UNSEEN_OF_*, bytes = how many (0: unknown) */
	EVENT_MEMORY = 29,	/* CUPTI's record of memory: at start_ns the bytes at address were
				 * allocated or freed (dir = enum memory_op, event/memory.h); func =
				 * enum memory_kind, seq = the process's own ordinal of the device */

	/* Of the host's devices, from NVML (event/sample.h): text = the device's UUID, seq = the host's
	 * index of it or of the GPU that it is an instance of, text2 = its name (NULL: unknown). */
	EVENT_SAMPLE = 30,	/* its state in [start_ns, end_ns): `sample` */
	EVENT_USER = 31,	/* process pid, watched or not, was on it at start_ns, with bytes of its memory;
				 * its next SAMPLE follows when all have been told. No name */
	EVENT_FAULT = 32,	/* something went wrong in it at start_ns: dir = enum fault_what */
	EVENT_TOLD = 33,	/* CUPTI's record of a call that no probe sees: as CALL, without number; not
				 * in the order of its thread */
	EVENT_NODE = 34,	/* a node came into a graph of process pid at start_ns: entity = its number,
				 * as works have it; address = that of which it is a clone, 0: it was made
				 * by the call that thread tid was in. As CUPTI's callbacks say */
	EVENT_KIND_END
};

/* Kinds that tell of a single call. */
static inline bool event_is_call(unsigned int kind)
{
	return (kind >= EVENT_CALL && kind <= EVENT_OPEN) ||
	       (kind >= EVENT_INSIDE && kind <= EVENT_GONE);
}

/* Kinds whose func names a function. */
static inline bool event_has_func(unsigned int kind)
{
	return event_is_call(kind) || kind == EVENT_TOLD;
}

const char *event_kind_name(unsigned int kind);	/* "call", ..., "?" */

#endif
