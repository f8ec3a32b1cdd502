/* SPDX-License-Identifier: BSD-3-Clause */
/* `gpuprof doctor` in its parts: the report that they write to, rows about this host, rows about a
 * process. */
#ifndef CLI_CMD_DOCTOR_H
#define CLI_CMD_DOCTOR_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/str.h"
#include "cli/options.h"

struct doctor {
	const struct options *o;
	uint64_t step_ns;	/* what single-stepping adds to a hit; 0: not known */
	bool returns_kill;	/* processes under seccomp */
	bool probes;		/* can be attached here */
	struct strbuf out;
	int rc;			/* the first thing that keeps gpuprof from working */
};

enum verdict { GOOD, WORSE, BAD };

void doctor_say(struct doctor *d, enum verdict v, const char *what, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
void doctor_fail(struct doctor *d, int exit_code);	/* keeps the first one */

void doctor_host(struct doctor *d);
void doctor_nvml(struct doctor *d);
void doctor_process(struct doctor *d, pid_t pid);	/* after doctor_host */
void doctor_helper(struct doctor *d, pid_t pid);	/* of a process that uses CUDA */

#endif
