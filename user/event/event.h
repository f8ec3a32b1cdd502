/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An event: delivered by every source (BPF rings, helper rings, NVML, capture files) and taken
 * by every consumer (capture writer, join, ledger). A header and the payload of its kind;
 * schema.h describes the members of each payload. Pure data: knows nothing of BPF, files or
 * tables, and from here on sources are indistinguishable.
 *
 * Order: events of one thread arrive in the order of their `seq`; across threads only the watermark
 * orders them. A capture keeps arrival order, so a replay is the run.
 */
#ifndef EVENT_EVENT_H
#define EVENT_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/num.h"
#include "catalog/func.h"
#include "event/names.h"

/* They leave the process in captures: append only. A new kind needs its payload below, its row in
 * schema.c, its source and its consumer. */
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
	EVENT_CUPTI_CALL = 33,	/* CUPTI's record of a call that no probe sees: as CALL, without
				 * number and not in the order of its thread */
	EVENT_NODE = 34,	/* a node was added to a graph of process pid at start_ns, by the
				 * call that thread tid was in */
	EVENT_NOTE = 35,	/* a message to the user, about process pid or (0) the session */
	EVENT_SCHED = 36,	/* procfs's account of thread tid in [start_ns, end_ns), after its
				 * calls of that time; instead of OFF */
	EVENT_OP = 37,		/* a framework's operator ran in thread tid in [start_ns, end_ns).
				 * Without HAS_END its return was not seen: it was over by then */
	EVENT_ASKS = 38,	/* PyTorch's workers work for thread tid from start_ns on; with
				 * HAS_END: until end_ns */
	EVENT_KIND_END
};

const char *event_kind_name(unsigned int kind);		/* "call", ..., "?" */

/* Kinds with the payload `call`, in the order of their thread. */
static inline bool event_is_call(unsigned int kind)
{
	return (kind >= EVENT_CALL && kind <= EVENT_OPEN) ||
	       (kind >= EVENT_INSIDE && kind <= EVENT_GONE);
}

/* Kinds whose func names a function; in all others it is 0. */
static inline bool event_has_func(unsigned int kind)
{
	return event_is_call(kind) || kind == EVENT_CUPTI_CALL;
}

/* Of a matrix product (CLASS_LIBRARY): grid = m, n, k; block = number of products, 1, 1. */
struct launch_shape {
	uint32_t grid[3];
	uint32_t block[3];
	uint64_t shared_bytes;	/* dynamic shared memory */
};

/* CALL, ENTER, OPEN, INSIDE, LEFT, GONE, CUPTI_CALL. */
struct event_call {
	int32_t result;		/* the API's own code */
	uint8_t dir;		/* enum copy_dir */
	uint8_t late_why;	/* enum off_reason: OFF_RUNQUEUE, or OFF_STOPPED. INSIDE: the
				 * thread is stopped at end_ns */
	uint16_t pad;
	uint64_t bytes;
	uint64_t stream;	/* handle */
	/* The launched function (host stub, cudaKernel_t, CUfunction, graph exec), the memory
	 * pool of an allocation, a communicator, an event, the graph that another is made of,
	 * the graph that is ended or updated. */
	uint64_t entity;
	uint64_t stack;		/* id; 0: none was taken */
	uint64_t op;		/* the operator that it was made in, as in struct event_op; 0:
				 * none, or unknown */
	uint64_t module;	/* the same of PyTorch's modules */
	struct launch_shape shape;
	/* Of the memory that it allocated or freed, of a graph that it made or updates a graph
	 * with; 0: unknown. */
	uint64_t address;
	uint64_t blocked_ns;	/* off the CPU, until the call's end */
	/* Of blocked_ns: the last time that it was runnable without a CPU, if that took
	 * GP_LATE_MIN_NS, or, see late_why, the longest stop; 0: unknown. */
	uint64_t late_ns;
	uint64_t after_late_ns;	/* from the end of late_ns to the call's */
};

/* THREAD, EXIT, FORK, PROCESS. */
struct event_task {
	uint64_t process_ns;	/* birth of the process, exactly; 0: unknown, or known from start_ns
				 * only, to 10 ms */
	uint64_t own_tid;	/* THREAD: its number in its own pid namespace; 0: unknown */
	const char *comm;
	const char *cmdline;	/* PROCESS */
};

/* FACT, IDENTITY. */
struct event_fact {
	const char *key;
	const char *value;
};

/* COUNT: hits = received + lost. */
struct event_count {
	const char *source;
	const char *kind;
	uint64_t hits;
	uint64_t received;
	uint64_t lost;
};

/* Frames are numbered from 1, and a frame comes after its caller. */
struct event_frame {
	uint64_t number;
	uint64_t caller;	/* number; 0: it is the outermost */
	uint64_t offset;	/* of the instruction in the file; without one: its address */
	const char *function;	/* NULL: no symbol covers it */
	const char *file;	/* build id ("-": unknown), a blank, path */
	uint8_t flags;		/* FRAME_* */
};

#define STACKS_FRAMES_MAX (1u << 18)	/* of a session; frames over it are not sent */
#define STACKS_MAX (1u << 16)

struct event_stack {
	uint64_t id;
	uint64_t frame;		/* number of the innermost; 0: nothing is known */
	uint8_t known;		/* enum stack_known */
};

/* Without padding and, but for the name, without pointers: equal ones compare equal. */
struct work {
	uint8_t kind;			/* enum work_kind */
	uint8_t has;			/* WORK_HAS_* */
	uint8_t dir;			/* enum copy_dir */
	uint8_t memory;			/* enum work_memory */
	uint16_t registers;		/* per thread */
	uint8_t launch_type;		/* 0 regular, else cooperative */
	uint8_t pad;
	uint32_t device;		/* the process's own ordinal */
	uint32_t context, stream;
	uint32_t correlation;		/* of the launch's EVENT_API */
	uint32_t graph;
	uint32_t max_active_clusters;
	uint64_t graph_node;
	uint64_t bytes;			/* copies, sets */
	uint32_t peer_from, peer_to;	/* devices */
	uint32_t grid[3], block[3], cluster[3];
	uint32_t static_shared, dynamic_shared, shared_executed;	/* bytes */
	uint32_t local_per_thread;	/* bytes */
	uint32_t pad2;
	uint64_t error_ns;		/* start_ns and end_ns may be off by this much, together */
	const char *name;		/* the kernel's; NULL: unknown */
	uint64_t name_hash;		/* event_text_hash of it; 0: not computed yet */
};

#define DEVICE_UUID_LEN 40		/* "GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx" */

struct device_facts {
	uint32_t device;		/* the process's own ordinal */
	uint32_t cc_major, cc_minor;
	uint32_t multiprocessors;
	uint32_t warp_threads, threads_per_sm, blocks_per_sm, registers_per_sm;
	uint32_t shared_per_sm, shared_per_block, shared_reserved;	/* bytes */
	uint32_t pad;
	uint64_t memory_bytes;
	char uuid[DEVICE_UUID_LEN + 8];	/* 0s to the end */
};

struct event_device {
	const char *name;
	struct device_facts facts;
};

struct event_api {
	uint32_t cbid;		/* CUPTI's number of the function */
	uint32_t correlation;	/* of the works that it launched */
	int32_t result;
	uint8_t domain;		/* 4 driver, 5 runtime */
	uint8_t again;		/* repeated from before this capture (also of range, memory) */
};

struct event_range {
	const char *name;	/* NULL: it has none */
	const char *domain;	/* NULL: the default one */
	uint64_t id;		/* START, END */
	uint8_t what;		/* enum range_what */
	uint8_t again;
};

struct event_off {
	uint64_t woken_ns;	/* runnable for so long before end_ns: that is OFF_RUNQUEUE */
	uint64_t waker;		/* pid << 32 | tid; 0: unknown, or no thread */
	uint64_t blocked_ns;	/* off_is_in_call() */
	uint64_t stack;		/* id; 0: none was taken */
	const char *waker_name;	/* its comm, with a ? behind it if it may have been an interrupt;
				 * "interrupt"; NULL: unknown */
	const char *syscall;	/* its name, and behind a blank the kind of its file if known;
				 * NULL: it was in none */
	uint8_t reason;		/* enum off_reason */
};

struct event_unseen {
	uint64_t count;		/* 0: unknown */
	uint8_t why;		/* enum unseen_why */
	uint8_t of;		/* UNSEEN_OF_* */
};

struct event_memory {
	uint64_t address;
	uint64_t bytes;
	uint32_t device;	/* the process's own ordinal */
	uint8_t op;		/* enum memory_op */
	uint8_t kind;		/* enum memory_kind */
	uint8_t again;
};

struct device_sample {
	uint32_t has;			/* 1 << enum sample_field */
	uint32_t pad;
	uint64_t v[SAMPLE_FIELDS];	/* 0 where it is not there */
};

/* SAMPLE, USER and FAULT begin alike: the host's number of the device (event/device_number.h). */
struct event_sample {
	const char *uuid;
	const char *name;	/* NULL: unknown */
	uint32_t number;
	struct device_sample values;
};

struct event_user {
	const char *uuid;
	const char *name;
	uint32_t number;
	uint64_t bytes;		/* of the device's memory */
};

struct event_fault {
	const char *uuid;
	const char *name;
	uint32_t number;
	uint8_t what;		/* enum fault_what */
	uint64_t value;
};

struct event_note {
	const char *code;	/* base/note.h */
	const char *text;
	uint8_t severity;	/* enum note_severity */
};

/* The rest of the time it slept or was stopped. */
struct event_sched {
	uint64_t ran_ns;	/* on a CPU */
	uint64_t delayed_ns;	/* ready without one */
	uint8_t first, last;	/* its state when that began and ended: enum off_reason, where
				 * OFF_RUNQUEUE is ready or on a CPU */
};

/* Its name is the function of the frame of this number; of a module (FRAME_MODULE), the class,
 * and its callers are the modules around it. */
struct event_op {
	uint64_t id;		/* GP_OP_BACKWARD: PyTorch's backward, of the thread that asked */
	uint64_t inner_ns;	/* of its time, in operators inside it */
};

struct event_node {
	uint64_t id;		/* as works have it */
	uint64_t original;	/* the node that it is a clone of; 0: a call made it */
};

struct event {
	uint8_t kind;		/* enum event_kind */
	uint8_t has;		/* enum event_has, bits */
	uint16_t func;		/* index into the source's struct funcs; see event_has_func */
	/* Handle (event/registry.h) and pid, which is only shown; 0: it is of no process. Sources
	 * fill in pid alone. */
	uint32_t process;
	uint32_t pid;
	uint32_t tid;
	uint32_t seq;		/* 0: it takes no number of its thread */
	uint32_t pad;
	uint64_t start_ns;
	uint64_t end_ns;
	union {
		struct event_call call;
		struct event_task task;
		struct event_fact fact;
		struct event_count count;
		struct event_frame frame;
		struct event_stack stack;
		struct event_device device;
		struct work work;
		struct event_api api;
		struct event_range range;
		struct event_off off;
		struct event_unseen unseen;
		struct event_memory memory;
		struct event_sample sample;
		struct event_user user;
		struct event_fault fault;
		struct event_node node;
		struct event_note note;
		struct event_sched sched;
		struct event_op op;
	};
};

/* When a call was late (see late_why), within [*from_ns, *to_ns): false: not then, or unknown. */
static inline bool event_late(const struct event *ev, uint64_t *from_ns, uint64_t *to_ns)
{
	uint64_t end = ev->end_ns - ev->call.after_late_ns, start = end - ev->call.late_ns;

	if (!ev->call.late_ns || ev->call.after_late_ns > ev->end_ns || ev->call.late_ns > end ||
	    (ev->call.late_why != OFF_RUNQUEUE && ev->call.late_why != OFF_STOPPED))
		return false;
	*from_ns = num_max(*from_ns, start);
	*to_ns = num_min(*to_ns, end);
	return *from_ns < *to_ns;
}

/* Two texts of one hash are taken to be the same. */
uint64_t event_text_hash(const char *text);	/* NULL: 0 */

/* With texts of its own, to be given to free(). NULL: out of memory. */
struct event *event_clone(const struct event *ev);

/*
 * A consumer of events. push returns 0 or -errno, which ends the session (a full disk); the event
 * and its texts belong to the caller and die when push returns.
 */
struct event_sink {
	int (*push)(void *ctx, const struct event *ev);
	void *ctx;
};

#endif
