/* SPDX-License-Identifier: BSD-3-Clause */
/* Which capabilities gpuprof needs and this thread has, and giving up the others (design §11). */
#ifndef HOST_CAPS_H
#define HOST_CAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct caps_need {
	unsigned int bit;	/* CAP_* of linux/capability.h */
	const char *name;	/* "CAP_BPF" */
	const char *why;	/* "load BPF programs" */
	bool required;		/* nothing works without it; else something works less well */
};

extern const struct caps_need caps_needs[];
extern const size_t caps_n_needs;

bool caps_have(unsigned int bit);	/* in the effective set, or implied by one that is */

/* The first required capability that is missing, or NULL. */
const struct caps_need *caps_missing(void);

/* The requirements of caps_needs, as a set of bits 1 << CAP_*; with CAP_SYS_ADMIN where that one
 * stands for others that are not here. */
uint64_t caps_of_work(void);

/*
 * From now on and for good this thread, and those it starts, have only those of `keep` that they
 * had, and get nothing by exec (no_new_privs, also for their children). 0 or -errno, not logged.
 */
int caps_keep(uint64_t keep);

/* caps_keep, but a failure is only a warning: no work depends on it. */
void caps_drop_others(uint64_t keep);

/* The capabilities to write a report to this file, which may be in a folder of the user who ran
 * sudo; NULL: standard output. */
uint64_t caps_of_output(const char *output);

#endif
