/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which functions of a file get probes: decided by the file's name and bytes, the catalogue and a
 * few rules. Pure: knows nothing of links, processes and BPF.
 */
#ifndef PROBE_PLAN_H
#define PROBE_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpuprof/event.h"

struct elf_file;

struct plan_rules {
	unsigned int tier;	/* no rows above it */
};

struct plan {			/* the probes of one file */
	uint64_t offsets[GP_ROWS_MAX];
	uint64_t rows[GP_ROWS_MAX];
	size_t n;
	bool found;		/* the file holds catalogue functions */
	unsigned int stepped;	/* left out: their first instruction would be single-stepped */
	unsigned int refused;	/* left out: the kernel cannot probe their first instruction */
};

/* Adds what ef, which a process knows as path, has to probe. 0 or -errno; a file that lies has
 * nothing. */
int plan_file(struct plan *plan, struct elf_file *ef, const char *path,
	      const struct plan_rules *rules);

/* Does the file behind ef, which a process knows as path, hold this library of the catalogue: by
 * its name, or as a static copy inside? */
bool plan_holds(struct elf_file *ef, const char *path, unsigned int library);

#endif
