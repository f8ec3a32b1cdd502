/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes the links of files: one (session) or two (multi) for the plan (plan.h) of a file. Keyed
 * by the real inode: a file is attached once for each process filter, whatever its names and
 * overlays. Used by one thread at a time (start: main; then the worker).
 */
#ifndef PROBE_ATTACH_H
#define PROBE_ATTACH_H

#include <stdint.h>

#include "probe/loader.h"
#include "probe/plan.h"
#include "target/target.h"

struct attach;

/* rules: but for step_ns, which the loader measured. NULL + errno */
struct attach *attach_new(struct loader *l, const struct plan_rules *rules);
void attach_free(struct attach *a);
unsigned int attach_tier(const struct attach *a);

struct attach_result {
	unsigned int probes;	/* functions newly attached in this file; 0: none or known file */
	unsigned int too_dear;	/* left out: single-stepping their first instruction is too dear */
	unsigned int refused;	/* left out: the kernel cannot probe their first instruction */
	unsigned int left_out;	/* in this way of attaching only the best few are probed */
	/* when its last probe that sees this process was made; 0: before attach_begin, or none */
	uint64_t armed_ns;
	bool has_probes;	/* the file has functions to probe ... */
	bool has_calls;		/* ... that are calls: attach_wants */
};

/*
 * Attaches to the file if it holds catalogue functions and is not attached yet for filter pid
 * (0: all processes). 0 or -errno, logged: EPERM, ENOTSUP, ENOMEM. A file that is no ELF or
 * lies is 0 with no probes.
 */
int attach_file(struct attach *a, const struct target_file *file, pid_t pid,
		struct attach_result *result);

/* An operator that was found in a file; names live as long as the attach. */
struct attach_op {
	uint64_t id;
	const char *name;
};
/* Each one once. False: there are no more, so far. */
bool attach_next_op(struct attach *a, struct attach_op *out);

/* does it have calls to probe? */
bool attach_wants(struct attach *a, const struct target_file *file);
/* is pid in the set of followed processes? */
bool attach_follows(const struct attach *a, pid_t pid);

/*
 * Where only a few functions can be probed (loader_facts.probes_max), attach_file makes no links at
 * first and reports its candidates, so that the best of all files can be chosen: now. A second
 * process that uses a file then ends the filters, too. Later files get the rest. 0 or -errno,
 * logged.
 */
int attach_begin(struct attach *a);

/*
 * From now on probes have no process filter: files that have some get links for all, and those
 * with a filter fall silent at the same moment. The set of followed processes decides then. Once
 * done, again is a no-op. 0 or -errno, logged; after an error all is as before.
 */
int attach_hand_over(struct attach *a);

/*
 * Which launches have probes (LAUNCH_AUTO; in the other modes it never changes): those of the parts
 * of plans before `until`. A process that comes with a file that has launches brings the probes of
 * all back, at once, unless it stays so.
 */
struct attach_launches {
	enum plan_part until;
	bool stays;
	uint64_t since_ns;
	unsigned int returns;	/* how often a process brought all back */
};
struct attach_launches attach_launches(const struct attach *a);
/* Errors are logged. */
void attach_set_launches(struct attach *a, enum plan_part until, bool stays);

/* PLAN_* bits of a row, of all files together (probe/plan.h). */
uint8_t attach_outcome(const struct attach *a, unsigned int row);

/* Are launches of the driver probed in any file? */
bool attach_probes_driver(const struct attach *a);

/* One for each file with catalogue functions, in the order they were met. */
struct attach_info {
	const char *path;
	const char *build_id;
	struct attach_result result;
};
size_t attach_count(const struct attach *a);
const struct attach_info *attach_get(const struct attach *a, size_t i);

#endif
