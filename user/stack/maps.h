/* SPDX-License-Identifier: BSD-3-Clause */
/* The executable mappings of a process and the files behind them. Private to the room. */
#ifndef STACK_MAPS_H
#define STACK_MAPS_H

#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "gpuprof/control.h"
#include "stack/memory.h"
#include "stack/unwind.h"
#include "target/target_mapping.h"

/*
 * Files that processes run, kept open: their unwind tables and names can be read after they were
 * deleted and their processes have exited. One for each file, for all processes. Private to the
 * room.
 */

#define IMAGES_MAX 2048u	/* files kept open */

struct images;

struct images *images_new(void);	/* NULL + errno */
void images_free(struct images *is);

/* len bytes at vaddr (as in the file) when it is loaded; 0 or -EFAULT. */
int images_read(struct images *is, unsigned int image, uint64_t vaddr, void *buf, size_t len);

/* "93ac61ec /usr/lib/libc.so.6" (EVENT_FRAME's text2). */
const char *images_file(const struct images *is, unsigned int image);

/* Looks up names for n addresses of one image, in one pass over its symbols. 0 or -ENOMEM. */
int images_name(struct images *is, unsigned int image, const uint64_t *vaddrs, size_t n);

/* The name that images_name has found; NULL: no symbol covers it, or it was not looked up. */
const char *images_function(const struct images *is, unsigned int image, uint64_t vaddr);

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

/*
 * The mappings of one process over time: a list of readings of its maps. A stack is unwound with
 * the first reading after it was taken, of the program that ran then. Private to the room.
 */

#define HISTORY_READINGS 8u	/* the oldest is forgotten */

struct history_span {		/* a loaded part of an image */
	uint64_t start, end;	/* addresses in the process */
	uint64_t bias;		/* its offset to addresses of the file */
	unsigned int image;
};

struct history_reading {
	uint64_t time_ns;
	struct stack_modules modules;
	VEC(struct history_span) spans;		/* sorted by start */
};

struct history {		/* start with pid set, else zeroed */
	pid_t pid;
	uint64_t exec_ns;	/* the present program began; 0: unknown */
	uint64_t epoch;
	VEC(struct history_reading) readings;
};

/* Reads the present mappings. 0, -ENOMEM, or -errno when the process is gone or denies it: then
 * the earlier readings stay. code: for loader_set_code. */
int history_read(struct history *h, struct images *images, struct gp_code *code);

/* The mappings when a stack was taken; NULL: unknown. */
const struct history_reading *history_at(const struct history *h, uint64_t time_ns);

/* or NULL */
const struct history_span *history_span(const struct history_reading *r, uint64_t address);

void history_free(struct history *h);

#endif
