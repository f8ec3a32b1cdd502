/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The model of a session: takes events in arrival order, keeps per-function statistics and one
 * time book per thread, all in bounded memory (grows with threads, functions and shapes, never
 * with events). Books are exact: the sum of a thread's buckets is its wall time, to the
 * nanosecond, whatever the events are.
 *
 * Used by one thread (the engine). Tables are made of its snapshots (model/snapshot.h); data
 * read here is const and valid until the next push or free.
 *
 * Sources push EVENT_START first, EVENT_STOP before events that reach beyond it, and a thread's
 * EVENT_TAIL before its EVENT_OPEN; any other order is survived and counted.
 */
#ifndef MODEL_MODEL_H
#define MODEL_MODEL_H

#include "event/event.h"
#include "model/model_processes.h"

struct model;

struct model *model_new(const struct funcs *funcs);	/* funcs may grow meanwhile; NULL + errno */
void model_free(struct model *m);

/* One event; a contradictory one is counted (model_counts) and never trusted. 0 or -ENOMEM. */
int model_push(struct model *m, const struct event *ev);

/* Nothing more will come: works whose launch is still awaited are booked without it. 0 or
 * -ENOMEM. */
int model_finish(struct model *m);

/* From the beginning on: snapshots are taken while it goes on. Device activity is complete up to
 * about a second ago: they have it up to there (DEVICE_BOOK_SETTLED), kernels and copies as
 * they arrived. */
void model_use_intervals(struct model *m);

/* From the beginning on: kernels are counted by their launches, too (snapshot.kernel_configs). */
void model_use_launches(struct model *m);

/* Before the first event: books of devices and threads know their time by bins (ledger/bins.h), and
 * those of memory what lived when (facts/memory_line.h). */
void model_use_bins(struct model *m);

/* Before the first event: these take events, too. 0 or -ENOMEM. */
struct consumers;
int model_use_consumers(struct model *m, const struct consumers *list);

/* ---- reading ---------------------------------------------------------------------------- */

const struct funcs *model_funcs(const struct model *m);

struct model_session {
	uint64_t start_ns;	/* of the session; 0: no event yet */
	uint64_t stop_ns;	/* 0: goes on */
};

struct model_counts {		/* since the session began */
	uint64_t received[EVENT_KIND_END];	/* [0]: unknown kinds */
	uint64_t invalid[EVENT_KIND_END], skew[EVENT_KIND_END], late[EVENT_KIND_END];
	uint64_t unfollowed[EVENT_KIND_END];	/* not received: of too many (MODEL_*_MAX) */
	uint64_t matched, orphan;	/* works that were booked, with and without their launch */
	uint64_t launches, met;	/* that CUPTI recorded; of these, that any work met */
	uint64_t captured;	/* more, which were captured; of those that met none: */
	/* that may meet one yet; kernels that are over; of these, those that ended with their
	 * process */
	uint64_t awaited, unmet_lost, unmet_ended;
	uint64_t unrecorded;	/* launching calls while no helper recorded works */
	uint64_t missing;	/* others without a record of CUPTI, of all processes' */
	/* calls that CUPTI alone recorded; those of them in books */
	uint64_t cupti_calls, cupti_calls_booked;
	/* invalid works, only because they ran before the session or after it */
	uint64_t outside;
	uint64_t lost;		/* holes in threads' numbers */
	uint64_t late_ns;	/* came after books of threads and devices were settled: in none */
	uint64_t abandoned;
	/* works that were launched so long ago that their ranges are unknown */
	uint64_t unplaced;
	uint64_t unseen_frees;	/* of memory that was allocated again */
	uint64_t more;		/* calls whose shape or result was not kept apart */
	/* times of works may be off by as much, a process's all alike */
	uint64_t clock_error_ns;
};
void model_counts(const struct model *m, struct model_counts *out);

struct model_reading {		/* the latest EVENT_COUNT of a source and kind */
	const char *source, *kind;
	uint64_t hits, received, lost;
};

#endif
