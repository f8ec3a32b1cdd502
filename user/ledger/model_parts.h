/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the files of the model do for each other (ledger/model_state.h says who they are); for no other
 * file. Where nothing else is said they return 0 or -ENOMEM.
 */
#ifndef LEDGER_MODEL_PARTS_H
#define LEDGER_MODEL_PARTS_H

#include "join/join.h"
#include "ledger/model.h"

struct process;
struct thread;

/* model.c: the thread that a numbered event belongs to, with its book; NULL on ENOMEM. */
struct thread *model_find_thread(struct model *m, const struct event *ev, uint64_t first_ns);
void model_note_found(struct model *m, unsigned int kind, unsigned int found);	/* BOOK_* bits */
void model_see_time(struct model *m, uint64_t ns);

int off_push(struct model *m, const struct event *ev);	/* OFF */
int told_push(struct model *m, const struct event *ev);	/* TOLD */

/* model_ranges.c */
int range_push(struct model *m, const struct event *ev);	/* RANGE; or -EINVAL */
uint32_t range_innermost(const void *ranges, uint32_t tid, uint64_t ns);
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
int node_push(struct model *m, const struct event *ev);	/* NODE */
int graph_settle(struct model *m, uint64_t horizon_ns);

/* What devices did. */
int device_init(struct model *m);	/* 0 or -errno */
void device_free(struct model *m);
int device_push(struct model *m, const struct event *ev);	/* those of devices; or -EINVAL */

int device_watermark(struct model *m, const struct event *ev);	/* all that ended before has come */
void device_cut(struct model *m);

/* A call that was pushed into t's book, whose cursor was cursor_ns before: it goes into t's timeline. */
void device_note_call(struct model *m, struct thread *t, uint64_t cursor_ns,
		      const struct event *ev, unsigned int class);

/* devices_finish and devices_fold. The device of into of which that one will be a part, MEMORY_NO_DEVICE: none. */
int device_finish(struct model *m, uint32_t pid, bool *done);
int device_fold(struct model *m, uint32_t pid, uint32_t into);
uint32_t device_heir(struct model *m, uint32_t pid, uint32_t device, uint32_t into);

/* Adds what only the process's own books count. */
void model_add_counts(const struct process *p, struct model_counts *to);

/* UNSEEN; 0, -EINVAL or -ENOMEM. A call of that process that began at start_ns. */
int unseen_push(struct model *m, const struct event *ev);
/* Its ring has told its end: if it launched after that, what came of it is unknown. 0 or -ENOMEM. */
int unseen_note_end(struct model *m, struct process *p);
int unseen_note_exit(struct model *m, struct process *p, const struct thread *t);	/* of t alone */
void unseen_note_call(struct model *m, const struct thread *t, const struct interval *call, unsigned int class);

int sample_push(struct model *m, const struct event *ev);	/* SAMPLE, USER, FAULT */

/* What processes allocate. 0, -ENOMEM or -EINVAL. */
int memory_note_call(struct model *m, struct process *p, const struct event *ev,
		     const struct func *fn);
/* A call that worked, of which no more is known. 0 or -ENOMEM. */
int memory_note_told(struct model *m, struct process *p, uint16_t func, uint64_t end_ns);
int memory_push(struct model *m, const struct event *ev);
int memory_expect_records(struct model *m, uint32_t pid);	/* a helper tells of it */
int memory_watermark(struct model *m, uint64_t ns);
int memory_exec(struct process *p, uint64_t ns);	/* all that it had is gone */
void memory_cut(struct model *m);
void memory_note_unseen(const struct model *m, struct process *p, const struct event *ev);
bool memory_is_incomplete(const struct model *m, const struct process *p);

/* Found, or made; NULL on ENOMEM. */
struct process *who_process(struct model *m, uint32_t pid);
struct process *who_known_process(const struct model *m, uint32_t pid);	/* or NULL */
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
void who_drop_thread(struct model *m, struct thread *t);	/* from all but the lists */
void who_drop_process(struct model *m, struct process *p);
/* Threads and processes that ended before now, as an interval does: but whom a helper may yet ask for. */
void who_drop_ended(struct model *m, uint64_t now_ns);
void who_free(struct model *m);

/* A thread has ended: threads that ended more than JOIN_WINDOW_NS ago forget their timelines, and
 * where there are more than MODEL_THREADS they become one for each process. is_process: so has its
 * process, and those that ended become one where model_processes.h says so. 0 or -ENOMEM. */
int past_age(struct model *m, bool is_process);

/* EXIT of a thread of it, IDENTITY: when all of it has ended, as far as these tell. 0 or -ENOMEM. */
int past_note_exit(struct model *m, const struct thread *t, const struct event *ev);
int past_note_fact(struct model *m, struct process *p, const struct event *ev);

#endif
