/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The numbers that events carry, and their names. They leave the process in captures: append only.
 */
#ifndef EVENT_NAMES_H
#define EVENT_NAMES_H

#include <stdbool.h>

/* A new kind needs its payload in event.h, its row in schema.c, its source and its consumer. */
enum event_kind {
	EVENT_CALL = 1,		/* a call that returned */
	EVENT_ENTER = 2,	/* a call that may block or last has begun */
	EVENT_OPEN = 3,		/* at session end (end_ns) this call had not returned */
	EVENT_THREAD = 4,	/* a thread is known: start_ns = its birth */
	EVENT_EXIT = 5,		/* a thread ended at end_ns (takes a seq) */
	EVENT_FORK = 6,		/* process pid has the child process tid, born at start_ns */
	EVENT_PROCESS = 7,	/* a process is known, born at start_ns; end_ns: the exec of its
				 * program (0: before the session) */
	EVENT_TAIL = 8,		/* at session end: seq = the last number that the thread used */
	EVENT_FACT = 9,		/* about the session (host, version, ...) */
	EVENT_COUNT = 10,	/* a counter, cumulative */
	EVENT_START = 11,	/* the session begins at start_ns (probes are attached) */
	EVENT_STOP = 12,	/* the session ended at end_ns */
	EVENT_WATERMARK = 13,	/* every event that ended before end_ns has been delivered */
	EVENT_UNARMED = 14,	/* pid had a library mapped but no probes in [start_ns, end_ns) */
	EVENT_IDENTITY = 17,	/* a fact about process pid (rank, container, ...), after its
				 * PROCESS; a new PROCESS with a comm discards them */

	/* A call that began before its probes were attached: it has no number and no arguments, and
	 * start_ns is the earliest time at which it was seen. */
	EVENT_INSIDE = 18,	/* the thread was in it all of [start_ns, end_ns); repeated while
				 * that lasts. has & HAS_END: its return will be seen (LEFT) */
	EVENT_LEFT = 19,	/* it returned at end_ns, with result (takes a seq) */
	EVENT_GONE = 20,	/* it returned before end_ns, at an unknown time */
	EVENT_FRAME = 21,	/* a place in code, and its caller */
	EVENT_STACK = 22,	/* which frames the stack of a call has */

	/* Device activity, from a helper. */
	EVENT_DEVICE = 23,	/* process pid has this device */
	EVENT_WORK = 24,	/* a device did this work in [start_ns, end_ns) */
	EVENT_API = 25,		/* CUPTI's record of a call in [start_ns, end_ns) */
	EVENT_RANGE = 26,	/* an NVTX range of the application, at start_ns in thread tid */
	EVENT_OFF = 27,		/* the thread was off the CPU in [start_ns, end_ns), outside calls
				 * (takes a seq). Without HAS_END it still was at end_ns, and seq is
				 * the thread's last one */
	EVENT_UNSEEN = 28,	/* works or records of memory of pid are missing in [start_ns,
				 * end_ns) */
	EVENT_MEMORY = 29,	/* CUPTI's record: memory was allocated or freed at start_ns */

	/* The host's devices, from NVML. */
	EVENT_SAMPLE = 30,	/* the state of one in [start_ns, end_ns) */
	EVENT_USER = 31,	/* process pid, watched or not, used it at start_ns; the device's
				 * next SAMPLE follows after all of its USERs */
	EVENT_FAULT = 32,	/* it had an error at start_ns */
	EVENT_TOLD = 33,	/* CUPTI's record of a call that no probe sees: as CALL, without
				 * number and not in the order of its thread */
	EVENT_NODE = 34,	/* a node was added to a graph of process pid at start_ns, by the
				 * call that thread tid was in */
	EVENT_KIND_END
};

/* Kinds with the payload `call`, in the order of their thread. */
static inline bool event_is_call(unsigned int kind)
{
	return (kind >= EVENT_CALL && kind <= EVENT_OPEN) ||
	       (kind >= EVENT_INSIDE && kind <= EVENT_GONE);
}

/* Kinds whose func names a function; in all others it is 0. */
static inline bool event_has_func(unsigned int kind)
{
	return event_is_call(kind) || kind == EVENT_TOLD;
}

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

/* Direction of a copy, as cudaMemcpyKind. */
enum copy_dir { COPY_H2H = 0, COPY_H2D = 1, COPY_D2H = 2, COPY_D2D = 3, COPY_DEFAULT = 4 };

enum stack_known {
	STACK_KNOWN_WHOLE = 0,	/* up to the outermost function of the thread */
	STACK_KNOWN_CUT = 1,	/* the caller of the outermost frame is unknown */
	STACK_KNOWN_DEEP = 2,	/* deeper than the part that is copied or stored */
	STACK_KNOWN_END
};

#define FRAME_GUESSED 0x01	/* found by a frame pointer */
#define FRAME_SIGNAL 0x02	/* a signal handler returns to it */

enum range_what {
	RANGE_PUSH = 1,		/* begins within the one before */
	RANGE_POP = 2,		/* ends the last pushed of its domain */
	RANGE_START = 3,	/* ends in any thread, by its id */
	RANGE_END = 4,
	RANGE_MARK = 5,
	RANGE_WHAT_END
};

/* Why a thread was off the CPU. */
enum off_reason {
	OFF_RUNQUEUE = 0,	/* it could run, others did */
	OFF_DISK = 1,
	OFF_IO = 2,		/* in a system call that reads, writes or waits for a descriptor */
	OFF_LOCK = 3,
	OFF_PAGE_FAULT = 4,	/* blocked outside system calls */
	OFF_SLEEP = 5,
	OFF_OTHER = 6,		/* any other system call */
	OFF_STOPPED = 7,	/* by a signal or a debugger */
	OFF_REASON_END,
	OFF_UNTOLD = 254,	/* it returned at an unknown time: part of that it was on a CPU */
	OFF_CALL = 255		/* without HAS_END: it is in the call that began at start_ns, of
				 * which it was off.blocked_ns off the CPU */
};

/* Why works or records of memory are missing. */
enum unseen_why {
	UNSEEN_LOST = 1,	/* records were made, and lost on the way */
	UNSEEN_UNKNOWN = 2,	/* no helper recorded, or its records did not arrive */
	UNSEEN_END
};

/* Which of them, as bits: unseen.of. 0: both, or unknown. */
#define UNSEEN_OF_WORKS 0x1
#define UNSEEN_OF_MEMORY 0x2
#define UNSEEN_OF_BEFORE 0x4	/* before the capture: its list of live memory may lack some */

enum memory_op { MEMORY_ALLOC = 1, MEMORY_FREE = 2, MEMORY_OP_END };

enum memory_kind {
	MEMORY_KIND_UNKNOWN = 0,
	MEMORY_KIND_DEVICE = 1,
	MEMORY_KIND_PINNED = 2,		/* of the host, page-locked */
	MEMORY_KIND_MANAGED = 3,
	MEMORY_KIND_POOL = 4,		/* of the device, in the order of a stream */
	MEMORY_KIND_ARRAY = 5,
	MEMORY_KIND_STATIC = 6,		/* variables of a module */
	MEMORY_KIND_PHYSICAL = 7,	/* without an address yet (cuMemCreate) */
	MEMORY_KIND_END
};

enum work_kind {
	WORK_KIND_KERNEL = 1,
	WORK_KIND_COPY = 2,
	WORK_KIND_PEER = 3,		/* a copy between devices */
	WORK_KIND_SET = 4,
	WORK_KIND_GRAPH = 5,		/* a whole graph, without records of its nodes */
	WORK_KIND_END
};

/* Host memory that a copy reads or writes. */
enum work_memory { MEMORY_UNKNOWN = 0, MEMORY_PAGEABLE = 1, MEMORY_PINNED = 2 };

/* work.has */
#define WORK_HAS_GRAPH 0x01	/* graph, graph_node are known; graph 0: it was in none */
#define WORK_HAS_CLUSTER 0x02
#define WORK_HAS_MAX_CLUSTERS 0x04
#define WORK_HAS_DIR 0x08

enum sample_field {
	/* Of the whole device (a MIG instance is one; its GPU reports what only GPUs have, such as
	 * power), in hundredths of a percent, means over the sample's time. */
	SAMPLE_SM = 0,			/* multiprocessors that had any work */
	SAMPLE_OCCUPANCY = 1,		/* resident warps, of the maximum */
	SAMPLE_TENSOR = 2,		/* tensor cores at work */
	SAMPLE_DRAM = 3,		/* memory bandwidth used */
	/* In percent of a period that ended with the sample and is up to a second long. */
	SAMPLE_BUSY = 4,		/* any kernel ran */
	SAMPLE_MEMORY_BUSY = 5,		/* memory was read or written */
	/* At the sample's end. */
	SAMPLE_USED_BYTES = 6,
	SAMPLE_TOTAL_BYTES = 7,
	SAMPLE_POWER_MW = 8,
	SAMPLE_ENERGY_MJ = 9,		/* since the driver was loaded */
	SAMPLE_SM_MHZ = 10,
	SAMPLE_MEMORY_MHZ = 11,
	SAMPLE_CLOCK_REASONS = 12,	/* CLOCK_*: why clocks are what they are */
	SAMPLE_USERS = 13,		/* processes; those with a pid have an EVENT_USER each */
	SAMPLE_FIELDS
};

#define SAMPLE_FULL 10000u		/* 100 %, in hundredths */

/* SAMPLE_CLOCK_REASONS, NVML's bits. */
#define CLOCK_IDLE 0x1ull
#define CLOCK_SETTING 0x2ull		/* of applications */
#define CLOCK_POWER_CAP 0x4ull
#define CLOCK_HARDWARE 0x8ull		/* with one of the two below, or for currents */
#define CLOCK_SYNC_BOOST 0x10ull	/* as slow as another device */
#define CLOCK_THERMAL 0x20ull
#define CLOCK_THERMAL_HARDWARE 0x40ull
#define CLOCK_POWER_BRAKE 0x80ull	/* the power supply asks for it */

enum fault_what {
	FAULT_XID = 1,			/* fault.value = its number */
	FAULT_ECC_CORRECTED = 2,
	FAULT_ECC_UNCORRECTED = 3,
	FAULT_ECC_STORM = 4,		/* too many corrected ones to report each */
	FAULT_RETIRED = 5,		/* a part of its memory is not used any more */
	FAULT_RETIRE_FAILED = 6,
	FAULT_POISON = 7,
	FAULT_POISON_FATAL = 8,
	FAULT_UNAVAILABLE = 9,
	FAULT_RECOVERY = 10,		/* the action needed to make it usable again has changed */
	FAULT_LOST = 11,		/* NVML cannot reach it any more */
	FAULT_BACK = 12,		/* NVML reaches it again: no fault, but the end of one */
	FAULT_WHAT_END
};

/* Keys of EVENT_IDENTITY. The process ended: when, on CLOCK_MONOTONIC. May come before the last
 * calls of its threads. */
#define EVENT_ENDED_NS "ended_ns"

/* Facts of a session that are counters: each of several captures has the growth while it was
 * written. */
enum counter {
	COUNTER_NESTED,		/* hits of probes inside another call */
	COUNTER_REACHED,	/* of these, a launch of the driver's inside one of the runtime's */
	COUNTER_ABANDONED,	/* calls that never returned */
	COUNTER_FOREIGN,	/* hits of processes that are not followed */
	COUNTER_UNFOLLOWED,	/* children that there was no room for */
	COUNTER_END
};

const char *event_kind_name(unsigned int kind);		/* "call", ..., "?" */
const char *off_reason_name(unsigned int reason);	/* "runqueue", ..., "?" */
const char *counter_name(unsigned int counter);		/* "nested", ..., "?" */

#endif
