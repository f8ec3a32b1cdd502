/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The simulated NVML, loaded, with four devices and a board, for the tests of it; and processes of
 * the simulation, which follow orders of single letters. The process of the test is none of
 * those.
 */
#ifndef NVML_ROOM_H
#define NVML_ROOM_H

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../sim/nvml_api.h"
#include "lib/cmocka.h"

#define LIBRARY "$ORIGIN/../sim/nvml/libnvidia-ml.so.1"
#define NVML(function) ((__typeof__(&function))find(#function))
#define OK(call) assert_int_equal(call, NVML_OK)

static void *library;
static char board[] = "/tmp/gpusim-board-XXXXXX";

static inline void *find(const char *name)
{
	void *function = dlsym(library, name);

	assert_non_null(function);
	return function;
}

static inline void order(const char *facts)
{
	setenv("GPUSIM_NVML", facts, 1);
}

static inline struct nvml_device *device_of(unsigned int index)
{
	struct nvml_device *device = NULL;

	OK(NVML(nvmlDeviceGetHandleByIndex_v2)(index, &device));
	return device;
}

static int room_begin(void **state)
{
	(void)state;
	if (!mkdtemp(board))
		return -1;
	setenv("GPUSIM_BOARD", board, 1);
	setenv("GPUSIM_DEVICES", "4", 1);
	setenv("GPUSIM_QUIET", "1", 1);
	library = dlopen(LIBRARY, RTLD_NOW);
	if (!library) {
		print_error("%s\n", dlerror());
		return -1;
	}
	return NVML(nvmlInit_v2)();
}

static int room_end(void **state)
{
	char command[80];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", board);
	return system(command);
}

#endif
