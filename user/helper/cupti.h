/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions of the libcupti that this process uses, found at run time: the helper links to
 * none, since every CUDA version brings its own and two in one process do not see each other's
 * buffers.
 */
#ifndef HELPER_CUPTI_H
#define HELPER_CUPTI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "helper/records.h"

#define CUPTI_OK 0
/* MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED: another client has subscribed */
#define CUPTI_BUSY 39
/* Another client uses the _v2 functions, which do not mix with ours. */
#define CUPTI_NOT_COMPATIBLE 14
#define CUPTI_NOT_INITIALIZED 15
#define CUPTI_UNKNOWN 999	/* from 13.3 on also of functions called before it is initialised */
#define CUPTI_DOMAIN_DRIVER 1	/* of callbacks */
#define CUPTI_DOMAIN_RUNTIME 2
#define CUPTI_DOMAIN_RESOURCE 3	/* the numbers of two of them: */
#define CUPTI_NODE_CREATED 13
#define CUPTI_NODE_CLONED 20
#define CUPTI_FLUSH_FORCED 1
/* attributes: */
#define CUPTI_DEVICE_BUFFER_BYTES 0
#define CUPTI_PER_THREAD_BUFFER 9	/* uint8_t; from 13.0 on it is 1 by default */
#define CUPTI_THREAD_ID_SYSTEM 1	/* API records name threads as gettid does */

/* Data of a callback of the resource domain and, for a graph, of the structure it points to. */
struct cupti_resource {
	void *context, *handle;
	const struct cupti_graph *graph;
};
struct cupti_graph {
	void *graph, *original_graph;
	void *node, *original;
};

typedef void (*cupti_callback_fn)(void *ctx, int domain, uint32_t cbid, const void *data);
typedef void (*cupti_request_fn)(uint8_t **buffer, size_t *bytes, size_t *max_records);
typedef void (*cupti_complete_fn)(void *context, uint32_t stream, uint8_t *buffer, size_t bytes,
				  size_t valid_bytes);

struct cupti {
	/* Without these nothing works. */
	int (*version)(uint32_t *version);
	int (*register_callbacks)(cupti_request_fn request, cupti_complete_fn complete);
	int (*enable)(uint32_t kind);
	int (*disable)(uint32_t kind);
	int (*flush_all)(uint32_t flag);
	record_next_fn next;
	int (*dropped)(void *context, uint32_t stream, size_t *records);
	int (*timestamp)(uint64_t *ns);
	/* NULL: the version has none. */
	int (*result_string)(int result, const char **text);
	int (*set_thread_id_type)(int type);
	int (*subscribe)(void **subscriber, cupti_callback_fn callback, void *ctx);
	int (*unsubscribe)(void *subscriber);
	int (*enable_callback)(uint32_t enable, void *subscriber, int domain, uint32_t cbid);
	/* as records have it; may be called in a callback */
	int (*node_id)(void *node, uint64_t *id);
	int (*enable_runtime_api)(uint32_t cbid, uint8_t enable);	/* 12.5: single functions */
	int (*enable_driver_api)(uint32_t cbid, uint8_t enable);
	int (*callback_name)(int domain, uint32_t cbid, const char **name);
	int (*enable_and_dump)(uint32_t kind);
	/* 13.2: of all clients (subscriber NULL); bytes: in of kinds. 13.2 itself reads through a
	 * null pointer in it until CUPTI is initialised, and again after cuptiFinalize. */
	int (*enabled_kinds)(void *subscriber, uint32_t *kinds, uint32_t *bytes, uint32_t *n);
	int (*get_attribute)(uint32_t attribute, size_t *bytes, void *value);
	int (*set_attribute)(uint32_t attribute, size_t *bytes, void *value);
	bool overflows;		/* 13.2: where it cannot initialise, any call ends the process */
	bool was_mapped;	/* before us: another client may come to use it */
	char path[256];		/* of the library, cut if need be */
};

/* The one that is mapped already (of several the one for the process's CUDA), else GPUPROF_CUPTI,
 * else beside the CUDA runtime that is mapped, else by its usual names. NULL, or why there is
 * none. */
const char *cupti_load(struct cupti *c);

/* UP: the driver is initialised, has a device, is not older than CUDA `cuda` (13000: 13.0), and has
 * what CUPTI 13.2 cannot begin without. STARTING: it is not initialised yet, or could not be. */
enum cupti_driver { CUPTI_DRIVER_UP, CUPTI_DRIVER_STARTING, CUPTI_DRIVER_UNFIT };
enum cupti_driver cupti_driver(int cuda);

/* After a failure with that code. version: cuptiGetVersion's, 0: it failed; path of the library.
 * Writes "libcupti 13.0 is newer than the driver's CUDA 12.4" (GP_REASON_TOO_NEW). False: it is
 * not, that is unknown, or the code has another reason: of one major CUDA any CUPTI may work. */
bool cupti_describe_mismatch(char *out, size_t size, int code, uint32_t version,
			     const char *path);

#endif
