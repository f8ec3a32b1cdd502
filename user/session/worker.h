/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The worker: one thread for slow operations while a session runs. It watches the targets'
 * mappings from now on, reads the files, attaches, and reports to the engine (EVENT_UNARMED)
 * through a small queue; and it compresses and writes the capture's blocks.
 */
#ifndef SESSION_WORKER_H
#define SESSION_WORKER_H

#include "event/event.h"
#include "probe/recheck.h"
#include "capture/capture_sink.h"
#include "probe/attach.h"
#include "stack/inflight.h"
#include "target/target.h"

struct worker;

/*
 * inside: may be NULL; else the worker's from worker_run to worker_stop. stacks: whose stacks of
 * calls are read, from now on (NULL: none are taken); it must outlive the worker and have no probes
 * yet, since what was sent before is not read. NULL + errno.
 */
struct worker *worker_new(struct attach *a, struct inflight *inside, struct loader *stacks);

/*
 * Before worker_run. Watches pid and its forks from now on, or the host (pid -1). filter: the
 * process whose probes have the kernel's pid filter, 0 when there is none; all others that are
 * seen are its children, and left alone unless follow_children: then the first that uses a
 * library ends the filters (attach_hand_over). The watch is in place when this returns: 0,
 * -ENOMEM, or another -errno, logged.
 */
int worker_watch(struct worker *w, pid_t pid, pid_t filter);

struct worker_rules {		/* which processes it measures, of those that it watches */
	bool follow_children;
	bool only_followed;	/* of the host's processes */
	/* with one watch of the host: processes that begin to match are followed too; no selector:
	 * none are */
	struct target_match match;
	/* with a selector: the process whose probes have the kernel's pid filter, until another is
	 * followed; 0: there is none */
	pid_t filter;
	uint64_t armed_ns;	/* when the probes were made that there are */
};

/* Starts the thread; from now on it owns the attach. keep: the sink of the capture's blocks, or
 * NULL. 0 or -errno, logged unless -ENOMEM. */
int worker_run(struct worker *w, const struct worker_rules *rules, struct capture_sink *keep);

struct worker_facts {
	int fd;			/* readable when events wait */
	uint64_t stacks_received[GP_KINDS];	/* records of the ring `stacks` so far, by kind */
	/* after worker_stop: a process mapped a library and exited before that could be probed */
	bool missed;
	uint8_t outcomes[GP_ROWS_MAX];	/* of rows, of all files together: PLAN_* bits */
	unsigned int noted;	/* how often outcomes were set */
	struct attach_launches launches;
};

struct worker_facts worker_facts(struct worker *w);	/* engine, at any time */
/* engine; 0 or the sink's error */
int worker_pump(struct worker *w, const struct event_sink *sink);

/* A wish that launches up to a part have probes, of one who knew `now`: forgotten if a process has
 * brought all back since (probe/attach.h). stays: none may, from then on. Engine, at any time. */
void worker_set_launches(struct worker *w, const struct attach_launches *now,
			 enum plan_part until, bool stays);

/* Ends the thread: the attach is the caller's again, and pushing stores blocks. */
void worker_stop(struct worker *w);

/* After worker_stop, when nothing is recorded any more: the stacks that are left wait for
 * worker_pump. */
void worker_finish_stacks(struct worker *w);
void worker_free(struct worker *w);

#endif
