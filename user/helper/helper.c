// SPDX-License-Identifier: BSD-3-Clause
/*
 * The doors by which the helper enters a process: CUDA's driver calls InitializeInjection when it
 * starts (CUDA_INJECTION64_PATH), each library's copy of NVTX InitializeInjectionNvtx2 at its first
 * use (NVTX_INJECTION64_PATH), in any order. Whatever happens, the answer is 1: a target never fails
 * for us. Into a process that runs already gpuprof's thread comes by gpuprof_attach.
 *
 * A thread that is to be cancelled is not cancelled in here: our locks, and NVTX's word that it is being
 * made ready, would be held for ever.
 */
#include <pthread.h>

#include "helper/load.h"
#include "helper/watch.h"

#define EXPORTED __attribute__((visibility("default")))

EXPORTED int InitializeInjection(void);
EXPORTED int InitializeInjectionNvtx2(nvtx_export_fn export_table);
EXPORTED int gpuprof_attach(const struct gp_load *l);	/* 0: it is there */

static int stay(void)
{
	int before;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
	return before;
}

EXPORTED int InitializeInjection(void)
{
	int before = stay();

	if (watch_start())
		watch_cuda(CUDA_STARTS);
	pthread_setcancelstate(before, NULL);
	return 1;
}

EXPORTED int InitializeInjectionNvtx2(nvtx_export_fn export_table)
{
	int before = stay();

	if (watch_start())
		watch_nvtx(export_table);
	pthread_setcancelstate(before, NULL);
	return 1;
}

EXPORTED int gpuprof_attach(const struct gp_load *l)
{
	bool started = watch_start();

	if (started)
		watch_cuda(CUDA_RUNS);
	load_clean_up(l);
	return !started;
}
