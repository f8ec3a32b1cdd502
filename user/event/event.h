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

#include "base/num.h"
#include "event/fields.h"
#include "catalog/func.h"
#include "event/kind.h"

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
	uint8_t late_why;	/* enum off_reason: OFF_RUNQUEUE, or OFF_STOPPED */
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
				 * the memory pool of an allocation, a communicator, an event, the
				 * graph that another is made of, the graph that is ended or updated */
	uint64_t address;	/* of what a call allocated or freed, of a graph that it made, of what it
				 * updates a graph with; 0: not known */
	uint64_t stack;		/* of a call or OFF: the id of its stack; 0: none was taken */
	uint64_t blocked_ns;	/* of a call, up to its end: it was off the CPU */
	uint64_t late_ns;	/* of that: the last time that it was ready, and no CPU was free, if that took
				 * GP_LATE_MIN_NS, or, see late_why, the longest that it was stopped;
				 * 0: not known */
	uint64_t after_late_ns;	/* from its end to the call's */
	struct launch_shape shape;
	const char *text;	/* valid during the call that delivers the event; NULL unknown */
	const char *text2;
	uint64_t text_hash;	/* of an EVENT_WORK's text: event_text_hash; 0: nobody has asked it yet */
	const struct work *work;	/* the same, of EVENT_WORK */
	const struct device_facts *device;	/* of EVENT_DEVICE */
	const struct device_sample *sample;	/* of EVENT_SAMPLE */
};

/* Of [*from_ns, *to_ns), when a call was late (see late_why): false: not then, or it is not known. */
static inline bool event_late(const struct event *ev, uint64_t *from_ns, uint64_t *to_ns)
{
	uint64_t end = ev->end_ns - ev->after_late_ns, start = end - ev->late_ns;

	if (!ev->late_ns || ev->after_late_ns > ev->end_ns || ev->late_ns > end)
		return false;
	*from_ns = num_max(*from_ns, start);
	*to_ns = num_min(*to_ns, end);
	return *from_ns < *to_ns;
}

/* Two texts of one hash are taken to be the same. */
uint64_t event_text_hash(const char *text);	/* NULL: 0 */

/*
 * A consumer of events. push returns 0 or -errno, which ends the session (a full disk); the event
 * and its texts belong to the caller and die when push returns.
 */
struct event_sink {
	int (*push)(void *ctx, const struct event *ev);
	void *ctx;
};

#endif
