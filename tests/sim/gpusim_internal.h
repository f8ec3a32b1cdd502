/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the files of libgpusim share: the one world, its lock, its pools of handles. Handles are
 * addresses of pool slots, so that any word an application passes can be checked without following
 * it. The lock is held for arithmetic only, never while sleeping.
 */
#ifndef GPUSIM_INTERNAL_H
#define GPUSIM_INTERNAL_H

#include <pthread.h>

#include "gpusim.h"
#include "gpusim_time.h"

enum gpusim_engine { ENGINE_NONE, ENGINE_HTOD, ENGINE_DTOH, ENGINES };

struct gpusim_config {
	uint64_t seed;
	int devices;
	int physical[GPUSIM_MAX_DEVICES]; /* of each device that is visible, the host's number */
	int instance; /* of MIG, from 1: the one device is this part of it; 0: it is all of it */
	uint64_t memory_bytes;
	uint64_t copy_gbps, pageable_gbps;
	uint64_t hang_kernel, vanish_kernel, scar_kernel;
	uint64_t speed;
	bool spin; /* who waits stays on its CPU */
	bool backed; /* there are bytes behind device memory */
	bool turns; /* processes have a device one after the other */
};

struct gpusim_device {
	uint64_t memory_used;
	struct gpusim_time engine_busy_until[ENGINES];
	struct gpusim_context *primary;
	bool vanished;
};

/* Every slot of a pool begins with this. */
struct gpusim_slot {
	bool alive;
};

struct gpusim_pool {
	void *slots;
	size_t slot_size;
	size_t count;
	size_t next; /* where the search for a free slot begins */
	size_t used; /* slots that ever were alive are below this */
};

#define GPUSIM_POOL(array)                                                                      \
	{                                                                                       \
		.slots = (array), .slot_size = sizeof((array)[0]), .count = GPUSIM_COUNT(array) \
	}
#define GPUSIM_COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct gpusim_context {
	struct gpusim_slot slot;
	int device;
	uint32_t streams_made;
	struct gpusim_time busy_until; /* the latest end of any work */
	struct gpusim_time
		blocking_busy_until; /* the same of the streams that wait for the legacy one */
	struct gpusim_stream *legacy;
};

struct gpusim_stream {
	struct gpusim_slot slot;
	struct gpusim_context *context;
	uint32_t id; /* within the context; 0 is the legacy stream */
	bool non_blocking;
	int priority;
	bool hung;
	struct gpusim_time busy_until;
	uint64_t works;
	struct gpusim_graph *capture; /* NULL: not capturing */
	bool joined; /* it captures since it waited for an event of a stream that does */
};

struct gpusim_world {
	pthread_mutex_t lock;
	struct gpusim_config config;
	struct gpusim_device devices[GPUSIM_MAX_DEVICES];
	uint64_t kernels;
};

extern struct gpusim_world gpusim_world;

void gpusim_config_read(struct gpusim_config *config);

/* With the lock held. A slot that is taken is zeroed but for its head; NULL when all are. */
void *gpusim_pool_take(struct gpusim_pool *pool);
bool gpusim_pool_has(const struct gpusim_pool *pool, const void *slot);
void gpusim_pool_give(void *slot);

void gpusim_scar(void);

void gpusim_lock(void);
void gpusim_unlock(void);
void gpusim_sleep_until(uint64_t time_ns);

/* With the lock held: the stream that a handle means in the current context, or NULL. */
struct gpusim_stream *gpusim_stream_find(struct gpusim_stream *handle);
struct gpusim_stream *gpusim_stream_new(struct gpusim_context *context, unsigned int flags);
void gpusim_submit_locked(struct gpusim_stream *stream, struct gpusim_work *work, uint64_t now_ns);
/* When work given now can begin, and what is so once it is to end then. */
struct gpusim_time gpusim_stream_begin(const struct gpusim_stream *stream, uint64_t now_ns);
void gpusim_stream_occupy(struct gpusim_stream *stream, struct gpusim_time end);
/* Whether gate begins at least plus_ns after the end of other. */
bool gpusim_gate_waits_for(const struct gpusim_gate *gate, const struct gpusim_gate *other,
			   uint64_t plus_ns);
/* What a copy or set does to memory, if there are bytes behind that. */
void gpusim_memory_carry_out(const struct gpusim_work *work);
void gpusim_captures_leave(const struct gpusim_graph *graph); /* all streams that capture into it */
bool gpusim_graph_captures(const struct gpusim_graph *graph, uint64_t capture);
uint64_t gpusim_graph_capture(const struct gpusim_graph *graph);
int gpusim_graph_append(struct gpusim_graph *graph, const struct gpusim_work *work);
uint64_t gpusim_work_duration(const struct gpusim_stream *stream, const struct gpusim_work *work);

static inline uint64_t gpusim_max(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static inline uint64_t gpusim_later(uint64_t time_ns, uint64_t ns)
{
	return time_ns > GPUSIM_FOREVER - ns ? GPUSIM_FOREVER : time_ns + ns;
}

#endif
