/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the test targets share: their options, when they start and end, and the truth of what they
 * called. The truth has the form of the simulator's (GPUSIM_TRUTH), so that one comparer reads
 * both. Knows nothing of gpuprof and of no GPU library.
 */
#ifndef TARGETS_TARGET_H
#define TARGETS_TARGET_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- options: --name VALUE, each a number or a text -------------------------------------- */

struct target_option {
	const char *name;
	unsigned long *number;	/* one of the two */
	const char **text;
	const char *help;
};

/* Options that every target has. */
struct target_control {
	const char *truth;	/* file to write at the end */
	const char *ready_file;	/* made when the target is about to wait */
	const char *wait_file;	/* no call before this exists */
	const char *end_file;	/* after the last call, no exit before this exists */
};

/* Reads the options, then ready-file and wait-file. Ends the program with status 2 on anything
 * unknown. options ends with a NULL name. */
void target_begin(int argc, char **argv, const struct target_option *options,
		  struct target_control *control);
int target_end(const struct target_control *control, int err);	/* end-file; the exit status */

/* ---- truth -------------------------------------------------------------------------------- */

enum { TRUTH_FUNCTIONS = 96, TRUTH_SHAPES = 16, TRUTH_RESULTS = 8 };

struct truth_shape {
	uint32_t grid[3];
	uint32_t block[3];
	uint64_t count;
};

struct truth_result {
	int code;
	uint64_t count;
};

struct truth_function {
	const char *name;
	uint64_t count, errors, bytes, total_ns;
	struct truth_result results[TRUTH_RESULTS];
	struct truth_shape shapes[TRUTH_SHAPES];
};

/* The calls of one thread: no locks. Zero-initialise. */
struct truth {
	const char *role;	/* free text, NULL: none */
	int tid;		/* set by the first call */
	uint64_t first_ns, last_ns;	/* CLOCK_MONOTONIC: around all calls */
	uint64_t calls;
	struct truth_function functions[TRUTH_FUNCTIONS];
};

uint64_t truth_now_ns(void);

/* A call of `name` (a literal) that began at start_ns and has just returned `result`. */
struct truth_function *truth_call(struct truth *t, const char *name, uint64_t start_ns, int result);
void truth_launch(struct truth_function *f, const uint32_t grid[3], const uint32_t block[3]);

/* Writes all threads, functions summed, to path (NULL: nowhere). 0, or -1 after a message. */
int truth_write(const char *path, const struct truth *threads, size_t n,
		const char *(*result_name)(int code));

#ifdef __cplusplus
}
#endif

#endif
