/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The next command to type: for which evidence, of which process, with the rights of this user. It
 * reads the capture where that holds the evidence; else it measures. One line that can be run, with
 * what a shell would split in quotes; or none. A table; knows nothing of the books that led to it.
 */
#ifndef FINDINGS_FINDINGS_NEXT_H
#define FINDINGS_FINDINGS_NEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "model/snapshot.h"

enum next {
	NEXT_CALLERS,		/* callers of the functions of a filter */
	NEXT_WAITING,		/* wait reasons of threads outside of calls */
	NEXT_STACKS,		/* where threads are now */
	NEXT_COMM,		/* kernels of communication */
	NEXT_THREADS,
	NEXT_SMALL,		/* kernels by count */
	NEXT_QUEUED,		/* kernels by their time in the queue */
	NEXT_DEVICE,		/* users of the device */
	NEXT_MEMORY,		/* callers that allocate */
	NEXT_INJECT,		/* device times of a process that runs without the helper */
	NEXT_RESTART,		/* the same of one that is started by gpuprof */
	NEXT_DOCTOR,		/* why there are none */
	NEXT_HOST,		/* the same, when it has ended */
	NEXT_UNPROBED,		/* the same without what probes cost */
	NEXT_KINDS
};

struct next_target {
	const struct snapshot *snap;	/* NULL: nothing is kept of it */
	uint32_t process, ordinal;	/* in the snapshot */
	uint32_t pid, device;
	bool ended;
	const char *command;	/* that gpuprof started, as it can be typed; NULL: none */
	bool probes;		/* the user who measured may use them */
	bool sudo;		/* ... and is another by `sudo` */
};

/* Is it one line of words, quoted where a shell would do more than split them? */
bool next_is_typed(const char *command);

/* As the snapshot has it; the texts live as long as its facts. */
struct next_target next_of(const struct snapshot *snap, uint32_t process, uint32_t device);

/* Appends "gpuprof report FILE ..." where the snapshot is of a capture that holds what the table
 * needs, else "gpuprof stat ..."; nothing where that cannot be run: the process has ended, and
 * gpuprof did not start it. filter is a regular expression, for NEXT_CALLERS and NEXT_COMM; NULL:
 * all. */
void next_add(struct strbuf *out, enum next what, const struct next_target *target,
	      const char *filter);

#endif
