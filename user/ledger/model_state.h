/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The insides of the model, shared by model.c (events), model_who.c (processes and threads),
 * model_device.c (what devices did, and why they did nothing), model_unseen.c (when that is not known),
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
#include "ledger/launched.h"
#include "ledger/model.h"
#include "ledger/offs.h"
#include "ledger/samples.h"
#include "ledger/timeline.h"
#include "ledger/unseen.h"

struct process {
	struct model_process info;
	char *cmdline;
	struct pairs identity;
	uint64_t exact_ns;		/* its birth as BPF tells it; 0: info.start_ns may be off */
	struct spans unarmed;
	struct ranges *ranges;		/* NULL: it has none */
	struct graphs *graphs;		/* NULL: it has captured none */
	struct unseen unseen;		/* of its devices */
	struct memory_book *memory;	/* NULL: nothing is known to be allocated */
	bool records_memory;		/* a helper tells of it */
	uint64_t record_ns;		/* of memory, the latest */
	size_t threads;			/* in model.threads */
	struct thread *past;		/* stands for those that ended long ago; NULL: none */
	size_t index;			/* in model.processes */
};

struct thread {
	struct process *process;
	struct tally_cache *cache;	/* NULL: no call yet, or ended */
	uint32_t tid;
	bool has_book;			/* book is initialised */
	bool drives;			/* has made a call */
	bool ended;
	uint64_t birth_ns;		/* 0: unknown */
	char comm[16];
	struct thread_past *past;	/* it stands for others, and has no book; NULL: it is one */
	struct timeline timeline;
	uint64_t lost_seen;		/* of its calls, by what follows graphs */
	struct book book;
};

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
	size_t aged;			/* the thread that who_age looks at next */
	struct map by_pid, by_tid;	/* the newest process of a pid, thread of pid:tid */
	struct pairs facts;
	bool without_probes;		/* one of them: calls are those that CUPTI records */
	VEC(struct reading) readings;
	struct stacks stacks;
	struct offs offs;
	struct join *join;
	struct devices *devices;
	struct samples samples;
	bool intervals;
	uint64_t told_ns;		/* the latest watermark */
	struct timeline_room timelines;
	struct memory_room memory;
	struct graphs_room graphs;
	uint8_t *roles;			/* of functions, + 1; 0: not asked for yet. NULL: of none */
	bool by_launch;
	struct launched launched;
	struct model_counts counts;	/* what no book and no process keeps */
};

/* model.c: the thread that a numbered event belongs to, with its book; NULL on ENOMEM. */
struct thread *model_find_thread(struct model *m, const struct event *ev, uint64_t first_ns);
void model_note_found(struct model *m, unsigned int kind, unsigned int found);	/* BOOK_* bits */
void model_see_time(struct model *m, uint64_t ns);

int off_push(struct model *m, const struct event *ev);	/* OFF */
int told_push(struct model *m, const struct event *ev);	/* TOLD */

/* model_ranges.c */
int range_push(struct model *m, const struct event *ev);	/* RANGE; or -EINVAL */
void range_work(const struct model *m, const struct event *work, const struct launch *launch);
void range_settle(const struct model *m, uint32_t pid, uint64_t horizon_ns);
void range_exit(struct thread *t, uint64_t end_ns);
void range_stop(struct model *m, uint64_t end_ns);
void range_finish(struct model *m);	/* nothing more will come */
void range_cut(struct model *m, uint64_t now_ns);

/* model_graphs.c: a call that returned, a work. 0 or -ENOMEM. */
int graph_note_call(struct model *m, struct thread *t, const struct event *ev,
		    const struct func *fn);
int graph_note_work(struct model *m, const struct event *work, const struct launch *launch);
void graph_settle(struct model *m, uint64_t horizon_ns);

/* What devices did. */
int device_init(struct model *m);	/* 0 or -errno */
void device_free(struct model *m);
int device_push(struct model *m, const struct event *ev);	/* those of devices; or -EINVAL */

void device_watermark(struct model *m, uint64_t ns);	/* all that ended before has come */
void device_cut(struct model *m);

/* A call that was pushed into t's book, whose cursor was cursor_ns before: it goes into t's timeline. */
void device_note_call(struct model *m, struct thread *t, uint64_t cursor_ns,
		      const struct event *ev, unsigned int class);

/* Adds what only the process's own books count. */
void model_add_counts(const struct process *p, struct model_counts *to);

/* UNSEEN; 0, -EINVAL or -ENOMEM. A call of that process that began at start_ns. */
int unseen_push(struct model *m, const struct event *ev);
void unseen_note_call(struct model *m, const struct process *p, uint64_t start_ns, unsigned int class);

int sample_push(struct model *m, const struct event *ev);	/* SAMPLE, USER, FAULT */

/* What processes allocate. 0, -ENOMEM or -EINVAL. */
int memory_note_call(struct model *m, struct process *p, const struct event *ev,
		     const struct func *fn);
int memory_push(struct model *m, const struct event *ev);
int memory_expect_records(struct model *m, uint32_t pid);	/* a helper tells of it */
int memory_watermark(struct model *m, uint64_t ns);
int memory_exec(struct process *p, uint64_t ns);	/* all that it had is gone */
void memory_cut(struct model *m);

/* Found, or made; NULL on ENOMEM. */
struct process *who_process(struct model *m, uint32_t pid);
const struct process *who_known_process(const struct model *m, uint32_t pid);	/* or NULL */
struct thread *who_thread(struct model *m, uint32_t pid, uint32_t tid);
struct thread *who_known_thread(const struct model *m, uint32_t pid, uint32_t tid); /* or NULL */

/*
 * Process pid was born at exact_ns, or (that 0) near start_ns, as somebody says. If the one that is
 * known was born before, the number is used again: from now on it means a new process. 0, -ENOMEM,
 * or -ESTALE: a younger one is known, nothing changed.
 */
int who_meet_process(struct model *m, uint32_t pid, uint64_t start_ns, uint64_t exact_ns);

/* The same for a thread, born at birth_ns (0: unknown); the old one's book is closed there. */
struct thread *who_new_thread(struct model *m, const struct thread *old, uint64_t birth_ns);

/* Two readings of one birth (BPF: exact; procfs: to the clock tick) differ by less. */
#define WHO_SAME_BIRTH_NS 20000000ull
enum who_birth { BIRTH_SAME, BIRTH_NEWER, BIRTH_OLDER };
enum who_birth who_compare_births(uint64_t known_ns, uint64_t said_ns);

uint64_t who_start_ns(const struct model *m, uint32_t pid);	/* 0: unknown */
uint64_t who_exit_ns(const struct model *m, uint32_t pid);	/* 0: it goes on, or nobody knows it */
/* A thread has ended: threads that ended more than JOIN_WINDOW_NS ago forget their timelines, and
 * where there are more than MODEL_THREADS they become one for each process. 0 or -ENOMEM. */
int who_age(struct model *m);
void who_drop_ended(struct model *m);	/* threads and processes that ended */
void who_free(struct model *m);

#endif
