/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Closes fds whose closing takes long, behind the back of who has no use for them any more. Knows
 * nothing of what they are.
 */
#ifndef PROBE_CLOSE_LATER_H
#define PROBE_CLOSE_LATER_H

#include <stddef.h>

struct close_later;

/* Takes the fds (not the array): they are closed one after the other by a thread of their own, or,
 * if there is none to be had, before this returns. *c: NULL at first. One caller at a time. */
void close_later_add(struct close_later **c, const int *fds, size_t n);

void close_later_wait(struct close_later **c);	/* until all are closed; then *c is NULL */

#endif
