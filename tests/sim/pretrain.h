/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pretrain: a training that is done right, or with faults planted on order, each of a kind that a
 * profiler should find. What each fault took is written down by the program itself (pretrain_marks),
 * so that tests compare with what happened and not with what was planned: to the file that
 * PRETRAIN_MARKS names.
 *
 * Right: batches are read ahead, copied from page-locked memory on a stream of their own; the host is
 * two steps ahead of the device and waits for the step before the last one; gradients are reduced
 * bucket by bucket beside the backward pass.
 *
 * input     batches are read only when they are asked for
 * comm      all gradients are reduced at once, between the backward pass and the optimizer
 * sync      after each layer of the forward pass, and of each step, the host waits for the device and
 *           then looks at what came out
 * pageable  batches are in ordinary memory
 */
#ifndef PRETRAIN_H
#define PRETRAIN_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "nccl_api.h"

enum fault { FAULT_INPUT, FAULT_COMM, FAULT_SYNC, FAULT_PAGEABLE, FAULTS };

extern const char *const pretrain_faults[FAULTS];

enum { PRETRAIN_LAYERS = 16, PRETRAIN_AHEAD = 2 };

struct pretrain {
	uint64_t steps;
	bool faults[FAULTS];
};

/* ---- marks: when a fault was at work ----------------------------------------------------------- */

uint64_t marks_now_ns(void); /* CLOCK_MONOTONIC */
void marks_add(enum fault fault, uint64_t start_ns); /* until now */

/* As JSON: {"pid": P, "run_delay_ns": R, "marks": [{"fault": "input", "start": ns, "end": ns}]};
 * run_delay_ns: how long this thread was ready to run and had no CPU. False: it was said why not. */
bool marks_write(const char *path);

/* ---- the loader -------------------------------------------------------------------------------- */

enum { LOADER_BYTES = 64 << 20, LOADER_SLOTS = 2 };

struct loader;

struct loader *loader_start(const struct pretrain *plan); /* reads at once; calls no CUDA */
void loader_allocate(struct loader *loader); /* where the batches go */
void *loader_next(struct loader *loader); /* waits for it; it stays until the next but one */
void loader_end(struct loader *loader);

/* ---- a step ------------------------------------------------------------------------------------ */

struct trainer;

void trainer_warm_up(void); /* as programs do that are measured: setting up goes into a frequent call */
struct trainer *trainer_new(const struct pretrain *plan, struct loader *loader);
void trainer_step(struct trainer *trainer);
void trainer_free(struct trainer *trainer); /* waits for the device */

/* Ends the program unless it succeeded. */
void pretrain_check(int error, const char *what);
#define CHECK(call) pretrain_check((call), #call)

#endif
