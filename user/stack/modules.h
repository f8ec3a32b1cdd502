/* SPDX-License-Identifier: BSD-3-Clause */
/* The executable mappings of a process and the files behind them. Private to the room. */
#ifndef STACK_MODULES_H
#define STACK_MODULES_H

#include "base/vec.h"
#include "target/target_mapping.h"
#include "stack/memory.h"
#include "stack/unwind.h"

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
void stack_modules_free(struct stack_modules *ms);

#endif
