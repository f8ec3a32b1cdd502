/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The simulated GPU: the contract of libgpusim.so.
 *
 * A device here is arithmetic on CLOCK_MONOTONIC: every stream keeps the time until which it is
 * busy, a submit pushes that time forward, a synchronise sleeps until it. Nothing is computed, and
 * bytes are copied and set only with GPUSIM_BACKED=1, when a submit does it. All functions are thread-safe; results are CUDA's numbers (runtime and driver
 * agree on them), handles are checked before use. Times are nanoseconds of CLOCK_MONOTONIC, sizes
 * bytes.
 *
 * Environment: GPUSIM_SEED, GPUSIM_DEVICES (1; of those, CUDA_VISIBLE_DEVICES, which may also be the
 * UUID of a MIG instance, gpusim_board.h), GPUSIM_MEMORY_BYTES (16 GiB), GPUSIM_COPY_GBPS (25;
 * host<->device), GPUSIM_PAGEABLE_GBPS (6; of pageable memory), GPUSIM_SPEED (1; works
 * take 1/N of their time),
 * GPUSIM_BACKED=1 (there are bytes behind device memory), GPUSIM_HANG=N (the N-th kernel of the process never ends), GPUSIM_VANISH=N (with the N-th its device
 * is gone: nothing on it works any more), GPUSIM_SCAR=N (with the N-th a byte of the driver's code is
 * another from then on), GPUSIM_SPIN=1 (who waits for the device stays on its CPU),
 * GPUSIM_TRUTH=FILE, GPUSIM_LOG=FILE (gpusim_log.h), GPUSIM_BOARD=DIRECTORY (gpusim_board.h),
 * GPUSIM_TURNS=1 (with it: processes have a device one after the other, gpusim_turns.c),
 * GPUSIM_QUIET=1, and for the driver shim GPUSIM_PROCADDR=export|private and
 * GPUSIM_DRIVER=13000 (CUDA's version that it says it has). For collectives see
 * libnccl.h, for what NVML says libnvml.h.
 */
#ifndef GPUSIM_H
#define GPUSIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#define GPUSIM_FOREVER UINT64_MAX
#define GPUSIM_MAX_DEVICES 16
#define GPUSIM_STAGED_BYTES 65536 /* so much pageable memory is copied to the device at leisure */

enum gpusim_result {
	GPUSIM_OK = 0,
	GPUSIM_INVALID_VALUE = 1,
	GPUSIM_OUT_OF_MEMORY = 2,
	GPUSIM_NOT_INITIALIZED = 3,
	GPUSIM_INVALID_CONFIGURATION = 9,
	GPUSIM_INVALID_MEMCPY_DIRECTION = 21,
	GPUSIM_INSUFFICIENT_DRIVER = 35,
	GPUSIM_INVALID_DEVICE_FUNCTION = 98,
	GPUSIM_NO_DEVICE = 100,
	GPUSIM_INVALID_DEVICE = 101,
	GPUSIM_INVALID_CONTEXT = 201,
	GPUSIM_INVALID_HANDLE = 400,
	GPUSIM_ILLEGAL_STATE = 401,
	GPUSIM_NOT_FOUND = 500,
	GPUSIM_NOT_READY = 600,
	GPUSIM_NOT_SUPPORTED = 801,
	GPUSIM_CAPTURE_UNSUPPORTED = 900,
	GPUSIM_UNKNOWN = 999,
};

enum gpusim_work_kind {
	GPUSIM_KERNEL = 1,
	GPUSIM_COPY_HTOD,
	GPUSIM_COPY_DTOH,
	GPUSIM_COPY_DTOD,
	GPUSIM_SET,
	GPUSIM_WORK_KINDS,
};

enum { GPUSIM_STREAM_NON_BLOCKING = 1 }; /* flag of gpusim_stream_create */

struct gpusim_context;
struct gpusim_stream;
struct gpusim_event;
struct gpusim_graph;
struct gpusim_graph_exec;

struct gpusim_shape {
	uint32_t grid[3];
	uint32_t block[3];
};

/* One thing for the device to do. The caller fills all but the times; gpusim_submit fills those. */
struct gpusim_work {
	enum gpusim_work_kind kind;
	const void *entity; /* kernels: the function */
	struct gpusim_shape shape; /* kernels */
	uint64_t bytes; /* copies and sets */
	bool pageable; /* copies: the host's memory is not page-locked */
	uint64_t to, from; /* copies and sets: addresses; 0: nothing is moved */
	uint32_t value, value_bytes; /* sets: 1 or 4 bytes that are repeated */
	uint64_t start_ns, end_ns; /* 0, 0 when it was captured into a graph, or pending */
	bool pending; /* behind a collective whose end is not known yet */
};

/* Stream handles that stand for the two default streams, as in CUDA; NULL is the legacy one. */
#define GPUSIM_STREAM_LEGACY ((struct gpusim_stream *)1)
#define GPUSIM_STREAM_PER_THREAD ((struct gpusim_stream *)2)

/* The first call starts the device; a child forked after that gets NOT_INITIALIZED. */
int gpusim_init(void);
void gpusim_driver_is_up(void); /* cuInit has loaded the injected library, which had returned */
bool gpusim_is_up(void);
void gpusim_scar_place(void (*code)(void)); /* the driver's cuInit, where GPUSIM_SCAR works */
uint64_t gpusim_seed(void);

static inline uint64_t gpusim_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* NULL for a result that the simulation never gives. */
const char *gpusim_error_name(int result, bool runtime);
const char *gpusim_error_text(int result);
const char *gpusim_nccl_error_name(int result); /* of ncclResult_t */

int gpusim_device_count(void);
int gpusim_device_name(int device, char *name, size_t size);
int gpusim_device_uuid(int device, unsigned char uuid[16]);
bool gpusim_device_is_instance(int device); /* of MIG */
int gpusim_device_memory(int device, uint64_t *free_bytes, uint64_t *total_bytes);

/* Both make or find a context; create makes it current too, a primary one is never freed. */
int gpusim_context_create(int device, struct gpusim_context **out);
int gpusim_context_destroy(struct gpusim_context *context);
int gpusim_context_primary(int device, struct gpusim_context **out);
bool gpusim_context_is_primary_made(int device);
int gpusim_context_set_current(struct gpusim_context *context); /* this thread; NULL: none */
struct gpusim_context *gpusim_context_current(void);
int gpusim_context_device(struct gpusim_context *context);

/* From here on: in the current context; INVALID_CONTEXT without one. */
int gpusim_context_sync(void);

int gpusim_stream_create(unsigned int flags, struct gpusim_stream **out);
int gpusim_stream_destroy(struct gpusim_stream *handle);
/* Kept and answered, of no effect: GPUSIM_PRIORITY_GREATEST..0. */
enum { GPUSIM_PRIORITY_GREATEST = -5 };
int gpusim_stream_set_priority(struct gpusim_stream *handle, int priority);
int gpusim_stream_priority(struct gpusim_stream *handle, int *priority);
int gpusim_stream_sync(struct gpusim_stream *handle);
int gpusim_stream_query(struct gpusim_stream *handle);
int gpusim_stream_wait_event(struct gpusim_stream *handle, struct gpusim_event *event);
int gpusim_stream_hang(struct gpusim_stream *handle); /* its work never ends from now on */

int gpusim_submit(struct gpusim_stream *handle, struct gpusim_work *work);
int gpusim_wait(struct gpusim_stream *handle, const struct gpusim_work *work); /* until its end */
/* Exact, instead of the rule; GPUSIM_FOREVER hangs. */
void gpusim_kernel_duration(const void *entity, uint64_t ns);
uint64_t gpusim_copy_duration(enum gpusim_work_kind kind, uint64_t bytes);

int gpusim_event_create(struct gpusim_event **out);
int gpusim_event_destroy(struct gpusim_event *event);
int gpusim_event_record(struct gpusim_event *event, struct gpusim_stream *handle);
int gpusim_event_query(struct gpusim_event *event);
int gpusim_event_sync(struct gpusim_event *event);
int gpusim_event_elapsed(float *milliseconds, struct gpusim_event *from, struct gpusim_event *to);

enum gpusim_memory { GPUSIM_DEVICE_MEMORY, GPUSIM_POOL_MEMORY, GPUSIM_PINNED_MEMORY, GPUSIM_MEMORY_KINDS };

int gpusim_memory_alloc(uint64_t bytes, uint64_t *address);
int gpusim_pool_alloc(uint64_t bytes, uint64_t *address); /* in a stream's order, as is reported */
int gpusim_memory_free(uint64_t address);
/* Addresses without memory, and memory without addresses, of the current device: as they are put
 * together is not looked at, and nothing is reported, as CUPTI does not. */
int gpusim_range_reserve(uint64_t bytes, uint64_t *address);
int gpusim_range_free(uint64_t address);
struct gpusim_physical;
int gpusim_physical_alloc(uint64_t bytes, struct gpusim_physical **out);
int gpusim_physical_free(struct gpusim_physical *memory);
bool gpusim_memory_is_device(uint64_t address);
int gpusim_host_alloc(uint64_t bytes, void **out); /* page-locked host memory */
int gpusim_host_free(void *memory);
int gpusim_host_register(void *memory, uint64_t bytes); /* page-locks the caller's memory */
int gpusim_host_unregister(void *memory);
bool gpusim_host_is_pinned(uint64_t address); /* within page-locked memory */

struct gpusim_allocation {
	uint64_t address, bytes;
	enum gpusim_memory kind;
	int device;
};

/* The allocation that an address lies in; false: in none. */
bool gpusim_memory_find(uint64_t address, struct gpusim_allocation *out);

/* fn is called, on another thread, when the stream has come so far. */
int gpusim_host_call(struct gpusim_stream *handle, void (*fn)(void *data), void *data);

int gpusim_capture_begin(struct gpusim_stream *handle);
int gpusim_capture_end(struct gpusim_stream *handle, struct gpusim_graph **out);
/* id: of this capture, never twice; 0: the stream does not capture. */
int gpusim_capture_query(struct gpusim_stream *handle, uint64_t *id, struct gpusim_graph **graph);
int gpusim_graph_nodes(struct gpusim_graph *graph, size_t *count);
int gpusim_graph_destroy(struct gpusim_graph *graph);
/* The exec is a copy; the graph may go. */
int gpusim_graph_instantiate(struct gpusim_graph *graph, struct gpusim_graph_exec **out);
int gpusim_graph_exec_destroy(struct gpusim_graph_exec *exec);
int gpusim_graph_launch(struct gpusim_graph_exec *exec, struct gpusim_stream *handle);

#endif
