/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The insides of the model, shared by model.c (events), model_who.c (processes and threads),
 * model_past.c (those that ended), model_graphs.c (graphs), model_told.c (calls without
 * probes), model_device.c (what devices did, and why they did nothing), model_unseen.c (when that is not known),
 * model_samples.c (what they tell of themselves), model_off.c (what the scheduler did), model_ranges.c
 * (ranges) and model_read.c (reading); for no other file.
 */
#ifndef LEDGER_MODEL_STATE_H
#define LEDGER_MODEL_STATE_H

#include "base/map.h"
#include "base/pairs.h"
#include "base/vec.h"
#include "event/stacks.h"
#include "join/graphs.h"
#include "join/join.h"
#include "facts/kernel_configs.h"
#include "facts/memory_calls.h"
#include "ledger/model.h"
#include "ledger/model_parts.h"
#include "facts/offcpu.h"
#include "facts/samples.h"
#include "ledger/timeline.h"
#include "ledger/unseen.h"

struct process {
	struct model_process info;
	char *cmdline;
	struct pairs identity;
	uint64_t exact_ns;		/* its birth as BPF tells it; 0: info.start_ns may be off */
	struct intervals unarmed;
	struct ranges *ranges;		/* NULL: it has none */
	struct graphs *graphs;		/* NULL: it has captured none */
	struct unseen unseen;		/* of its devices */
	struct memory_book *memory;	/* NULL: nothing is known to be allocated */
	bool records_memory;		/* a helper tells of it */
	uint64_t record_ns;		/* of memory, the latest */
	bool misses[UNSEEN_END];	/* records of memory, by why */
	uint64_t missed_ns, missed_end_ns;	/* since when and until when some were lost */
	bool missed_before;		/* the capture began: what lived then may be wrong */
	bool allocs_blindly;		/* a call has allocated somewhere: a record would tell where */
	bool lost_calls;		/* of its threads that are no more */
	bool past_misses;		/* one that it stands for did (memory_is_incomplete) */
	size_t threads, living;		/* in model.threads; of them, that have not ended */
	struct thread *past;		/* stands for those that ended long ago; NULL: none */
	uint64_t past_unarmed_ns;	/* of those that it stands for */
	bool first_ended;		/* its first thread, which ends it */
	uint64_t last_exit_ns;		/* of its threads; 0: none has ended */
	uint64_t told_end_ns;		/* as its helper's ring told (EVENT_ENDED_NS); 0: nobody did */
	uint64_t gone_ns;		/* all of it had ended by then, as was found out; 0: not */
	bool folds;			/* as model_past.c found it last */
	bool is_settled;		/* nothing of it will come, and nothing of it waits */
	size_t index;			/* in model.processes */
};

struct thread {
	struct process *process;
	struct call_cache *cache;	/* NULL: no call yet, or ended */
	uint32_t tid;
	bool has_book;			/* book is initialised */
	bool drives;			/* has made a call */
	bool ended;
	bool over;			/* in an interval before: it is only asked what it did then */
	uint64_t birth_ns;		/* 0: unknown */
	char comm[16];
	struct thread_past *past;	/* it stands for others, and has no book; NULL: it is one */
	struct timeline timeline;
	uint64_t told_ns;		/* end of the last of its calls that CUPTI alone told and its book has */
	uint64_t lost_seen;		/* of its calls, by what follows graphs */
	struct book book;
};

static inline void thread_ends(struct thread *t)
{
	t->process->living -= !t->ended;
	t->ended = true;
	free(t->cache);
	t->cache = NULL;
}

/* Threads that ended long ago, of one process: their books added up. */
struct thread_past {
	uint64_t threads;
	struct book_sum sum;	/* open_ns: 0; close_ns: all their wall time */
};

struct reading {
	struct model_reading info;
	char *source, *kind;
};

struct model {
	const struct funcs *funcs;
	struct model_session session;
	uint64_t now_ns;		/* the latest time that an event named */
	uint64_t last_key;		/* of the thread that was found last */
	struct thread *last;		/* NULL: none */
	VEC(struct process *) processes;
	VEC(struct thread *) threads;
	struct process *past;		/* stands for those that ended; NULL: none */
	size_t aged;			/* the thread that past_age looks at next */
	size_t ended;			/* processes, since past_age looked at them */
	struct map by_pid, by_tid;	/* the newest process of a pid, thread of pid:tid */
	struct pairs facts;
	bool without_probes;		/* one of them: calls are those that CUPTI records */
	VEC(struct reading) readings;
	struct stacks stacks;
	struct offcpu offcpu;
	struct join *join;
	struct devices *devices;
	struct samples samples;
	bool intervals;
	uint64_t told_ns;		/* the latest watermark */
	struct timeline_room timelines;
	struct memory_room memory;
	struct graphs_room graphs;
	uint8_t roles[FUNCS_MAX];	/* enum graph_role of functions, + 1; 0: not asked for yet */
	struct memory_call memory_calls[FUNCS_MAX];	/* of functions; op + 1, 0 as before */
	bool by_launch;
	struct kernel_configs kernel_configs;
	struct kernel_configs pending_configs;	/* whose call, or its range, may still become known */
	struct model_counts counts;	/* what no book and no process keeps */
};

#endif
