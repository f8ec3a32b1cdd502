// SPDX-License-Identifier: BSD-3-Clause
/*
 * The doors by which the helper enters a process: CUDA's driver calls InitializeInjection when it
 * starts (CUDA_INJECTION64_PATH). Whatever happens, the answer is 1: a target never fails for us.
 */
#include <pthread.h>
#include <stdlib.h>

#include "helper/watch.h"

#define EXPORTED __attribute__((visibility("default")))

EXPORTED int InitializeInjection(void);

static void start(void)
{
	if (watch_start())
		atexit(watch_end);
}

EXPORTED int InitializeInjection(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, start);
	return 1;
}
