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

/* inside: may be NULL; else the worker's from worker_run to worker_stop. NULL + errno. */
struct worker *worker_new(struct attach *a, struct inflight *inside);

/*
 * Before worker_run. Watches pid and its forks from now on, or the host (pid -1). filter: the
 * process whose probes have the kernel's pid filter, 0 when there is none; all others that are
 * seen are its children, and left alone unless worker_follow_children: then the first that uses
 * a library ends the filters (attach_hand_over). The watch is in place when this returns: 0,
 * -ENOMEM, or another -errno, logged.
 */
int worker_watch(struct worker *w, pid_t pid, pid_t filter);
void worker_follow_children(struct worker *w);	/* before worker_run */
void worker_only_followed(struct worker *w);	/* before worker_run: of the host's processes */

/* Before worker_run, with one watch of the host: processes that begin to match are followed too.
 * filter: the process whose probes have the kernel's pid filter, until another is followed; 0:
 * there is none. */
void worker_choose(struct worker *w, const struct target_match *target_match, pid_t filter);

/* Before worker_run: takes stacks of calls from l, which must outlive the worker. 0 or -errno. */
int worker_take_stacks(struct worker *w, struct loader *l);
/* Starts the thread; from now on it owns the attach. keep: the sink of the capture's blocks, or
 * NULL. 0 or -errno. */
int worker_run(struct worker *w, struct capture_sink *keep);

int worker_fd(const struct worker *w);		/* readable when events wait */
/* engine; 0 or the sink's error */
int worker_pump(struct worker *w, const struct event_sink *sink);

/* Engine. Rows without a probe in some file (PLAN_TOO_DEAR, _REFUSED, _LEFT_OUT, _FAILED), if that
 * is known otherwise than before: *noted, 0 at first. */
bool worker_left_out(struct worker *w, unsigned int *noted, bool left_out[GP_ROWS_MAX]);

/* Ends the thread: the attach is the caller's again, and pushing stores blocks. */
void worker_stop(struct worker *w);

/* After worker_stop, when nothing is recorded any more: the stacks that are left wait for
 * worker_pump. */
void worker_finish_stacks(struct worker *w);
/* Engine, at any time: how many copies came from the kernel so far, 0 without a feed. */
uint64_t worker_stacks_received(const struct worker *w);
/* After worker_stop: did a process map a library and exit before that could be probed? */
bool worker_missed(const struct worker *w);
void worker_free(struct worker *w);

#endif
