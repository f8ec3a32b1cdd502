/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Another process's memory, read without stopping it (process_vm_readv), page by page, each page
 * once; its executable mappings and the files behind them. Private to the room.
 */
#ifndef STACK_MAPS_H
#define STACK_MAPS_H

#include <stdint.h>
#include <stdlib.h>

#include "base/vec.h"
#include "stack/unwind.h"
#include "target/target_mapping.h"

#define STACK_COPY_BYTES (64u << 10)

struct stack_memory;

struct stack_memory *stack_memory_new(pid_t pid);	/* NULL + errno */
void stack_memory_free(struct stack_memory *m);

/* A stack_read_fn; ctx is the struct stack_memory. */
int stack_memory_read(void *ctx, uint64_t at, void *buf, size_t len);

/* Copies the readable part of STACK_COPY_BYTES from sp up, anew and in one go, so that it is as of
 * one moment as can be. 0 or -errno of the first page. */
int stack_memory_copy(struct stack_memory *m, uint64_t sp);

struct stack_file {		/* a file as mapped at one place */
	uint64_t dev, ino;
	char *path;		/* as maps shows it, without " (deleted)"; "[anon]", "[vdso]" */
	uint64_t base;		/* where its ELF header is mapped; 0: nowhere */
	bool named;		/* its frames have their names */
};

struct stack_modules {		/* start zeroed */
	VEC(struct stack_module) module;	/* sorted by start; file: index into `file` */
	VEC(struct stack_file) file;
};

/* Fills from /proc/PID/maps and, for unwind tables, the ELF headers in memory. 0 or -errno as
 * target_each_mapping. */
int stack_modules_read(struct stack_modules *ms, pid_t pid, struct stack_memory *memory);

static inline void stack_modules_free(struct stack_modules *ms)
{
	for (size_t i = 0; i < ms->file.n; i++)
		free(ms->file.v[i].path);
	VEC_FREE(&ms->file);
	VEC_FREE(&ms->module);
}

#endif
