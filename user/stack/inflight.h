/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls that began before their probes: found on the threads' stacks and looked at again, each 20
 * ms at first, each second after a while. Pushes EVENT_INSIDE as long as a thread is in such a call
 * and EVENT_GONE when it is not any more. Used by one thread at a time: the engine until the worker
 * runs, the worker, the engine again once it has stopped.
 */
#ifndef STACK_INFLIGHT_H
#define STACK_INFLIGHT_H

#include "event/event.h"
#include "probe/loader.h"

struct inflight;

struct inflight *inflight_new(struct loader *l, unsigned int tier);	/* NULL + errno */
void inflight_free(struct inflight *in);

/* The process maps a library that is probed by now: its threads are looked at by inflight_find. 0
 * or -ENOMEM. */
int inflight_add(struct inflight *in, pid_t pid);

#define INFLIGHT_MOST 50	/* some 20 ms */

/*
 * Checks the threads of the added processes, INFLIGHT_MOST of them at a time: a thread that is in
 * a call now, and was seen to make none, is in it since since_ns at least, when the last of its
 * probes was made. Pushes THREAD and INSIDE, which must come before all else of these threads. A
 * thread that has made a call inside its call between the making of the probes and this check is
 * left out: its nested calls stand for themselves. Threads that cannot be checked are left out,
 * too. 0, the sink's error or -ENOMEM.
 */
int inflight_find(struct inflight *in, uint64_t since_ns, const struct event_sink *sink);

/* Looks again at the calls that are due. Errors as inflight_find. */
int inflight_work(struct inflight *in, const struct event_sink *sink);
/* until inflight_find or inflight_work is due; -1: nothing to do */
int inflight_timeout_ms(const struct inflight *in);

/* The end: a last look. Errors as inflight_find. */
int inflight_stop(struct inflight *in, const struct event_sink *sink);

#endif
