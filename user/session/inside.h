/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls that began before their probes: found on the threads' stacks, probed where they return to,
 * looked at once a second where that cannot be probed. Tells EVENT_INSIDE and EVENT_GONE;
 * EVENT_LEFT comes from BPF. Used by one thread at a time: the engine until the worker runs, the
 * worker, the engine again once it has stopped.
 */
#ifndef SESSION_INSIDE_H
#define SESSION_INSIDE_H

#include "event/event.h"
#include "probe/loader.h"

struct inside;

struct inside *inside_new(struct loader *l, unsigned int tier);	/* NULL + errno */
void inside_free(struct inside *in);		/* its links, too, if inside_stop was not called */

/* The process maps a library that is probed by now: its threads are looked at by the next
 * inside_find. 0 or -ENOMEM. */
int inside_add(struct inside *in, pid_t pid);

/*
 * Looks at the threads of what was added: who is in a call now, and was seen to make none, is in
 * it since since_ns at least, when the last of its probes was made. Pushes THREAD and INSIDE,
 * which must come before all else of these threads. A thread that has made a call inside its call
 * between the making of the probes and this look is left out: what it calls stands for itself. What
 * cannot be looked at is left out, too. 0, the sink's error or -ENOMEM.
 */
int inside_find(struct inside *in, uint64_t since_ns, const struct event_sink *sink);

/* What is to be done now: probes on returns, their removal, looks. Errors as inside_find. */
int inside_work(struct inside *in, const struct event_sink *sink);
int inside_timeout_ms(const struct inside *in);	/* until inside_work is due; -1: nothing to do */

/* The end: a last look at what is not probed; links become the loader's, which closes them with its
 * own. Errors as inside_find. */
int inside_stop(struct inside *in, const struct event_sink *sink);

#endif
