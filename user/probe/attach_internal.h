/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The memory of attach.h, shared by attach.c and, for ways in which only a few functions can be
 * probed, attach_few.c.
 */
#ifndef PROBE_ATTACH_INTERNAL_H
#define PROBE_ATTACH_INTERNAL_H

#include "base/map.h"
#include "base/vec.h"
#include "probe/attach.h"
#include "probe/plan.h"

/* A file with catalogue functions, below any overlay. While it has probes the kernel holds it, so
 * its number is not given to another. */
struct known {
	struct plan *plan;
	uint64_t fingerprint;	/* of all that was planned */
	int fd;			/* our own, while there is a process filter on its probes; else -1 */
	bool changed;		/* in place, which was said */
	bool failed;		/* links could not be made, which was said */
	bool all;		/* also what is for processes without a runtime is probed */
	bool chosen;		/* what the plan holds now is the best that can be had */
	struct attach_info info;
};

/* Where only a few functions can be probed: an attach_file before attach_begin. */
struct wish {
	size_t index;		/* in known */
	pid_t pid;
};

struct few {
	size_t max, used;	/* probes; max 0: there is no limit */
	bool waits;		/* for attach_begin */
	VEC(struct wish) wishes;
};

struct attach {
	struct loader *loader;
	struct plan_rules rules;
	bool handed_over;	/* no filters any more */
	struct few few;
	struct strpool *names;
	VEC(struct known) known;
	struct map seen;	/* what fstat tells of a file -> index + 1 in known; 0: no functions */
	struct map real;	/* how the kernel keys uprobes -> index + 1 in known */
	struct map done;	/* (index, filter) that have their links */
};

/* The two parts of a plan: what is probed for all processes, and what for those without a runtime. */
enum part { PART_FIRST, PART_REST };

struct attach_for {
	int fd;			/* of the file */
	pid_t pid;		/* the filter */
};

/* 1: (part, filter) had no links and now counts as having them, 0: it has, -ENOMEM. What is attached
 * for all needs no filter. */
int attach_claim(struct attach *a, size_t index, enum part part, pid_t pid);

/* Makes the links of a claimed part and adds them to result and to the file's info. 0 or -errno,
 * logged but for -ESRCH. */
int attach_links(struct attach *a, struct known *k, enum part part, const struct attach_for *to,
		 struct attach_result *result);

/* The same where few.max is set: later, or with the best of what can still be had. */
int attach_few(struct attach *a, size_t index, const struct attach_for *to,
	       struct attach_result *result);

#endif
