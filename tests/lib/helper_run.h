/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program of the simulation with the helper inside, watched as gpuprof does: what came out of its
 * ring. For tests that run in the repository's root, after make sim.
 */
#ifndef LIB_HELPER_RUN_H
#define LIB_HELPER_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "gpuprof/ring.h"
#include "gpuprof/work.h"

#define HELPER_RUN_NAMES 256

struct helper_seen {
	uint64_t kind[GP_RING_KINDS];
	uint64_t lost[GP_LOSS_RENEWED + 1];
	uint64_t nameless, unjoined, backwards, bytes;
	uint64_t names;			/* reported */
	char name[HELPER_RUN_NAMES][64];	/* of number i */
	void (*on_record)(struct helper_seen *seen, uint16_t kind, const void *payload);
	void *ctx;			/* of on_record */
};

struct helper_run {
	pid_t pid;
	struct ring_reader *source;
	struct gp_ring_head head;	/* as it was read last */
	struct helper_seen seen;
	int status;			/* as waitpid has it */
	char out[4096];			/* what the program printed */
	int out_fd;
};

/* wants: GP_RING_WANT_*. Environment: name, value, ..., NULL. argv[0] is the program's path. The one
 * that has no helper: helper_run_without. They fail the test (cmocka) when the program does not start. */
void helper_run_wanting(struct helper_run *r, uint32_t wants, const char *const *argv,
			const char *const *environment);
void helper_run_start(struct helper_run *r, const char *const *argv, const char *const *environment);

/* Reads until the process has ended and nothing more comes; then r says everything. */
void helper_run_watch(struct helper_run *r);

void helper_run(struct helper_run *r, const char *const *argv, const char *const *environment);
void helper_run_without(struct helper_run *r, const char *const *argv);

/* With a helper inside that stays asleep. A process that does not end fails the test. */
void helper_run_unwatched(struct helper_run *r, const char *const *argv);

#endif
