/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the experiments of gpu_facts share: the functions of the driver and of CUPTI, found by dlsym;
 * answers; three clients of CUPTI's activity API that remember every record. An experiment is a process
 * of its own, so all of it is the process's.
 */
#ifndef GPU_FACTS_H
#define GPU_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "helper/records.h"

enum { FACTS_SKIP = 77 };	/* exit status of an experiment that lacks something here */

/* ---- the driver and CUPTI (facts_api.c) --------------------------------------------------------- */

struct facts_driver {		/* NULL: this driver has no such function */
	int (*init)(unsigned int flags);
	int (*version)(int *version);
	int (*device_count)(int *count);
	int (*device_get)(int *device, int ordinal);
	int (*retain_context)(void **context, int device);
	int (*set_context)(void *context);
	int (*synchronize)(void);
	int (*launch)(void *function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,
		      unsigned int block_x, unsigned int block_y, unsigned int block_z,
		      unsigned int shared_bytes, void *stream, void **arguments, void **extra);
	int (*load_module)(void **module, const void *image);
	int (*get_function)(void **function, void *module, const char *name);
	int (*create_stream)(void **stream, unsigned int flags);
	int (*sync_stream)(void *stream);
	int (*begin_capture)(void *stream, int mode);
	int (*end_capture)(void *stream, void **graph);
	int (*instantiate)(void **exec, void *graph, unsigned long long flags);
	int (*launch_graph)(void *exec, void *stream);
	int (*proc_address)(const char *name, void **at, int version, uint64_t flags, int *status);
	int (*memory_info)(size_t *free_bytes, size_t *total_bytes);
	int (*alloc)(uint64_t *address, size_t bytes);
	int (*free)(uint64_t address);
	int (*alloc_host)(void **address, size_t bytes, unsigned int flags);
	int (*alloc_managed)(uint64_t *address, size_t bytes, unsigned int flags);
	int (*alloc_async)(uint64_t *address, size_t bytes, void *stream);
	int (*free_async)(uint64_t address, void *stream);
	int (*copy_to_device)(uint64_t to, const void *from, size_t bytes);
	int (*set_bytes)(uint64_t to, unsigned char value, size_t bytes);
	int (*granularity)(size_t *bytes, const void *properties, int option);
	int (*create_memory)(uint64_t *handle, size_t bytes, const void *properties, uint64_t flags);
	int (*reserve)(uint64_t *address, size_t bytes, size_t align, uint64_t at, uint64_t flags);
	int (*map)(uint64_t address, size_t bytes, size_t offset, uint64_t handle, uint64_t flags);
};

typedef void (*facts_request_fn)(uint8_t **buffer, size_t *bytes, size_t *max_records);
typedef void (*facts_complete_fn)(void *context, uint32_t stream, uint8_t *buffer, size_t bytes,
				  size_t valid_bytes);
typedef void (*facts_callback_fn)(void *ctx, int domain, uint32_t cbid, const void *data);

struct facts_cupti {		/* NULL: this version has no such function */
	int (*version)(uint32_t *version);
	int (*subscribe)(void **subscriber, facts_callback_fn callback, void *ctx);
	int (*unsubscribe)(void *subscriber);
	int (*register_callbacks)(facts_request_fn request, facts_complete_fn complete);
	int (*enable)(uint32_t kind);
	int (*enable_and_dump)(uint32_t kind);
	int (*disable)(uint32_t kind);
	int (*flush)(uint32_t flag);
	int (*next)(uint8_t *buffer, size_t valid_bytes, void **record);
	int (*dropped)(void *context, uint32_t stream, size_t *records);
	int (*timestamp)(uint64_t *ns);
	int (*thread_id_type)(int type);
	int (*enable_runtime)(uint32_t cbid, uint8_t enable);	/* one function */
	int (*enable_driver)(uint32_t cbid, uint8_t enable);
	int (*set_attribute)(int attribute, size_t *bytes, void *value);
	int (*register_clock)(uint64_t (*ticks)(void));
	int (*enabled_kinds)(void *subscriber, uint32_t *kinds, uint32_t *bytes, uint32_t *count);
	int (*struct_size)(uint32_t kind, uint32_t version, size_t *bytes);
};

extern struct facts_driver facts_cu;
extern struct facts_cupti facts_cupti;
extern void *facts_libcuda;

/* GPUPROF_CUPTI, else by its name. False: answered why not. */
bool facts_open_cupti(void);
/* cuInit alone, or the first device's primary context and the kernels, too. False: answered why not. */
bool facts_open_driver(bool with_context);
bool facts_find_driver(void);	/* only the functions, of a driver that is loaded */
void facts_use_context(void);	/* in another thread */

void facts_nop(void *stream);			/* launches an empty kernel */
void facts_spin(void *stream, uint64_t ns);	/* one that runs so long */
void *facts_graph(unsigned int kernels, void *stream);	/* an executable graph of empty kernels */

/* ---- answers ------------------------------------------------------------------------------------ */

/* "key: value", at once: a crash later must not take it along. */
void facts_answer(const char *key, const char *format, ...) __attribute__((format(printf, 2, 3)));
void facts_answer_step(const char *what, int code, uint64_t began_ns);

/* A call of CUPTI or of the driver: answers its result and how long it took. */
#define FACTS_STEP(what, call) \
	({ \
		uint64_t began_ns_ = facts_now_ns(); \
		int code_ = (call); \
		facts_answer_step(what, code_, began_ns_); \
		code_; \
	})

/* False, and answered, if that function is missing. */
bool facts_has(const void *function, const char *name);

uint64_t facts_now_ns(void);		/* CLOCK_MONOTONIC */
uint64_t facts_realtime_ns(void);
void facts_sleep_ms(unsigned int ms);
int facts_compare(const void *a, const void *b);	/* of uint64_t, for qsort */

/* ---- clients of CUPTI (facts_records.c) ------------------------------------------------------------ */

enum { FACTS_A, FACTS_B, FACTS_CLIENTS };

struct facts_record {
	uint32_t kind, bytes;	/* bytes: to the next one */
	int client;		/* whose callback got it */
	char name[16];		/* of a kernel, cut */
	union record is;
};

extern struct facts_record *facts_records;
extern size_t facts_n;		/* of them */

int facts_register(int client);	/* its callbacks */
void facts_keep(bool keep);	/* else records are only counted */
void facts_forget(void);	/* all records and counts so far */
size_t facts_count(uint32_t kind);
void facts_settle(bool forced);	/* synchronize, flush, flush again (forced or not) */
void facts_answer_buffers(const char *when);	/* each client's buffers and records */
unsigned int facts_threads(void);	/* that ran callbacks */

/* Functions of API records; kind: CUPTI_DRIVER or CUPTI_RUNTIME. */
const char *facts_function(uint32_t kind, uint32_t cbid);	/* "?": no known one */
uint32_t facts_cbid(uint32_t kind, const char *name);		/* 0: no known one */

/* ---- how the helper arms (facts_arm.c) --------------------------------------------------------------- */

void facts_answer_clock(const char *key);	/* cuptiGetTimestamp beside CLOCK_REALTIME */
void facts_answer_sizes(void);			/* strides on an invented buffer, as the helper measures */
void facts_answer_kinds(const char *when);	/* cuptiActivityGetEnabledKinds */
unsigned int facts_enable_functions(void);	/* every single one; how many there are */
void facts_arm(void);				/* all of it in the helper's order */
bool facts_subscribe(const char *when);		/* and unsubscribe: was it free? */

/* ---- the experiments ----------------------------------------------------------------------------------- */

/* facts_sessions.c */
void facts_occupied(void);
void facts_takeover(void);
void facts_inflight(void);
void facts_withhold(void);
void facts_many_threads(void);
void facts_graphs(void);
/* facts_costs.c */
void facts_clock(void);
void facts_ticks(void);
void facts_arming(void);
void facts_cost(void);
void facts_device(void);
/* facts_calls.c */
void facts_address(void);
void facts_census(void);
void facts_nested(void);
void facts_memory(void);

#endif
