/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Process identity: a process is (host, pid, birth), because the kernel uses pids again. The
 * registry gives each a handle, a number above 0 that is never used again, and stamps events with
 * it. A live session stamps its events in one place, in arrival order; captures carry the handles.
 * Behind the stamp handles are compared, and a pid is only shown.
 *
 * One registry knows one host. Of captures of several hosts each has handles of its own, so a merge
 * numbers them anew and keeps pids and births as they are.
 */
#ifndef EVENT_REGISTRY_H
#define EVENT_REGISTRY_H

#include "event/event.h"

/* Two readings of one birth (BPF: exact; procfs: to the clock tick) differ by less. */
#define SAME_BIRTH_NS 20000000ull

/* Does procfs give the birth exact_ns as read_ns? It is up to a clock tick early, and by as long as
 * the host has slept since. */
bool births_match(uint64_t read_ns, uint64_t exact_ns);

enum birth { BIRTH_SAME, BIRTH_NEWER, BIRTH_OLDER };

/* Compares the births of two processes or threads with the same number; 0: unknown, it matches any.
 * is_exact: both are, so that only equal ones are the same. */
enum birth births_compare(uint64_t known_ns, uint64_t given_ns, bool is_exact);

struct registry;

struct registry *registry_new(void);	/* NULL: out of memory */
void registry_free(struct registry *r);

/*
 * Sets ev->process. An event that names a birth (PROCESS, THREAD, EXIT) is of the process of
 * its pid that was born then, any other one of the youngest. 0: it has no pid, or names a
 * process that is older than all that are known of its pid. 0 or -ENOMEM.
 */
int registry_stamp(struct registry *r, struct event *ev);

#endif
