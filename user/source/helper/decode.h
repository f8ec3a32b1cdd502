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
#include "gpuprof/ring.h"
#include "gpuprof/work.h"

/*
 * The threads of a process that has a helper, from procfs: which thread of the host a number in
 * the helper's records means (in a pid namespace threads have numbers of their own), its birth,
 * its name, until when it was seen. The numbers come from an untrusted process: a number that no
 * thread of it has or had is no thread. Knows nothing of records.
 */
#define HELPER_THREADS_MAX 65536	/* known of one process, ended ones too */
/* of these, that were never seen: they may have ended before */
#define HELPER_THREADS_GUESSED 1024

struct helper_thread {
	uint32_t tid;		/* the host's */
	uint32_t own_tid;	/* as the process's namespace has it */
	uint64_t birth_ns;	/* to the clock tick; 0: unknown */
	uint64_t gone_ns;	/* it was seen last, and no more since; 0: it goes on */
	uint64_t walk;		/* that met it last */
	char comm[16];		/* "": unknown */
};

struct helper_threads;

/* own_pid: the process's, as it sees itself; another than pid means a pid namespace. NULL +
 * errno. */
struct helper_threads *helper_threads_new(pid_t pid, pid_t own_pid);
void helper_threads_free(struct helper_threads *t);

/* Reads the present threads. 0 or -ENOMEM; a process that is gone has no threads. */
int helper_threads_look(struct helper_threads *t, uint64_t now_ns);

/* A thread known from another source, also if it has ended. 0 or -ENOMEM. */
int helper_threads_add(struct helper_threads *t, const struct helper_thread *thread);

/* The threads by the host's number; NULL: no such. Valid until the next call. */
const struct helper_thread *helper_threads_of(const struct helper_threads *t, uint32_t tid);

struct helper_decoder;

struct helper_counts {
	uint64_t received;	/* records */
	uint64_t works;		/* of them that went out as works, also as invalid ones */
	uint64_t invalid;	/* too short, of an impossible time, of an unknown name */
	uint64_t unknown;	/* kinds of a later version */
	uint64_t dropped;	/* works that CUPTI or the helper reports as lost */
	uint64_t no_time;	/* of these, works that came without a time */
	uint64_t no_thread;	/* records of numbers that are no thread of the process */
	uint64_t clock_steps;	/* times that the clock was set */
	uint64_t clock_replaced;	/* times that another clock took its place */
	uint64_t tick_ps;	/* of the latest that is not CUPTI's own; 0: there was none */
	uint64_t no_launch;	/* works of graphs: of an unknown launch */
	uint64_t unplaced;	/* of invalid: the clock was set or replaced while they ran */
};

/* clock_offset_ns: the offset of the target's time namespace to CLOCK_MONOTONIC. threads: maps the
 * numbers of records to threads and outlives the decoder; NULL: numbers are the host's. NULL +
 * errno. */
struct helper_decoder *helper_decoder_new(pid_t pid, int64_t clock_offset_ns,
					  struct helper_threads *threads);
void helper_decoder_free(struct helper_decoder *d);

/* Records read now were written before that; 0 (at first): unknown. wall_ns: CLOCK_REALTIME then,
 * which CUPTI's own clock shows; 0: unknown. */
void helper_decoder_now(struct helper_decoder *d, uint64_t now_ns, uint64_t wall_ns);

/* The ring's head before records are read. Works that began before the helper was awake are
 * invalid; those of graphs have no launch in a session of CUPTI that numbers them wrongly. */
void helper_decoder_head(struct helper_decoder *d, const struct gp_ring_head *head);

/* One record as ring_reader_read hands it on; events go to sink as soon as their times are known. 0
 * or sink's error, or -ENOMEM. */
int helper_decode(struct helper_decoder *d, uint16_t kind, const void *payload, size_t len,
		  const struct event_sink *sink);

struct helper_progress {	/* times of the host */
	/* Every record of works and calls that ended before has been pushed, provided that the
	 * helper flushes CUPTI before it reads the clock; 0: unknown. */
	uint64_t complete_ns;
	/* up to when device activity is known, or known to be missing; 0: nothing came yet */
	uint64_t known_ns;
	struct helper_counts counts;
};
struct helper_progress helper_decoder_progress(const struct helper_decoder *d);

/* Nothing more will come: waiting records go out by the existing readings. */
int helper_decode_end(struct helper_decoder *d, const struct event_sink *sink);

#endif
