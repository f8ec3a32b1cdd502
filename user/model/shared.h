/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared by the model's consumers and read by snapshots: the session and its times, the
 * registry of processes and threads, the join, the books of devices, counts. State of one
 * consumer alone is in a state of its own (facts/consumer.h).
 */
#ifndef MODEL_SHARED_H
#define MODEL_SHARED_H

#include <stdlib.h>

#include "base/map.h"
#include "base/vec.h"
#include "catalog/catalog.h"
#include "event/stacks.h"
#include "facts/consumer.h"
#include "facts/memory_book.h"
#include "facts/notes.h"
#include "facts/ranges.h"
#include "facts/samples.h"
#include "join/join.h"
#include "ledger/devices.h"
#include "model/model.h"
#include "model/processes.h"

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
	struct process *last_process;	/* that processes_get found last; NULL: none */
	VEC(struct process *) processes;
	VEC(struct thread *) threads;
	struct process *past;		/* stands for those that ended; NULL: none */
	uint64_t numbers;		/* of threads so far */
	size_t aged;			/* the thread that retention_age looks at next */
	size_t ended;			/* processes, since retention_age looked at them */
	struct map by_process, by_tid;	/* handle -> process; handle, tid -> its newest thread */
	struct map by_pid;		/* -> the process that was made last */
	struct pairs facts;
	struct notes notes;
	bool without_probes;		/* one of them: calls are those that CUPTI records */
	VEC(struct reading) readings;
	struct stacks stacks;
	struct join *join;
	struct graph_events *graphs;	/* state of graphs_consumer */
	struct devices *devices;
	struct devices_divide divide;	/* of gaps of their books */
	struct samples samples;
	bool intervals, by_launch, has_bins;
	uint64_t watermark_ns;		/* the latest watermark */
	struct timeline_room timelines, sampled;
	uint8_t roles[FUNCS_MAX];	/* enum func_role of functions, + 1; 0: not looked up yet */
	size_t bins_left;		/* books of threads that may still have bins */
	struct consumer_states consumers;
	struct model_counts counts;	/* counts of no book and no process */
};

static inline void thread_ends(struct thread *t)
{
	t->process->living -= !t->ended;
	t->ended = true;
	free(t->cache);
	t->cache = NULL;
}

/* The call that it has not returned from, when the session ended if it has. */
static inline struct thread_call thread_open_call(const struct thread *t)
{
	const struct book *b = &t->book;

	if (t->last_open.is_open)
		return t->last_open;
	return (struct thread_call){ b->open_start, b->open_func,
				     b->has_open && !b->is_off && !b->hole &&
					     b->open_start < b->stop, b->before };
}

static inline void model_see_time(struct model *m, uint64_t ns)
{
	if (ns > m->now_ns)
		m->now_ns = ns;
}

/* BOOK_* bits that pushing an event found. */
static inline void model_note_found(struct model *m, unsigned int kind, unsigned int found)
{
	m->counts.invalid[kind] += !!(found & BOOK_INVALID);
	m->counts.skew[kind] += !!(found & BOOK_SKEW);
	m->counts.late[kind] += !!(found & BOOK_LATE);
}

/* Looked up once for each function: by its name that takes longer than all the rest. */
static inline enum func_role model_role(struct model *m, uint16_t func)
{
	if (!m->roles[func])
		m->roles[func] = (uint8_t)(1 + catalog_role(&m->funcs->v[func]));
	return (enum func_role)(m->roles[func] - 1);
}

/* Adds what only the process's own books count. */
static inline void model_add_counts(const struct process *p, struct model_counts *to)
{
	struct memory_counts memory = { 0 };

	if (p->memory)
		memory_book_counts(p->memory, &memory);
	to->more += p->info.calls.more;
	to->late[EVENT_MEMORY] += memory.late;
	to->unseen_frees += memory.unseen_frees;
	to->unplaced += p->ranges ? ranges_unplaced(p->ranges) : 0;
}

#endif
