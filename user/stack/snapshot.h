/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One look at every thread of some processes: where each is, what it waits for, which catalogue
 * call it is in. Nothing is stopped, nothing is written; works on what already hangs.
 */
#ifndef STACK_SNAPSHOT_H
#define STACK_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

#include "base/str.h"
#include "probe/loader.h"
#include "stack/maps.h"
#include "stack/python.h"

struct stack_frame {
	uint64_t address;
	uint64_t sp;		/* stack pointer there; 0 unknown */
	const char *function;	/* NULL: no symbol covers it */
	uint64_t offset;	/* into the function; without one: into the module's file */
	const char *module;	/* base name of the file, "[vdso]", "[anon]"; NULL unknown */
	const char *build_id;	/* hex; NULL unknown */
	bool exact;		/* the address is the next instruction; else it is behind a call */
	bool signal;		/* where a signal handler returns to */
	bool guessed;		/* found by a frame pointer */
};

/* CPython's interpreter: from 3.11 on it runs several Python functions in one frame. */
static inline bool stack_frame_is_interpreter(const struct stack_frame *f)
{
	static const char name[] = "_PyEval_EvalFrameDefault";	/* or its ".cold" part */

	return f->function && !strncmp(f->function, name, sizeof(name) - 1);
}

enum stack_quality {		/* how much of the stack is there */
	STACK_IS_NONE,		/* nothing could be read, or the thread has ended */
	STACK_IS_WHOLE,
	STACK_IS_CUT,		/* what is beyond the last frame is not known */
	STACK_IS_DEEP,		/* deeper than what is kept */
	/* the thread ran meanwhile: frames as of its last entry into the kernel */
	STACK_IS_RUNNING,
};

static inline const char *stack_quality_name(enum stack_quality q)
{
	static const char *const names[] = {
		[STACK_IS_NONE] = "none", [STACK_IS_WHOLE] = "whole", [STACK_IS_CUT] = "cut",
		[STACK_IS_DEEP] = "deep", [STACK_IS_RUNNING] = "running",
	};

	return names[q];
}

struct stack_thread {		/* strings are the snapshot's */
	pid_t pid, tid;
	uint64_t birth_ns;	/* CLOCK_MONOTONIC, to the clock tick */
	char comm[16];
	char state;		/* as in /proc: R S D T Z ...; 0 unknown */
	bool cpu_known;
	uint64_t cpu_ns;	/* user and system */
	const char *wchan;	/* where it waits in the kernel; NULL unknown */
	const char *syscall;	/* NULL: in none, or unknown */
	const char *file;	/* what it waits for or transfers; NULL none */
	const char *call;	/* the outermost catalogue function; NULL: in none, or not seen */
	unsigned int row;	/* its row in the catalogue; 0: none */
	size_t call_frame;	/* which of the frames that is */
	const char *library;	/* its library: "cudart" */
	const char *class;	/* its class: "sync" */
	enum stack_quality quality;
	bool to_top;		/* the last frame is the thread's outermost; also while it runs */
	struct stack_frame *frames;
	size_t n_frames;
	struct python_stack python;	/* the Python functions among these frames */
};

struct stack_snapshot;

/* For calls alone, which takes far less time: no frame has a name. */
struct stack_calls {
	/* where registers come from: as loader_read_regs */
	int (*read)(void *ctx, const uint32_t *pids, size_t n, loader_regs_fn fn, void *fn_ctx);
	void *ctx;
	unsigned int tier;	/* calls of rows above it are none */
};

/* Takes registers of all pids now (BPF; without the right to that, less is known of each stack).
 * calls: NULL for all. NULL + errno. */
struct stack_snapshot *stack_snapshot_new(const uint32_t *pids, size_t n,
					  const struct stack_calls *calls);

/* Adds the threads of one of them. 0, or -errno, not logged: ESRCH (gone, or a thread of another
 * process), EACCES (denied: needs its user, root or CAP_SYS_PTRACE), ENOMEM. After EACCES what
 * could be read without memory (states, wait channels) is there. */
int stack_snapshot_add(struct stack_snapshot *s, pid_t pid);
void stack_snapshot_free(struct stack_snapshot *s);

/* 0: BPF gave registers; else why not (loader_read_regs) */
int stack_snapshot_regs_error(const struct stack_snapshot *s);
size_t stack_snapshot_threads(const struct stack_snapshot *s);
const struct stack_thread *stack_snapshot_thread(const struct stack_snapshot *s, size_t i);

#endif
