/* SPDX-License-Identifier: BSD-3-Clause */
/* Which capabilities this process has and gpuprof needs (design §11). */
#ifndef PROBE_CAPS_H
#define PROBE_CAPS_H

#include <stdbool.h>
#include <stddef.h>

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

#endif
