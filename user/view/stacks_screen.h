/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the threads of some processes are, short: which ranks wait for which, then each stack once,
 * with the processes that are there. Sample:
 *
 *   This job hangs: rank 0 waits for rank 2 (pid 402), which is STOPPED by a signal or a debugger.
 *   Go on with: kill -CONT 402
 *
 *   rank 2 (pid 402), thread "ddp"
 *       STOPPED by a signal, inside of ncclAllReduce
 *       main > ncclAllReduce > 9 frames of libnccl.so.2, libgpusim.so
 *   rank 0 (pid 400), thread "ddp"
 *       asleep in clock_nanosleep, inside of cudaStreamSynchronize
 *       main > train > cudaStreamSynchronize > 4 frames of libcuda.so.1, libgpusim.so
 *
 *   rank 1 (pid 401), thread "python"
 *       asleep in clock_nanosleep, inside of cudaStreamSynchronize
 *       <module> (train.py:230) > step (train.py:212) > cudaStreamSynchronize > 4 frames of ...
 *
 *   8 threads of CUDA and gpuprof are not shown (--all-threads); --full: every frame
 */
#ifndef VIEW_STACKS_SCREEN_H
#define VIEW_STACKS_SCREEN_H

#include "stack/snapshot.h"

struct stacks_process {
	pid_t pid;
	int64_t rank;		/* below 0: none */
};

struct stacks_shape {
	bool all_threads;	/* those of CUDA and gpuprof, too */
	bool has_color;		/* the sentence of a hang and headings are bold */
};

/* Of each process that the snapshot has. 0 or -ENOMEM. */
int stacks_screen_add(struct strbuf *out, const struct stack_snapshot *s,
		      const struct stacks_process *processes, size_t n,
		      const struct stacks_shape *shape);

#endif
