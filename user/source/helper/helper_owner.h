/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whose a ring is. A forked child has its parent's rings open until it executes another program, and
 * they go on telling of the parent: a ring is a process's own if its head names the pid that the
 * process has in its own pid namespace. In a namespace of its own a child may have the number that
 * its parent has outside (1, in containers within containers): there it must also have begun before
 * the ring was made. Knows nothing of what is in a ring.
 *
 * Examples; P a process, its pid in its own namespace, when it began; R a ring's head:
 *
 *   P 1234 (own 1234) at 100      R 1234 from 150      its own
 *   P 1300 (own 1300) at 200      R 1234 from 150      inherited
 *   P 1234 (own 1) at 100         R 1 from 150         its own
 *   P 1300 (own 1) at 200         R 1 from 150         inherited
 */
#ifndef SOURCE_HELPER_HELPER_OWNER_H
#define SOURCE_HELPER_HELPER_OWNER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "gpuprof/ring.h"

struct helper_owner {
	uint32_t own_pid;	/* 0: not known, then all rings are its own */
	uint64_t born_ns;	/* CLOCK_MONOTONIC, no later than it was; 0: of no use */
};

/* 0, or -ESRCH: it is gone. What cannot be read is not known. */
int helper_owner_read(pid_t pid, struct helper_owner *out);

/* head is of a ring of the version that is known here. */
bool helper_owner_has(const struct helper_owner *o, const struct gp_ring_head *head);

#endif
