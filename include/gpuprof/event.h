/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The border between BPF and user space: the records of the ring buffers.
 *
 * BPF writes raw registers and stack words; user space (source/bpf/decode) gives them meaning
 * with the catalogue row that `row` names (row.h has BPF's part of it; control.h, the rest that
 * the two share; off.h, the scheduler's records). Everything here is fixed-width, explicitly
 * padded and append-only; 0 is no valid kind. Readers accept records longer than they know and
 * skip unknown kinds.
 *
 * Three rings: `calls` carries gp_call, gp_off, and those of operators, `tasks` gp_task
 * (few, and must not drown in calls), `stacks` gp_stack and what it refers to (large; a lost one is
 * a stack that stays unknown, and takes no number). Times are CLOCK_MONOTONIC nanoseconds; pids and
 * tids are those of the initial pid namespace.
 *
 * Every record that a thread tries to send takes the next number of that thread (`seq`, from 1).
 * A hole in a thread's numbers is therefore a loss between two known times. A GP_TASK_EXIT takes
 * a number too, so that a loss just before a thread's end is seen.
 */
#ifndef GPUPROF_EVENT_H
#define GPUPROF_EVENT_H

#include "regs.h"
#include "types.h"

#define GP_EVENT_VERSION 14

/* Kinds of records. A new kind must reach: source/bpf/decode.c, bpf counters (GP_KINDS). */
#define GP_CALL 1	/* gp_call: a call that returned, complete */
#define GP_ENTER 2	/* gp_call: a call of a `two` row has begun; dur and result are 0 */
#define GP_OPEN 3	/* gp_call: a call still open when the session read the thread's state */
#define GP_TASK_NEW 4	/* gp_task: first call of a thread; seq 0 */
#define GP_TASK_EXIT 5	/* gp_task: a known thread ends */
#define GP_TASK_FORK 6	/* gp_task: a followed (or filtered) process has a child process */
#define GP_TASK_EXEC 7	/* gp_task: a followed process runs a new program */
#define GP_STACK 8	/* gp_stack: the stack behind a call's stack id; no seq */
#define GP_OFF 9	/* gp_off: a thread was off the CPU, outside calls */
#define GP_PYTHON 10	/* gp_python_stack (python.h): the Python functions of a stack; no seq */
#define GP_PYTHON_CODE 11	/* gp_python_code: one of them; no seq */
#define GP_OP 12	/* gp_op: an operator of a framework that returned; no seq */
#define GP_MODULE 13	/* gp_module: one of PyTorch's modules, before its first gp_op; no seq */
/* gp_shape: an operator with a first tensor of this shape, before its first gp_op; no seq */
#define GP_SHAPE 14
#define GP_GEMM 15	/* gp_gemm (gemm.h): a product of matrices, the first time; no seq */
/* gp_op: others work for a thread from now on; with an end, no more; no seq */
#define GP_ASKS 16
#define GP_KINDS 17

/* Raw words per record: 0-5 are the ABI's first six integer arguments, then the row's extra
 * words. */
#define GP_REGS 6
#define GP_WORDS_SMALL 4	/* 64-byte record: the first four arguments */
#define GP_WORDS_MIDDLE 8	/* 96 bytes: six arguments and two extra words */
#define GP_WORDS_LARGE 12	/* 128 bytes: six arguments and six extra words */
#define GP_EXTRA_MAX (GP_WORDS_LARGE - GP_REGS)
#define GP_WORDS_MORE 5		/* behind them, as the flags show */

/* gp_call.flags */
#define GP_CALL_NO_RETURN 0x01	/* entry only: duration and result were not observed */
#define GP_CALL_EXTRA_FAULT 0x02 /* the extra words could not be read; they are 0 */
#define GP_CALL_STACK 0x04	/* behind the row's words follows one more: the id of the stack */
#define GP_CALL_BLOCKED 0x08	/* and then one more: ns of the call that it was off the CPU */
/* and then one more: a time in the call that it was ready, and had no CPU */
#define GP_CALL_LATE 0x10
/* with LATE: that time it was stopped instead, by a signal or a debugger */
#define GP_CALL_STOPPED 0x20
/* behind the row's words and the id of the stack: the operator that the call was made in */
#define GP_CALL_OP 0x40
#define GP_CALL_MODULE 0x80	/* and then one more: the module of PyTorch's, as gp_module.id */

/*
 * GP_CALL_LATE, of calls that returned: the last such time of GP_LATE_MIN_NS or more, which a
 * thread can also have had before in the call. The word is its length << 32 | ns from its end to
 * the return; longer times count from then on. Shorter times are the latency of a wakeup: an
 * idle CPU's sleep, an interrupt. With GP_CALL_STOPPED it is the longest stop, whatever came
 * after it, and both halves count 1,024 ns, rounded down: stops last.
 */
#define GP_LATE_MIN_NS 200000ull
#define GP_STOPPED_SHIFT 10

#define GP_DUR_MAX ((1ull << 48) - 1) /* durations saturate here: 78 hours */
#define GP_RESULT_MAX 32767	/* results saturate here; every probed API's codes are below */

struct gp_call {
	gp_u8 kind;
	gp_u8 flags;
	gp_s16 result;		/* low 32 bits of the return register, saturated */
	gp_u32 seq;
	gp_u64 start_ns;	/* entry */
	gp_u32 dur_lo_ns;	/* return - entry, low 32 bits */
	gp_u16 dur_hi;		/* ... bits 32-47 */
	gp_u16 row;		/* catalogue row, see user/catalog/catalog.h */
	gp_u32 pid;
	gp_u32 tid;
	/* gp_u64 words[4, 8 or 12] follow, by the record's length; then a stack's id, an operator,
	 * a module, the ns off the CPU, and when it was late, as the flags show */
};

/*
 * A stack, copied from the stack pointer upward when its id was not seen lately. The id is a
 * hash of the process, of its mappings (gp_code.epoch), of the instruction where the thread is,
 * of the frame pointer's place in the copy, of the Python functions, and of every word of the copy
 * that points into code, with its place. All return addresses are such words, so two stacks of one
 * id are the same chain of calls but for a collision of 64 bits; except that code which was mapped
 * since user space last read the mappings (a few ms after a dlopen) is taken for data.
 */
#define GP_STACK_BYTES_MAX 16384u
#define GP_STACK_BLOCK 256u

struct gp_stack {
	gp_u8 kind;
	gp_u8 pad;
	/* 0: of a thread that blocks (gp_off), in a system call or in a fault */
	gp_u16 row;
	gp_u32 len;		/* bytes of stack that follow, from sp on: whole blocks */
	gp_u64 id;
	gp_u64 time_ns;
	gp_u32 pid;
	gp_u32 tid;
	gp_u64 sp;
	gp_u64 python;		/* id of a gp_python_stack, on which this one stands; 0: none */
	gp_u64 asker;		/* ... on which that stands: of the thread it works for */
	struct gp_thread_regs regs;	/* at the function's entry (or behind its endbr64) */
};

/* gp_op.flags. Its return was not followed: it had returned by end_ns. */
#define GP_OP_BOUND 0x01

/* gp_op.op: PyTorch's backward, of the thread that asked for it */
#define GP_OPS_FIRST (1ull << 63)	/* of operators and modules: none is less */
#define GP_OP_BACKWARD (GP_OPS_FIRST | 1)
#define GP_OP_MODULE (GP_OPS_FIRST | 2)	/* of a cookie: its function calls modules */
#define GP_OPS_DEPTH 24	/* operators of a thread, inside each other; deeper ones are not followed */

struct gp_op {			/* start_ns, pid and tid are where gp_call has them */
	gp_u8 kind;
	gp_u8 flags;
	gp_u8 pad[6];
	gp_u64 start_ns;
	gp_u64 end_ns;
	gp_u32 pid;
	gp_u32 tid;
	gp_u64 op;		/* as the probe's cookie has it (GP_COOKIE_OP_BITS); or a module */
	gp_u64 inner_ns;	/* of its time, in operators inside it */
};

#define GP_MODULE_NAME 64

struct gp_module {		/* the same */
	gp_u8 kind;
	gp_u8 pad[7];
	gp_u64 start_ns;
	gp_u64 id;		/* of the classes around it, by their names, and its own */
	gp_u32 pid;
	gp_u32 tid;
	gp_u64 outer;		/* the module around it; 0: none */
	char name[GP_MODULE_NAME];	/* of its class; cut */
};

#define GP_DIMS_MAX 8		/* of tensors with more, the shape is not recorded */

struct gp_shape {		/* the same */
	gp_u8 kind;
	gp_u8 dims;
	gp_u16 type;		/* of its elements: PyTorch's ScalarType */
	gp_u32 pad;
	gp_u64 start_ns;
	gp_u64 id;		/* of the operator with this shape, which records have instead */
	gp_u32 pid;
	gp_u32 tid;
	gp_u64 op;
	gp_u64 size[GP_DIMS_MAX];
};

#define GP_COMM_LEN 16

struct gp_task {
	gp_u8 kind;
	gp_u8 pad[3];
	gp_u32 seq;
	gp_u64 time_ns;		/* when it happened */
	gp_u64 start_ns;	/* NEW, EXIT: the thread's birth, 0: unknown; FORK: the child's */
	gp_u32 pid;
	gp_u32 tid;		/* FORK: the child's pid */
	char comm[GP_COMM_LEN];
	/* the birth of its process, which distinguishes two owners of one pid */
	gp_u64 process_ns;
	/* NEW: tid as the thread's own pid namespace has it; 0: not known */
	gp_u32 own_tid;
	gp_u32 pad2;
};

_Static_assert(sizeof(struct gp_call) == 32, "header of a call record");
_Static_assert(sizeof(struct gp_op) == 48, "operator record");
_Static_assert(sizeof(struct gp_module) == 40 + GP_MODULE_NAME, "module record");
_Static_assert(sizeof(struct gp_shape) == 40 + 8 * GP_DIMS_MAX, "shape record");
_Static_assert(sizeof(struct gp_task) == 64, "task record");
_Static_assert(sizeof(struct gp_stack) == 56 + sizeof(struct gp_thread_regs),
	       "header of a stack record");
_Static_assert(GP_WORDS_LARGE * 8 + sizeof(struct gp_call) == 128, "largest call record");

#endif
