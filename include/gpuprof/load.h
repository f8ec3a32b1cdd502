/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared by gpuprof and the thread that loads the helper into a running process, in memory that
 * gpuprof has mapped there. The thread runs gp_load_helper (user/helper/load.c) from a mapping
 * of the helper's file; it has addresses of the process's own C library, and needs nothing else.
 */
#ifndef GPUPROF_LOAD_H
#define GPUPROF_LOAD_H

#include <stdint.h>

#define GP_LOAD_ENTRY "gpuprof_load"	/* the thread's function, as a symbol of the helper */
#define GP_LOAD_DOOR "gpuprof_attach"	/* called when the helper is loaded */

/* gp_load.state */
#define GP_LOAD_WAITING 0
#define GP_LOAD_STARTED 1
#define GP_LOAD_FAILED 2	/* the helper could not be loaded: see `why` */
#define GP_LOAD_REFUSED 3	/* it was loaded, and cannot be in this process */
#define GP_LOAD_DONE 4

struct gp_load {
	/* Functions of the process, by address. */
	uint64_t dlopen, dlsym, dlerror, close, pthread_self, pthread_detach;
	uint64_t thread;	/* pthread_create's result */
	uint64_t area[2], area_bytes[2];	/* to be unmapped when the thread has ended */
	int32_t fd;		/* of the helper's file, closed when it is loaded */
	uint32_t state;
	char path[48];		/* of the file, for dlopen */
	char door[24];
	char why[192];		/* 0-terminated */
};

_Static_assert(sizeof(struct gp_load) == 7 * 8 + 32 + 8 + 48 + 24 + 192, "load");

#endif
