/* SPDX-License-Identifier: BSD-3-Clause */
/* The scope and the manner of a session. The caller fills it in. */
#ifndef SESSION_SESSION_OPTIONS_H
#define SESSION_SESSION_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/capture_sink.h"
#include "host/selector.h"

/* `auto` is on for chosen processes and off for the whole host. */
enum off_cpu { OFF_CPU_AUTO, OFF_CPU_ON, OFF_CPU_OFF };

/* How CUPTI records graphs; auto: each node, but graphs as a whole at intervals. */
enum graph_mode { GRAPHS_AUTO, GRAPHS_NODES, GRAPHS_WHOLE };

enum cupti_mode { CUPTI_AUTO, CUPTI_SUBSCRIBE };

struct session_options {
	/* Targets: pids, a selector, all, or cmd. */
	uint32_t *pids;			/* distinct, in the order given */
	size_t n_pids;
	struct selector *selector;	/* NULL: none */
	bool all;
	char *const *cmd;		/* NULL-terminated; NULL: none */
	bool cmd_to_stderr;		/* its standard output, too: the report has ours */
	bool isolate;			/* do not follow child processes */

	/* Capture. */
	uint64_t max_bytes;		/* of a file, or of memory with before_ns; 0: no limit */
	uint64_t max_files;		/* 0: no limit */
	uint64_t before_ns;		/* hold that much in memory; 0: write all */
	int on;				/* enum trigger: when to write the held events */

	uint64_t duration_ns;		/* 0: until the targets end, or a signal */
	uint64_t count;			/* of intervals; 0: no limit */

	/* Probes. */
	int attach;			/* enum loader_way of probe/loader.h */
	int launch;			/* enum plan_launch of probe/plan.h */
	double budget;			/* what probes may cost, of a thread's time; 0: any */
	int tier;			/* highest tier of the catalogue's rows that is probed */
	uint64_t step_limit_ns;		/* skip probes that step for longer; 0: the default */
	uint64_t ring_bytes;		/* a power of two */
	bool stacks;			/* of each call; else of those that block, sampled, */
	bool no_stacks;			/* but not then, nor of the whole host */
	uint64_t stack_bytes;		/* copied per call */
	int off_cpu;			/* enum off_cpu */
	int torch;			/* enum ops_level of probe/ops.h */
	bool gemms;			/* products of matrices, too */
	bool torch_memory;		/* what PyTorch's caching allocator gives */
	bool shapes;			/* of tensors, with operators */
	bool no_cmdline;

	/* Helper. */
	int graphs;			/* enum graph_mode */
	int cupti;			/* enum cupti_mode */
	bool inject;			/* load it into running processes */
	bool force;			/* ... also where that may harm them */
	bool yes;			/* without confirmation */
};

#endif
