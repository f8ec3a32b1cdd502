/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The BPF side as one object: opens, configures and loads the programs, makes links;
 * loader_read.h reads their data. The only user of the skeleton. Knows nothing of files, symbols
 * or the meaning of rows.
 */
#ifndef PROBE_LOADER_H
#define PROBE_LOADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "gpuprof/control.h"
#include "gpuprof/regs.h"

typedef void (*loader_regs_fn)(void *ctx, const struct gp_thread_regs *regs);

/*
 * The user-mode registers of all threads of some processes, now, without stopping them (a BPF task
 * iterator; Linux 5.15). 0 or -errno, not logged, since there is another way (procfs): EPERM (no
 * right to load BPF programs), ENOTSUP (in a pid namespace, where BPF shows other pids than
 * procfs).
 */
int loader_read_regs(const uint32_t *pids, size_t n, loader_regs_fn fn, void *ctx);

enum loader_way {		/* how functions are probed (design §4) */
	WAY_AUTO = 0,
	WAY_SESSION,		/* one uprobe.session link a file: Linux 6.13 */
	WAY_MULTI,		/* an entry and a return uprobe.multi link a file: Linux 6.6 */
	WAY_PERF,		/* two perf events a function, core rows only: Linux 5.15 */
	WAY_NONE,		/* none is wanted: no loader is made */
};
const char *loader_way_name(enum loader_way way);

struct loader_options {
	enum loader_way way;
	uint64_t ring_bytes;		/* a power of two, at least a page */
	bool follow_all;		/* every process */
	bool follow_children;		/* children of followed processes */
	bool returns_kill;		/* as if the self-test had found that; for tests */
	/* copied of each new stack, whole GP_STACK_BLOCKs; 0: none */
	uint32_t stack_bytes;
	bool all_stacks;		/* else of calls that block alone, and sampled */
	bool off_cpu;			/* scheduler events of threads that make calls */
	bool ops, shapes, marks;	/* operators or products; tensors; marked places */
};

struct loader;

/*
 * Loads with the first way that this kernel can both load and attach. NULL + errno, logged:
 * EPERM (a capability is missing, named), ENOTSUP (this kernel cannot), ENOMEM, EMFILE.
 */
struct loader *loader_new(const struct loader_options *options);
/* detaches first; WAY_PERF: waits until breakpoints are gone */
void loader_free(struct loader *l);

/* What it found on this kernel, and its rings. */
struct loader_facts {
	enum loader_way way;
	/* 0: any number. Else so many functions at a time are bearable in this way: then the best
	 * of the catalogue's core rows should be attached, one by one (loader_probes.n = 1). */
	size_t probes_max;
	int calls_fd, tasks_fd, stacks_fd;	/* for source/bpf/ring; stacks -1: none are taken */
	/* Costs in ns for the thread, measured on ourselves when loading, the smallest of a few
	 * batches; 0: could not be measured. */
	uint64_t call_cost_ns;		/* of one recorded call: a launch row, entry and return */
	uint64_t nested_cost_ns;	/* of one that is hit and not recorded */
	uint64_t step_cost_ns;		/* added where the first instruction is single-stepped */
	/* The processes whose calls are followed to the return (GP_RETURNS_*): all, unless return
	 * probes kill processes under seccomp on this kernel. Then a process must never meet the
	 * return link of another: no process filter may be used (the kernel prepares the return
	 * before it checks the process). */
	unsigned int returns;
	bool off_cpu;		/* the scheduler's hooks are attached */
	bool knows_interrupts;	/* ... and interrupts are distinguished from threads that wake */
};
struct loader_facts loader_facts(const struct loader *l);

/* Where a process has code, so that ids of its stacks distinguish code from data; NULL: it has
 * exited. */
void loader_set_code(struct loader *l, pid_t pid, const struct gp_code *code);

int loader_follow(struct loader *l, pid_t pid);	/* adds a process to the set; 0 or -errno */
bool loader_follows(const struct loader *l, pid_t pid);	/* is it there, or was its parent? */

/* One file's probes: file offsets and rows (cookies), and the process filter (0: all). */
struct loader_probes {
	const char *path;		/* as open(2) finds it from here */
	const uint64_t *offsets, *rows;
	const uint64_t *semaphores;	/* file offsets; 0, or all NULL: none */
	size_t n;
	pid_t pid;
	bool waits;		/* silent until loader_hand_over */
	unsigned int group;	/* GP_GROUP_*; 0: stays until loader_detach */
	bool is_entry_only;	/* operators through which C++ may throw, marks: no returns */
};

/* 0, or -errno, not logged: -524 (ENOTSUPP; arm64: -EINVAL) when one of the offsets cannot
 * be probed, -ESRCH. */
int loader_attach(struct loader *l, const struct loader_probes *probes);

/* The number of a layout of tensors for cookies (GP_COOKIE_LAYOUT_SHIFT); 0: there are too many. */
unsigned int loader_layout(struct loader *l, const struct gp_layout *layout);

/* From now on, and for good: links with a process filter are silent, those that waited are not.
 * Nothing is counted twice or missed at that moment; calls that have begun end as they began. */
void loader_hand_over(struct loader *l);

/* Takes the links of a group of launches off: they begin no call from now on, and go in the
 * background (0.1 s). */
void loader_detach_group(struct loader *l, unsigned int group);

/* All probes, then what watches tasks: from now on nothing is sent or counted. Threads' states stay
 * readable, but those of threads that end are gone. WAY_PERF: breakpoints go within seconds. */
void loader_detach(struct loader *l);

#endif
