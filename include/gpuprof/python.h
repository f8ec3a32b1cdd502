/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The Python functions that a thread is in when its stack is taken. User space finds the CPython of
 * a process and how it is laid out; BPF walks its frames on the thread itself, which cannot change
 * them meanwhile, and sends, in the ring `stacks`: each code object once, each chain of frames
 * once, and its id with the stack. A record comes after those that it refers to.
 */
#ifndef GPUPROF_PYTHON_H
#define GPUPROF_PYTHON_H

#include "types.h"

#define GP_PYTHON_FRAMES 128u	/* of a chain: the innermost */
#define GP_PYTHON_FRAME_BYTES 128u
#define GP_PYTHON_FILE 512u	/* bytes */
#define GP_PYTHON_NAME 256u
#define GP_PYTHON_LINES 8192u

/* Of a stack with Python frames no more is copied: it seldom reaches the interpreter, and what
 * changes further out would make stacks of one line many. */
#define GP_PYTHON_STACK_BYTES 512u

/* How a code object has its lines. */
#define GP_PYTHON_LOCATIONS 0	/* since 3.11 */
#define GP_PYTHON_RANGES 1	/* 3.10 */
#define GP_PYTHON_STEPS 2	/* before */

/* Offsets into CPython's structs. */
struct gp_python {
	gp_u64 interpreters;	/* address of the pointer to the first; 0: no Python is known */
	gp_u64 runtime;		/* address of _PyRuntime, which has the GIL, */
	gp_u64 runtime_bytes;	/* and its size; 0: unknown */
	gp_u32 interpreter_next;
	gp_u32 interpreter_threads;
	gp_u32 thread_next;
	gp_u32 thread_id;	/* the kernel's, in the thread's own pid namespace */
	gp_u32 pthread_id;	/* not 0: thread_id is a pthread_t, and there it has the kernel's */
	gp_u32 state_from;	/* the part of a thread's state that has what is read of it */
	gp_u32 state_bytes;
	gp_u32 thread_cframe;	/* not 0: points to what has frame_current */
	gp_u32 frame_current;
	gp_u32 frame_bytes;	/* that are read: whole words, at most GP_PYTHON_FRAME_BYTES */
	gp_u32 frame_previous;
	gp_u32 frame_code;
	gp_u32 frame_instruction;
	gp_u32 frame_owner;
	gp_u32 shim_owner;	/* frames of this owner and above are no function's; 0: none */
	gp_u32 code_file;
	gp_u32 code_name;	/* and behind it the pointer to its lines */
	gp_u32 code_first_line;
	gp_u32 code_instructions;	/* 0: an instruction is a number, */
	gp_u32 code_unit;		/* of so many bytes each */
	gp_u32 lines_are;		/* GP_PYTHON_LOCATIONS, ... */
	gp_u32 text_length;
	gp_u32 text_state;
	gp_u32 text_ascii;
	gp_u32 text_wide;	/* not ASCII: so much later */
	gp_u32 kind_shift;
	gp_u32 compact_bits;
	gp_u32 ascii_bits;
	gp_u32 bytes_size;
	gp_u32 bytes_data;
};

/* A thread whose call others work on: autograd's workers, while it is in backward. */
struct gp_asker {
	gp_u64 python;		/* id of its gp_python_stack; 0: unknown, or there are several */
	gp_u32 tid;
	gp_u32 n;		/* of them in this process */
};

struct gp_python_frame {
	gp_u64 code;		/* id of a gp_python_code */
	gp_s32 at;		/* bytes into its code; below 0: it has not begun */
	gp_u32 pad;
};

struct gp_python_stack {
	gp_u8 kind;		/* GP_PYTHON */
	gp_u8 deep;		/* there are more frames */
	gp_u16 n;
	gp_u32 pid;
	gp_u64 id;
	/* gp_python_frame[n] follow, innermost first */
};

/*
 * The id is of the process and of the addresses of the object, its name and its lines: a code
 * object that took the place of another one, with name and lines in the same places too, is taken
 * for it.
 */
struct gp_python_code {
	gp_u8 kind;		/* GP_PYTHON_CODE */
	gp_u8 file_kind, name_kind;	/* bytes of a character; 0: could not be read */
	gp_u8 lines_are;
	gp_u32 pid;
	gp_u64 id;
	gp_s32 first_line;
	gp_u16 file_bytes, name_bytes;	/* of the longest text the beginning */
	gp_u32 lines_bytes;
	gp_u32 pad;
	char file[GP_PYTHON_FILE];
	char name[GP_PYTHON_NAME];
	/* co_linetable follows, of long ones the beginning */
};

_Static_assert(sizeof(struct gp_python) == 3 * 8 + 30 * 4, "python");
_Static_assert(sizeof(struct gp_python_frame) == 16, "frame of Python");
_Static_assert(sizeof(struct gp_python_stack) == 16, "header of a Python stack");
_Static_assert(sizeof(struct gp_python_code) == 32 + GP_PYTHON_FILE + GP_PYTHON_NAME,
	       "header of a code object");

#endif
