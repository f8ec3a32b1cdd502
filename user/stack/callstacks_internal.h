/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by callstacks.c (from copies to frames) and callstacks_tell.c (from frames to events). */
#ifndef STACK_CALLSTACKS_INTERNAL_H
#define STACK_CALLSTACKS_INTERNAL_H

#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"
#include "stack/callstacks.h"
#include "stack/history.h"

struct process {
	struct history history;
	int perfmap_fd;		/* -1: not looked for yet, or none */
	struct map own;		/* address of code of its own -> name, 0: none */
	bool ended;
};

struct node {			/* a frame */
	uint64_t caller;	/* number; 0: it is the outermost */
	uint64_t offset;	/* in the image, else the address */
	uint32_t image;		/* 0: none */
	uint32_t pid;		/* without image */
	uint16_t row;		/* of a probed function, else 0 */
	uint8_t flags;		/* FRAME_* */
};

struct callstacks {
	callstacks_code_fn set_code;
	void *code_ctx;
	struct images *images;
	struct map processes;		/* pid -> struct process */
	VEC(struct node) nodes;		/* number - 1 */
	struct map node_index;		/* hash -> number */
	VEC(struct event) stacks;	/* EVENT_STACKs that are not told yet */
	struct map ids;			/* of all stacks */
	size_t told;			/* nodes */
	struct strpool *names;		/* of code that processes made themselves */
	struct callstacks_counts counts;
};

struct process *callstacks_find(const struct callstacks *cs, pid_t pid);	/* NULL: not known */
void callstacks_free_process(void *process);

/* While the process lives; a file that is open can be read when it is removed. */
void callstacks_open_perfmap(struct process *p);

#endif
