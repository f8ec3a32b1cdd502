/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The records of one process's helper -> typed events in the host's time. Bytes from an
 * untrusted process are checked here; the events are trusted. Records wait until the clock's
 * next reading gives their times: bounded, and then they go out with the times known.
 *
 * Only claims of a record about its own process are believed: the pid is the caller's, devices
 * are the process's own, a number that is no thread of it becomes tid 0 (helper_threads), and a
 * future time is invalid.
 */
#ifndef SOURCE_HELPER_DECODE_H
#define SOURCE_HELPER_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "event/event.h"
#include "gpuprof/work.h"
#include "source/helper/threads.h"

struct helper_decoder;

struct helper_counts {
	uint64_t received;	/* records */
	uint64_t works;		/* of them that went out as works, also as invalid ones */
	uint64_t invalid;	/* too short, of an impossible time, of an unknown name */
	uint64_t unknown;	/* kinds of a later version */
	uint64_t whole_graphs;	/* of works: graphs without records of their nodes */
	uint64_t dropped;	/* works that CUPTI or the helper reports as lost */
	uint64_t no_time;	/* of these, works that came without a time */
	uint64_t no_thread;	/* records of numbers that are no thread of the process */
	uint64_t clock_steps;	/* times that the clock was set */
};

/* clock_offset_ns: the offset of the target's time namespace to CLOCK_MONOTONIC. threads: maps the
 * numbers of records to threads and outlives the decoder; NULL: numbers are the host's. NULL +
 * errno. */
struct helper_decoder *helper_decoder_new(pid_t pid, int64_t clock_offset_ns,
					  struct helper_threads *threads);
void helper_decoder_free(struct helper_decoder *d);

/* Records read now were written before that; 0 (at first): unknown. */
void helper_decoder_now(struct helper_decoder *d, uint64_t now_ns);

/* One record as ring_reader_read hands it on; events go to sink as soon as their times are known. 0
 * or sink's error, or -ENOMEM. */
int helper_decode(struct helper_decoder *d, uint16_t kind, const void *payload, size_t len,
		  const struct event_sink *sink);

/* Every record of works and calls that ended before has been pushed, provided that the helper
 * flushes CUPTI before it reads the clock. The host's time; 0: unknown. */
uint64_t helper_decoder_complete_ns(const struct helper_decoder *d);

/* Nothing more will come: waiting records go out by the existing readings. */
int helper_decode_end(struct helper_decoder *d, const struct event_sink *sink);

/* Up to when (of the host's clock) device activity is known, or known to be missing; 0: nothing
 * came yet. */
uint64_t helper_decoder_known_ns(const struct helper_decoder *d);

void helper_decoder_counts(const struct helper_decoder *d, struct helper_counts *out);

#endif
