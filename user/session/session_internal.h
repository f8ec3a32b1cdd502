/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of a session, shared by session.c (its course) and the files of its parts: session_*.c,
 * pipeline.c (where all events pass), privileges.c. */
#ifndef SESSION_SESSION_INTERNAL_H
#define SESSION_SESSION_INTERNAL_H

#include "base/map.h"
#include "base/vec.h"
#include "event/registry.h"
#include "session/command.h"
#include "stack/inflight.h"
#include "session/session.h"
#include "session/nvml_session.h"
#include "session/worker.h"
#include "source/helper/helpers.h"
#include "source/bpf/bpf_source.h"
#include "host/identity.h"

enum session_state { SESSION_STARTING, SESSION_RUNNING, SESSION_STOPPING, SESSION_STOPPED };

/* Where all events pass: adds what procfs knows of processes, then capture and model. */
struct pipeline {
	struct capture_sink *keep;		/* NULL: none */
	struct model *model;
	struct registry *registry;
	struct identity_room room;
	/* processes that were described: pid -> exact birth, or 0 */
	struct map seen;
	struct map read;		/* what procfs had of processes: pid -> struct reading */
	struct map settled; /* of these, whose devices were looked for after a launch */
	uint32_t settled_pid;		/* found there last */
	uint64_t watermark_ns;		/* all that ended before it has been delivered */
	/* before it no process but the command began; 0: any may have */
	uint64_t oldest_ns;
	bool no_cmdline;
};

int pipeline_push(void *tap, const struct event *ev);	/* an event_sink.push */

/* EVENT_PROCESS and its identity, once for each process of pid; process_ns: its exact birth, or 0.
 */
int pipeline_describe(struct pipeline *tap, pid_t pid, uint64_t process_ns);
void pipeline_free(struct pipeline *tap);		/* not what it passes on to */

struct session_forked { /* children that run on with their parent's program and CUDA */
	struct map looked_at;		/* pid -> 1 */
	uint64_t n;
	pid_t first, parent;		/* one of them */
};

struct session_closed {		/* that could not load the helper */
	/* pid -> when it is to be looked at again, without probes */
	struct map looked_at;
	uint64_t n, next_ns;
	pid_t first;
	char comm[16];			/* its */
};

struct session {
	const struct session_plan *plan;
	enum session_state state;
	bool started;			/* something was measured, even if an error ended it */
	int rc;				/* exit code, when it is SESSION_STOPPED */
	/* the first one; ends the session. -ENOMEM is not logged yet */
	int err;

	struct command command;
	struct decoder *decoder;
	struct loader *loader;
	struct attach *attach;
	struct worker *worker;
	struct inflight *inside;
	struct bpf_source live;
	struct helpers *helpers;	/* NULL: none are looked for */
	struct session_nvml nvml;
	unsigned int left_out_noted;	/* of worker_left_out */
	/* why there are no probes, nor loader, attach, worker, drain */
	const char *blind;
	const char *remedy;
	uint64_t looked_ns;		/* for processes, without probes */
	uint64_t looked_for_ended_ns;
	size_t look_at;			/* ... whose turn it is then */
	struct session_forked forked;	/* the same */
	struct session_closed closed;
	struct pipeline tap;
	struct event_sink sink;		/* session_push: what the sources push into */

	VEC(int) pidfds;		/* of -p */
	VEC(pid_t) users;		/* processes that used a library at the start */
	VEC(pid_t) chosen;		/* by selectors: who used a library at the start */
	VEC(int) timers;
	size_t targets_left;
	int epoll_fd, signal_fd;
	uint64_t start_ns, intervals, interval_start_ns, flushed_ns;
	uint64_t interval_end_ns;	/* reached, and not yet cut; 0: none */
	struct capture_sink_stats kept;
};

int session_push(void *session, const struct event *ev);	/* an event_sink.push; sets err */
void session_fact(struct session *s, const char *key, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

void diagnose_end(struct session *s);	/* at the end: what is known of each process by then */
void diagnose_ended(struct session *s);	/* at any time: who has ended of whom nobody told */
void diagnose_interval(struct session *s);	/* the same, of an interval */
void diagnose_empty(struct session *s);	/* at the end: why there may be no call at all */

/* the targets of now; others are met as they come; 0 or -ENOMEM */
int helpers_start(struct session *s);
/* this process may have one; 0 or -ENOMEM */
int helpers_add_target(struct session *s, pid_t pid);
/* the same of whom an event tells */
int helpers_on_event(struct session *s, const struct event *ev);
void helpers_read(struct session *s);
void helpers_stop(struct session *s);	/* reads the last */
/* NULL: nothing is wrong with it */
const char *helpers_why_silent(const struct helpers_status *st);
/* of what devices did not tell: when the model has all */
void helpers_warn(const struct session *s);
/* Works of all helpers so far, beside which the table events shows what became of them. */
int helpers_push_count(const struct session *s, const struct event_sink *to);
bool session_wants_whole_graphs(const struct session *s);

void probes_report_start(struct session *s);	/* what the probes see, at which cost */
void probes_report(struct session *s);	/* what libraries that came later change of that */

void counts_push(struct session *s);	/* the kernel's counters, at the end */
void counts_cut(void *session);		/* a keep.on_cut: so far, into the capture alone */


#endif
