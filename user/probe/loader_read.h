/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Data that the programs keep for us: states of threads, mappings and counters. Changes none of
 * it. Knows nothing of its meaning.
 */
#ifndef PROBE_LOADER_READ_H
#define PROBE_LOADER_READ_H

#include <stdbool.h>

#include "gpuprof/event.h"
#include "gpuprof/off.h"
#include "probe/loader.h"

struct loader_state {
	struct gp_call head;
	uint64_t words[GP_WORDS_LARGE + GP_WORDS_MORE];
};

/* After loader_detach: every living thread's last state (loader_state; kind 0 or GP_OPEN). */
int loader_each_state(struct loader *l, void (*fn)(void *ctx, const void *rec, size_t len),
		      void *ctx);

/* Every living thread that is off the CPU now, or has been so in its open call: a gp_off with
 * GP_OFF_STILL. Any time; with the last states it must be read before those. 0 or -errno. */
int loader_each_off(struct loader *l, void (*fn)(void *ctx, const void *rec, size_t len),
		    void *ctx);

/* After loader_detach: the operators (a gp_op each) that living threads were not seen to leave.
 * 0 or -errno. */
int loader_each_op(struct loader *l, void (*fn)(void *ctx, const void *rec, size_t len), void *ctx);

/* A new fd to read struct gp_mapping from: the current mappings of a process, before Linux 6.1
 * also those of others. -errno; the caller closes it. */
int loader_open_mappings(const struct loader *l, pid_t pid);

/* Over all CPUs, since loading (our own calibration calls are not in it). 0 or -errno. */
int loader_counts(const struct loader *l, struct gp_counts *sum);

/*
 * The loaded programs' knowledge of calls that began before their probes: registers of threads,
 * and which threads were in one. Used by one thread at a time.
 */

/* As loader_read_regs, by the session's own programs: flags select the threads that were seen. */
int loader_look(struct loader *l, const uint32_t *pids, size_t n, loader_regs_fn fn, void *ctx);

/* A thread that was in a call when its probes came: its end is sent though it makes no call that is
 * seen. 0 or -errno */
int loader_mark_in_flight(struct loader *l, uint32_t tid);
bool loader_is_in_flight(struct loader *l, uint32_t tid);	/* marked, and it has not ended */
void loader_forget_in_flight(struct loader *l, uint32_t tid);

#endif
