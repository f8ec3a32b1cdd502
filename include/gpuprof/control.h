/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Shared by user space and BPF beside the rings: attach cookies, which returns are followed, the
 * state of processes and threads, counters.
 */
#ifndef GPUPROF_CONTROL_H
#define GPUPROF_CONTROL_H

#include "event.h"
#include "python.h"

/* Attach cookies: the row in the low 32 bits, and the link's purpose. While one process uses a
 * file the kernel's pid filter is used; when `handed_over` is set, links made with the filter
 * fall silent and those that waited for it begin, at one moment. */
#define GP_COOKIE_FILTERED (1ull << 32)
#define GP_COOKIE_WAITING (1ull << 33)

/*
 * Of an operator (user/probe/ops.h) the cookie has, in the place of a row, a hash of its name; of
 * one whose return must not be followed, since a C++ function may throw through it, it says so.
 */
#define GP_COOKIE_OP (1ull << 31)
#define GP_COOKIE_OP_ENTRY (1ull << 30)
#define GP_COOKIE_OP_NODE (1ull << 38)	/* it is a node of the backward pass */
#define GP_COOKIE_OP_IDLE (1ull << 39)	/* it launches nothing itself */
#define GP_COOKIE_OP_BITS (((1ull << 24) - 1) | ~0ull << 40)

/* Where it has its first tensor, if shapes are recorded: the integer argument that refers to it,
 * from 1 (0: nowhere), and the layout of tensors in its library, a number in `layouts`. */
#define GP_COOKIE_TENSOR_SHIFT 24
#define GP_COOKIE_LAYOUT_SHIFT 27
#define GP_COOKIE_SHAPE_BITS (63ull << GP_COOKIE_TENSOR_SHIFT)
#define GP_LAYOUTS 8

/* Of a place in code that is marked for tracers, behind the row: the registers that its first
 * arguments are in, by DWARF's numbers. They are the record's first words. */
#define GP_OPERANDS 3
#define GP_OPERAND_BITS 5
#define GP_OPERAND_NONE 31u
#define GP_COOKIE_OPERANDS_SHIFT 40

struct gp_layout {		/* of PyTorch's tensors (c10::TensorImpl) */
	gp_u16 type_at;		/* of the type of elements; sizes and strides are before it */
	gp_u16 types;		/* the types are below: the next one stands for no tensor */
};

/* Links of launches are groups of their own, which can be taken off and be made again. First the
 * bit of their generation is set in `quiet`, so that they begin no call any more, then they go; new
 * ones are of the group's other generation and need not wait for that. Group 0 stays. */
#define GP_GROUPS 3
#define GP_GROUP_RUNTIME_LAUNCHES 1
#define GP_GROUP_DRIVER_LAUNCHES 2
#define GP_GENERATIONS 2
#define GP_COOKIE_GENERATION_SHIFT 34	/* group * GP_GENERATIONS + generation */

/* Which calls are followed to their return; set by the loader while the programs run. A return
 * probe can kill a process under a seccomp filter on some kernels. */
#define GP_RETURNS_ALL 0
#define GP_RETURNS_NO_SECCOMP 1	/* not those of processes under seccomp: as GP_ROW_ENTRY_ONLY */
#define GP_RETURNS_NONE 2	/* no return probes are attached: all are as GP_ROW_ENTRY_ONLY */

/* One per CPU; summed by user space. hits[k] = sent[k] + lost[k] for every record kind. */
struct gp_counts {
	gp_u64 hits[GP_KINDS];	/* records that had to be sent */
	gp_u64 lost[GP_KINDS];	/* of these, not sent: the ring was full */
	gp_u64 nested;		/* entry hits inside another call: reported as its detail */
	/* calls left without returning (longjmp, exceptions, cancellation) */
	gp_u64 abandoned;
	gp_u64 no_state;	/* entry hits without room for the thread's state: not recorded */
	gp_u64 foreign;		/* hits in processes that are not followed */
	gp_u64 unfollowed;	/* children that the set of followed processes had no room for */
	gp_u64 reached;		/* of `nested`: launches of the driver inside one of the runtime */
	gp_u64 deep;		/* operators that are not recorded: too deep, or without room */
	gp_u64 silent;		/* hits of links that record nothing now: they wait, or go */
};

/*
 * Where a process has code: two ranges that hold all of it, and in each of them a bit for each
 * 1 << shift bytes that any of it is in. Unknown (shift 0): all of the ranges may be.
 */
#define GP_CODE_BITS 65536u

struct gp_code {
	gp_u64 start[2];
	gp_u64 len[2];
	gp_u64 epoch;		/* changes with the mappings */
	gp_u32 shift[2];
	struct gp_python python;
	gp_u64 bits[2][GP_CODE_BITS / 64];
};

/* Written by the iterator task_files for each mapping of a file. */
struct gp_mapping {
	gp_u64 start;		/* address */
	gp_u64 ino;		/* of the real file, below any overlay */
	gp_u32 dev;		/* the kernel's encoding: major << 20 | minor */
	gp_u32 pid;		/* whose; before Linux 6.1 the iterator shows everybody's */
};

_Static_assert(sizeof(struct gp_code) == 48 + sizeof(struct gp_python) + GP_CODE_BITS / 4, "code");
_Static_assert(sizeof(struct gp_mapping) == 24, "mapping");
_Static_assert(sizeof(struct gp_counts) == 8 * (2 * GP_KINDS + 8), "counts");

#endif
