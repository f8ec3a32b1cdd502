/* SPDX-License-Identifier: BSD-3-Clause */
/* Names for the frames of a process: functions, modules, build ids, calls. Private to the room. */
#ifndef STACK_SYMBOLIZE_H
#define STACK_SYMBOLIZE_H

#include "base/str.h"
#include "stack/maps.h"
#include "stack/snapshot.h"

/*
 * Completes all frames of n threads of pid, whose address, signal and `exact` are known: opens each
 * file that has a frame once, the vdso from memory. A file that cannot be opened or read leaves its
 * frames without functions. 0 or -ENOMEM.
 */
struct naming {
	pid_t pid;
	const struct stack_modules *modules;
	struct stack_memory *memory;
	struct strpool *names;
	struct stack_thread *threads;
	size_t n;
	unsigned int tier;	/* calls of rows above it are none */
	bool only_calls;	/* find calls, name nothing */
};
int naming_run(struct naming *nm);

#endif
