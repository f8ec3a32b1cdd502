/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The CPython in a process: where its state is, how its structs are laid out, and its threads.
 * Private to the room.
 */
#ifndef STACK_PYTHON_RUNTIME_H
#define STACK_PYTHON_RUNTIME_H

#include "gpuprof/python.h"
#include "stack/maps.h"
#include "stack/python_code.h"

enum python_field {
	RUNTIME_INTERPRETERS,
	INTERPRETER_NEXT, INTERPRETER_THREADS,
	THREAD_NEXT, THREAD_INTERPRETER,
	THREAD_PTHREAD,		/* up to 3.10: its pthread_t; since then: */
	THREAD_NATIVE_ID,
	THREAD_CFRAME,		/* 3.11, 3.12: where FRAME_CURRENT is; else in the thread state */
	FRAME_CURRENT,
	FRAME_PREVIOUS, FRAME_CODE, FRAME_INSTRUCTION, FRAME_OWNER,
	FRAME_IS_ENTRY,		/* 3.11 */
	CODE_FILE, CODE_NAME, CODE_LINES, CODE_FIRST_LINE, CODE_INSTRUCTIONS,
	TEXT_LENGTH, TEXT_STATE,
	TEXT_ASCII,		/* where the characters of an ASCII string begin */
	BYTES_SIZE, BYTES_DATA,
	N_FIELDS
};

struct python_layout {
	uint8_t minor;		/* of 3.8 and 3.9: 9 */
	bool in_debug_offsets;	/* `at` is where _Py_DebugOffsets has the offset */
	uint8_t shim_owner;	/* frames of this owner and above are the interpreter's; 0: none */
	uint8_t wide_extra;	/* how much later the characters of another string begin */
	uint32_t kind_bits, compact_bits, ascii_bits;	/* in TEXT_STATE */
	uint32_t at[N_FIELDS];
};

/* The interpreter is entered for each Python function, whose frame is an object (up to 3.10). */
static inline bool python_has_frame_objects(const struct python_layout *l)
{
	return l->minor <= 10;
}

/* What the number of an instruction in a frame object counts: bytes of the code, or its units. */
static inline uint8_t python_unit(const struct python_layout *l)
{
	return l->minor < 10 ? 1 : PYTHON_UNIT;
}

static inline uint8_t python_lines_are(const struct python_layout *l)
{
	if (l->minor < 10)
		return GP_PYTHON_STEPS;
	return l->minor == 10 ? GP_PYTHON_RANGES : GP_PYTHON_LOCATIONS;
}

/* Bytes of a frame up to the last field; too many: PYTHON_FRAME_BYTES + 1. */
#define PYTHON_FRAME_BYTES 128u
size_t python_frame_bytes(const struct python_layout *l);

struct python_thread {
	uint64_t id;		/* as its own pid namespace numbers it */
	uint64_t state;
};

struct python_runtime {		/* start zeroed; python_runtime_free */
	pid_t pid;
	uint64_t at;		/* of _PyRuntime */
	uint64_t bytes;		/* its size; 0: unknown */
	bool is_old;		/* before 3.10 */
	struct python_layout layout;
	VEC(struct python_thread) thread;
	unsigned int reads;
};

/* Finds a process's, with its threads as of now. 0, -ENOENT (no CPython of a known version, or it
 * has not begun) or -ENOMEM. */
int python_runtime_find(struct python_runtime *rt, pid_t pid, const struct stack_modules *modules);
void python_runtime_free(struct python_runtime *rt);

/* Of the process's memory as it is now. 0 or -EFAULT, also after a million of them. */
int python_read(struct python_runtime *rt, uint64_t at, void *buf, size_t len);
int python_read_thread_id(struct python_runtime *rt, uint64_t state, uint64_t *id);

static inline int python_read_field(struct python_runtime *rt, uint64_t object,
				    enum python_field field, uint64_t *value)
{
	return python_read(rt, object + rt->layout.at[field], value, sizeof(*value));
}

/* Where a glibc's pthread_t has the kernel's id of the thread. */
#if defined(__aarch64__)
#define PYTHON_PTHREAD_TID 208u
#else
#define PYTHON_PTHREAD_TID 720u
#endif

#endif
