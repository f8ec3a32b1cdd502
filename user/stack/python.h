/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The Python functions that a thread of another process is in, read from the memory of its CPython
 * while it runs on. Nothing there is trusted: what does not fit is unknown.
 *
 * CPython 3.8 to 3.12 by tables of offsets, 3.13 and 3.14 by the _Py_DebugOffsets at the beginning
 * of their _PyRuntime. Not free-threaded builds, whose objects and instructions are laid out
 * otherwise.
 * Private to the room.
 */
#ifndef STACK_PYTHON_H
#define STACK_PYTHON_H

#include "base/str.h"
#include "stack/maps.h"

struct python_frame {		/* strings are the pool's */
	const char *file;	/* as its code object has it, often an absolute path */
	const char *function;	/* "Trainer.step", "main.<locals>.<lambda>" */
	uint32_t line;		/* 0: it has none */
	bool is_entry;		/* native code entered the interpreter to call it */
};

struct python_stack {		/* start zeroed; VEC_FREE */
	/* Innermost first, at most 256; n 0: no Python thread, or unknown. */
	VEC(struct python_frame) frame;
};

struct python;

/* The interpreters of a process; modules and memory are the process's, and all must outlive it.
 * NULL + errno: ENOENT (no CPython of a known version). */
struct python *python_new(pid_t pid, const struct stack_modules *modules,
			  struct stack_memory *memory, struct strpool *names);
void python_free(struct python *py);

/* Fills an empty stack. 0 or -ENOMEM. */
int python_read_thread(struct python *py, pid_t tid, struct python_stack *out);

#endif
