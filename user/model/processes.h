/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A model's processes and threads: by handle (event/registry.h) and tid, made when first named;
 * a thread is replaced when the kernel reused its number. Consumers' data of each lies in it.
 * For the model's consumers (model.c, *_events.c, visibility.c); readers have model/snapshot.h.
 */
#ifndef MODEL_PROCESSES_H
#define MODEL_PROCESSES_H

#include <stdlib.h>

#include "base/map.h"
#include "base/pairs.h"
#include "facts/consumer.h"
#include "join/askers.h"
#include "join/scopes.h"
#include "model/call_origins.h"
#include "model/model.h"
#include "model/silences.h"
#include "ledger/sampled.h"
#include "ledger/timeline.h"
#include "ledger/unseen.h"

struct process {
	struct model_process info;
	char *cmdline;
	struct pairs identity;
	bool has_exact_start;		/* else info.start_ns may be off by a clock tick */
	struct intervals unarmed;
	struct ranges *ranges;		/* NULL: it has none */
	struct graphs *graphs;		/* NULL: it has captured none */
	struct unseen unseen;		/* of its devices */
	struct silences silences;	/* of its helper */
	struct memory_book *memory;	/* NULL: nothing is known to be allocated */
	bool records_memory;		/* a helper reports it */
	uint64_t record_ns;		/* of memory, the latest */
	bool misses[UNSEEN_END];	/* records of memory, by why */
	uint64_t missed_ns, missed_end_ns;	/* since when and until when some were lost */
	bool missed_before;		/* the capture began: memory live then may be wrong */
	bool allocs_blindly;		/* on an unknown device: a record would name it */
	bool lost_calls;		/* of its threads that are no more */
	bool past_misses;		/* one that it stands for did (memory_is_incomplete) */
	struct map early_records;	/* tid -> as thread.record_ns, while it was unknown */
	size_t threads, living;		/* in model.threads; of them, that have not ended */
	struct thread *past;		/* stands for those that ended long ago; NULL: none */
	uint64_t past_unarmed_ns;	/* before `unarmed`, and of those that it stands for */
	bool first_ended;		/* its first thread, which ends it */
	uint64_t last_exit_ns;		/* of its threads; 0: none has ended */
	uint64_t helper_end_ns;		/* EVENT_ENDED_NS of its helper's ring; 0: none came */
	uint64_t recorded_ns;		/* EVENT_RECORDED_NS before it, or helper_end_ns */
	uint64_t launched_before_ns;	/* the last time before the session; 0: never */
	uint64_t gone_ns;		/* all of it had ended by then, as was found out; 0: not */
	bool folds, is_settled;		/* as was found last; nothing of it comes or waits */
	size_t index;			/* in model.processes */
	struct scopes scopes;		/* of its threads */
	struct askers askers;		/* that PyTorch's workers work for */
	struct map streams;		/* handle -> number (join/launch.h); the last one found: */
	uint64_t last_stream, last_number;
	struct call_origins origins;
	uint64_t backward_ns, backward_end_ns;	/* PyTorch's last backward pass that has ended */
	struct call_cache works_cache;	/* rows of info.calls that works were added to */
};

struct thread {
	struct process *process;
	struct call_cache *cache;	/* NULL: no call yet, or ended */
	uint32_t tid;
	uint64_t number;		/* of no other thread of the model; grows */
	bool has_book;			/* book is initialised */
	bool drives;			/* has made a call */
	bool records_wait;		/* CUPTI's, for calls of it: they may */
	bool ended;
	bool is_birth_exact;
	uint64_t birth_ns;		/* 0: unknown */
	char comm[16];
	struct thread_past *past;	/* it stands for others, and has no book; NULL: it is one */
	struct timeline timeline;
	struct sampled sampled;
	uint64_t cupti_call_ns;		/* end of its book's last call that CUPTI alone recorded */
	uint64_t record_ns;	/* end of its latest call that CUPTI recorded */
	uint16_t open_stream;		/* number of the stream of the call that it was in last */
	uint64_t off_read_ns;		/* up to there a reading has counted its wait; 0: none */
	uint64_t stopped_ns;		/* then it was stopped; 0: not when it was read last */
	uint64_t lost_seen;		/* of its calls, by what follows graphs */
	struct thread_call {
		uint64_t start_ns;
		uint16_t func;
		bool is_open, before;	/* before: it began before it could be seen */
	} last_open;			/* that returned after the session's end */
	struct book book;
};

static inline bool process_has_ended(const struct process *p)
{
	return p->info.exit_ns || pairs_get(&p->identity, "ended");
}

/* Threads that ended long ago, of one process: their books added up. */
struct thread_past {
	uint64_t threads;
	struct book_sum sum;	/* open_ns: 0; close_ns: all their wall time */
};

/* Of an event, found or made; NULL on ENOMEM. One that is made ends the process that had its
 * pid. */
struct process *processes_get(struct model *m, const struct event *ev);
struct thread *threads_get(struct model *m, const struct event *ev);

/* By handle, and tid; or NULL. */
struct process *processes_find(const struct model *m, uint32_t process);
struct thread *threads_find(const struct model *m, uint32_t process, uint32_t tid);

/* Its number is another thread's now, born at birth_ns (0: unknown); its book is closed there. */
struct thread *threads_renew(struct model *m, const struct thread *old, uint64_t birth_ns);

void processes_free(struct model *m);

/*
 * EXIT. When a thread exits, threads that exited more than JOIN_WINDOW_NS ago forget their
 * timelines, and where there are more than MODEL_THREADS they become one for each process; with
 * its process, processes that exited become one by model_processes.h's rule.
 */
extern const struct consumer retention_consumer;

#endif
