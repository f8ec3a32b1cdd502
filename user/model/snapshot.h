/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An immutable picture of a model: all that tables, findings and the words around them are made of,
 * with the books closed at one time. Views read snapshots only, so that the model may go on
 * meanwhile. What came between two of them is their difference. The table of functions and the
 * texts of stacks are the model's, which must live as long.
 */
#ifndef MODEL_SNAPSHOT_H
#define MODEL_SNAPSHOT_H

#include "base/map.h"
#include "base/pairs.h"
#include "facts/consumer.h"
#include "facts/kernel_configs.h"
#include "facts/notes.h"
#include "facts/ranges.h"
#include "event/stacks.h"
#include "facts/memory_book.h"
#include "facts/memory_line.h"
#include "facts/offcpu.h"
#include "facts/ops.h"
#include "ledger/devices.h"
#include "model/model.h"

struct snapshot_process {	/* as struct model_process */
	uint32_t process, pid;
	char comm[16];
	const char *cmdline;
	uint64_t start_ns, exec_ns, exit_ns;
	uint64_t past;
	uint64_t children;
	VEC(struct model_child) child;
	struct call_stats calls;
	struct pairs identity;
	bool has_ended, has_memory;	/* by the session's end; something is known of its memory */
	bool is_gone;			/* by the time of the report. The reporter's */
	bool memory_incomplete;		/* records of it were lost: bytes may be wrong, for good */
	VEC(struct memory_sums) memory;
	struct memory_line *memory_line;	/* up to now_ns; NULL: none, or a difference */
	VEC(struct range_sum) ranges;
	uint64_t unarmed_ns;		/* with a library mapped that was not yet probed */
	bool has_device, in_call;	/* in_call: one of its threads is */
	uint32_t first_device;		/* the lowest ordinal of its devices */
};

struct snapshot_thread {
	uint64_t number;	/* struct thread's */
	size_t process;		/* index of its process */
	uint32_t pid, tid;
	char comm[16];		/* "": unknown */
	const char *process_comm;
	uint64_t process_start_ns;	/* 0: unknown */
	uint64_t birth_ns;	/* 0: unknown */
	bool has_book;		/* it has made at least one call; else what follows is zero */
	bool ended;
	bool open, before;	/* inside func; already before that could be seen */
	bool stopped;		/* when it was read last: by a signal or a debugger */
	uint16_t func;
	uint64_t open_ns;	/* since then; of `before`, since that could be seen */
	struct book_sum book;
	struct bins *bins;	/* of book.ns; NULL: none, or a difference */
	/* Off the CPU outside of calls, and of that stopped, as EVENT_SCHED has it: an estimate. */
	uint64_t sampled_ns, sampled_stopped_ns;
	uint64_t past;		/* so many threads that ended, added up; tid is 0. 0: it is one */
};

struct snapshot_device {	/* of one process, or of those that ended */
	uint32_t process, pid, device;	/* device: the process's own ordinal */
	uint32_t number;		/* as it is shown: the host's, where devices reported it */
	bool has_book;			/* false: it stands for ended processes */
	bool has_facts;
	struct device_facts facts;
	const struct snapshot_host *host;	/* NULL: it has not joined */
	size_t waiting;			/* works that are not settled yet */
	struct device_sum sum;
	uint64_t idle_ns[IDLE_CAUSES];	/* add up to sum.idle_ns */
	struct stalls stalls;
	struct strip strip;		/* close_ns 0: of ended processes, or a difference */
	/* of sum.owned_ns, and from DEVICE_BUCKETS on of idle_ns; NULL as a thread's */
	struct bins *bins;
	struct kernels kernels;
	struct lanes lanes;
	struct copy_stats copies[COPY_DEFAULT + 2][3];
	struct copy_stats sets;
};

struct snapshot_member {	/* a process's device, as one of a host's device */
	uint32_t process, pid, device;
	bool has_book;
	struct share_member share;
};

struct snapshot_host {		/* a device of the host */
	char uuid[DEVICE_UUID_LEN + 8];	/* "": unknown */
	char name[64];
	struct share_sum sum;
	VEC(struct snapshot_member) members;
};

struct snapshot {
	struct model_session session;
	const char *capture;		/* the file that keeps these events, as its user names it;
					 * NULL: none. The reporter's */
	uint64_t since_ns;		/* its sums are of the time from there on: session.start_ns,
					 * or of a difference the earlier one's now_ns */
	uint64_t now_ns;		/* where books that are open were read */
	struct model_counts counts;
	const struct funcs *funcs;
	struct pairs facts;
	struct notes notes;
	VEC(struct model_reading) readings;
	VEC(struct snapshot_process) processes;
	VEC(struct snapshot_thread) threads;
	VEC(struct snapshot_device) devices;
	VEC(struct snapshot_host) hosts;
	struct map by_process, by_device;	/* handle; handle, ordinal -> place + 1 */
	struct samples samples;
	struct stacks stacks;
	struct consumer_states states;		/* see consumer_state */
	const struct offcpu *offcpu;		/* of these */
	const struct ops *ops;
	const struct kernel_configs *kernel_configs;	/* empty without model_use_launches */
	struct strpool *texts;
};

/* Closes open books at now_ns; 0: at the session's end, or at the latest event. NULL + errno. */
struct snapshot *snapshot_take(const struct model *m, uint64_t now_ns);
void snapshot_free(struct snapshot *s);

/*
 * later becomes what came between an earlier snapshot of the model and it. Sums are differences;
 * what lives (open calls and ranges, live memory, who is on a device), the messages, the session's
 * facts and its counts are later's. Threads and processes that had ended before, and did nothing
 * since, leave.
 *
 * Buckets still add up to the wall time. An open book's reading is provisional: time that the
 * earlier one had in a bucket to which it turned out not to belong is taken from the others, and
 * added to counts.late_ns (num_subtract_parts). Extremes: see hist_subtract, lanes_subtract,
 * memory_sums_subtract.
 *
 * Example; a thread in S since 0, snapshots at 10 and 20, S returned at 16: sync 10; then sync 6,
 * other 4, and one call of 16.
 */
void snapshot_subtract(struct snapshot *later, const struct snapshot *earlier);

/* EVENT_FACT: the last value of a key; NULL: none. */
static inline const char *snapshot_fact(const struct snapshot *s, const char *key)
{
	return pairs_get(&s->facts, key);
}

/* Switches were recorded. Older captures name that only where they were not. */
static inline bool snapshot_knows_off_cpu(const struct snapshot *s)
{
	const char *off_cpu = snapshot_fact(s, "off_cpu");

	return off_cpu ? !strcmp(off_cpu, "recorded") : !snapshot_fact(s, "without_probes");
}

/* 0: none, or it is no number. */
static inline uint64_t snapshot_fact_number(const struct snapshot *s, const char *key)
{
	const char *text = snapshot_fact(s, key);

	return text && *text >= '0' && *text <= '9' ? strtoull(text, NULL, 10) : 0;
}

/* By its handle; NULL: unknown. */
static inline const struct snapshot_process *snapshot_process(const struct snapshot *s,
							      uint32_t process)
{
	const struct map_slot *slot = map_find(&s->by_process, process);

	return slot && slot->value ? &s->processes.v[slot->value - 1] : NULL;
}

/* A value of EVENT_IDENTITY, or NULL. */
static inline const char *snapshot_identity(const struct snapshot_process *p, const char *key)
{
	return p ? pairs_get(&p->identity, key) : NULL;
}

/* Of the newest thread of that number: one without a name is called like its process. NULL:
 * unknown. */
const char *snapshot_thread_comm(const struct snapshot *s, uint32_t process, uint32_t tid);

/* Of a process, by its own ordinal; NULL: unknown. */
static inline const struct snapshot_device *snapshot_device(const struct snapshot *s,
							    uint32_t process, uint32_t device)
{
	const struct map_slot *slot = map_find(&s->by_device, (uint64_t)process << 32 | device);

	return slot && slot->value ? &s->devices.v[slot->value - 1] : NULL;
}

/* What was lost of all events since the session began, by the kernel's counters or the holes in
 * threads' numbers, and what those who lost it did not count. */
struct snapshot_losses {
	uint64_t events, lost;
	uint64_t uncounted, unfollowed;		/* of lost */
	bool is_at_least;			/* uncounted is */
	double share;
};
struct snapshot_losses snapshot_losses(const struct snapshot *s);

/* Did more than one process use it? Those that are not watched may have. */
static inline bool snapshot_host_is_shared(const struct snapshot_host *h)
{
	return h && (h->members.n > 1 || h->sum.unwatched_ns);
}

/* Has anything run on it, in the snapshot's time? */
static inline bool snapshot_device_has_worked(const struct snapshot_device *d)
{
	bool has_worked = false;

	for (unsigned int i = 0; i < DEVICE_BUCKETS; i++)
		has_worked |= d->sum.works[i] > 0;
	return d->has_book && d->sum.close_ns > d->sum.open_ns && has_worked;
}

/* As it is shown; of an unknown device its ordinal. */
static inline uint32_t snapshot_device_number(const struct snapshot *s, uint32_t process,
					      uint32_t device)
{
	const struct snapshot_device *d = snapshot_device(s, process, device);

	return d ? d->number : device;
}

#endif
