/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The numbers that events carry, and their names. They leave the process in captures: append only.
 */
#ifndef EVENT_NAMES_H
#define EVENT_NAMES_H

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
#define FRAME_PYTHON 0x04	/* a Python function: offset is its line, or 0; file its path */
#define FRAME_GAP 0x08		/* native frames that are not known, between known ones */
#define FRAME_OP 0x10		/* no place in code: the operator of an event_op */
#define FRAME_MODULE 0x20	/* the same of a module of PyTorch's: its class */
#define FRAME_SHAPE 0x40	/* the same, of this shape; the operator's own frame is `offset` */
#define FRAME_GEMM 0x80	/* a product of matrices (catalog/gemms.h), in the operator `offset` */

enum range_what {
	RANGE_PUSH = 1,		/* begins within the one before */
	RANGE_POP = 2,		/* ends the last pushed of its domain */
	RANGE_START = 3,	/* ends in any thread, by its id */
	RANGE_END = 4,
	RANGE_MARK = 5,
	RANGE_LEAVE = 6,	/* the thread ends, and with it what it has pushed */
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
	OFF_CALL_STOPPED = 253,	/* OFF_CALL, and it is stopped in it */
	OFF_NO_END = 254,	/* it returned at an unknown time: part of that it was on a CPU */
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
	MEMORY_KIND_TORCH = 8,		/* that PyTorch's allocator gave out, of device memory */
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
#define WORK_HAS_NO_LAUNCH 0x10	/* it is unknown which launch it is of; correlation is 0 */

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
	SAMPLE_CLOCK_REASONS = 12,	/* CLOCK_*: the reasons of the present clocks */
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
#define CLOCK_POWER_BRAKE 0x80ull	/* the power supply requests it */

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

/* Keys of EVENT_IDENTITY, times on CLOCK_MONOTONIC. The process ended: when. May come before the
 * last calls of its threads. */
#define EVENT_ENDED_NS "ended_ns"
/* Pushed before it: the helper ended in order, and works launched from then on are not recorded. */
#define EVENT_RECORDED_NS "recorded_ns"

/* Facts of a session that are counters: each of several captures has the growth while it was
 * written. */
enum counter {
	COUNTER_NESTED,		/* hits of probes inside another call */
	COUNTER_REACHED,	/* of these, a launch of the driver's inside one of the runtime's */
	COUNTER_ABANDONED,	/* calls that never returned */
	COUNTER_FOREIGN,	/* hits of processes that are not followed */
	COUNTER_UNFOLLOWED,	/* children that there was no room for */
	COUNTER_SILENT,		/* hits of probes that record nothing just then */
	COUNTER_END
};

/* How much of an open call its thread was off the CPU. */
static inline bool off_is_in_call(unsigned int reason)
{
	return reason == OFF_CALL || reason == OFF_CALL_STOPPED;
}

/* "runqueue", ..., "?" */
static inline const char *off_reason_name(unsigned int reason)
{
	static const char *const names[OFF_REASON_END] = {
		[OFF_RUNQUEUE] = "runqueue", [OFF_DISK] = "disk", [OFF_IO] = "io",
		[OFF_LOCK] = "lock", [OFF_PAGE_FAULT] = "page-fault", [OFF_SLEEP] = "sleep",
		[OFF_OTHER] = "off-cpu", [OFF_STOPPED] = "stopped",
	};

	return reason < OFF_REASON_END ? names[reason] : "?";
}

/* "nested", ..., "?" */
static inline const char *counter_name(unsigned int counter)
{
	static const char *const names[COUNTER_END] = {
		[COUNTER_NESTED] = "nested", [COUNTER_REACHED] = "reached",
		[COUNTER_ABANDONED] = "abandoned", [COUNTER_FOREIGN] = "foreign",
		[COUNTER_UNFOLLOWED] = "unfollowed", [COUNTER_SILENT] = "silent",
	};

	return counter < COUNTER_END ? names[counter] : "?";
}

#endif
