/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The helper's life: virgin, arming, awake, drained, yielded, failed (design §5), and the one thread
 * that moves it from one to the next. It sleeps until a reader wakes it; while one watches it
 * flushes CUPTI, reads its clock, and looks whether the lease still holds.
 */
#ifndef HELPER_WATCH_H
#define HELPER_WATCH_H

#include <stdbool.h>

#include "helper/nvtx.h"

/* By whichever door the helper came in, once a process: makes the ring and starts the thread, and
 * with GPUPROF_ARM=1 waits a second for its reader, with its pid up to ten while that lives. Calls
 * nothing of CUDA or CUPTI. False: this process has no helper (and is none the worse). */
bool watch_start(void);

/* CUDA starts in this process, and calls us: with GPUPROF_ARM and a reader arms now. Or it has worked
 * already, nobody knows for how long. */
enum watch_when { CUDA_STARTS, CUDA_RUNS };
void watch_cuda(enum watch_when when);

/* Another library's copy of NVTX wants handlers. */
void watch_nvtx(nvtx_export_fn export_table);

/* The process exits: what CUPTI holds is handed on, within a second. */
void watch_end(void);

#endif
