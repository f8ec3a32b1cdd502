/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The helper's life: virgin, arming, awake, drained, yielded, failed (design §5), and the one thread
 * that moves it from one to the next. It sleeps until a reader wakes it; while one watches it
 * flushes CUPTI, reads its clock, and looks whether the lease still holds.
 */
#ifndef HELPER_WATCH_H
#define HELPER_WATCH_H

#include <stdbool.h>

/* Once a process: makes the ring and starts the thread. Calls nothing of CUDA or CUPTI unless
 * GPUPROF_ARM=1 asks for it now: then it waits a second for its reader, and arms. False: this process has no helper (and is none the worse). */
bool watch_start(void);

/* The process exits: what CUPTI holds is handed on, within a second. */
void watch_end(void);

#endif
