/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions that calls can name, and the classes that they are of. Pure data: part of the event
 * model, which all rooms speak of.
 */
#ifndef CATALOG_FUNC_H
#define CATALOG_FUNC_H

#include <stddef.h>
#include <stdint.h>

/* Classes of calls (design §4), which are also the names of the thread book's buckets. They leave
 * the process in captures: append only. */
enum call_class {
	CLASS_OTHER = 0,	/* thread book: time in no call at all */
	CLASS_LAUNCH = 1,
	CLASS_SYNC = 2,
	CLASS_COPY = 3,
	CLASS_SET = 4,
	CLASS_ALLOC = 5,
	CLASS_FREE = 6,
	CLASS_EVENT = 7,
	CLASS_STREAM = 8,
	CLASS_GRAPH = 9,
	CLASS_COMPILE = 10,
	CLASS_COLLECTIVE = 11,
	CLASS_INIT = 12,	/* contexts, devices: made, set up, ended */
	CLASS_LIBRARY = 13,	/* a routine of cublas, cudnn ...; it launches inside */
	CLASS_QUERY = 14,	/* asks or sets an attribute, does no work */
	CLASS_END
};

const char *class_name(unsigned int class);	/* "launch", ..., "?" */

/*
 * A function that calls can name. Live sources fill the table from the catalogue (index = row); a
 * capture brings its own, so that a report needs no catalogue of the same version.
 */
struct func {
	const char *name;	/* "cudaLaunchKernel" */
	const char *library;	/* "cudart", "cuda", "nccl": also selects the names of results */
	uint8_t class;		/* enum call_class */
	uint8_t two;		/* sends EVENT_ENTER before EVENT_CALL, with its own seq */
};

#define FUNCS_MAX 4096

struct funcs {
	size_t n;
	struct func v[FUNCS_MAX];
};

#endif
