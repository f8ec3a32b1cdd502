/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gpuprof's side of include/gpuprof/ring.h: finds a helper's file in a process, takes a slot of it,
 * reads records. The content is hostile: a record is copied once and handed on in the copy, its
 * bounds checked; positions are kept here. What a record's fields mean is for who takes it to check.
 */
#ifndef SOURCE_HELPER_HELPER_SOURCE_H
#define SOURCE_HELPER_HELPER_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "source/helper/helper_owner.h"
#include "gpuprof/ring.h"

struct helper_source;

/* A descriptor of what has the name of a ring in process pid, or -errno: -ENOENT: it has none, -EPERM,
 * -ESRCH. Not logged. It is memory; a ring that can be read is not inherited, else nothing is known yet. */
int helper_source_find(pid_t pid);

/* Not if it is a ring that can be read, and of another process. */
bool helper_source_is_of(int fd, const struct helper_owner *owner);

/* What the head of a ring says. 0, -EBADMSG or -EPROTO, as below. */
int helper_source_peek_at(int fd, struct gp_ring_head *out);

/* What the helper of a process says of itself, without becoming its reader. 0; -errno as above, or
 * EBADMSG, EPROTO as below. */
int helper_source_peek(pid_t pid, struct gp_ring_head *out);

/* Takes fd. own_pid: the process's, as it sees itself; a forked child and a gpuprof have rings of
 * others open. NULL + errno, not logged: EBADMSG (no such file, or its head lies), ESRCH (the ring of
 * another process), EPROTO (a later version), EUSERS (as many readers as there are slots), ENOMEM.
 * now_ns: by the target's clock; a reader whose lease ended long ago (it was killed) loses its slot. */
struct helper_source *helper_source_open(int fd, pid_t own_pid, uint32_t kinds, uint64_t now_ns);
void helper_source_close(struct helper_source *s);	/* gives the slot back */

/* To be called at least once a second; now_ns: CLOCK_MONOTONIC as the target sees it. 0, or -ESTALE:
 * the slot was given to another reader (we were late), so open again. */
int helper_source_renew(struct helper_source *s, uint64_t now_ns);

/* When our lease ran out before it was renewed, by the target's clock, if it is not known whether the helper
 * took notice; 0: it did not run out, or it has begun again. */
uint64_t helper_source_lapse_ns(const struct helper_source *s);

/* While the slot is ours: it may be other kinds than at first. */
void helper_source_want(struct helper_source *s, uint32_t kinds);

void helper_source_wake(struct helper_source *s);	/* the helper hands on what it has, now */

/* Is it still what the descriptor of that number is? Not if the process has executed another program. */
bool helper_source_is_at(const struct helper_source *s, pid_t pid, int number);

/* Hands on what is complete, oldest first. 1: all of it; 0: a record is being written (or fn said
 * no, or it was more at once than a helper's ring holds), go on later; -EBADMSG: the ring is broken,
 * nothing more can be read of it. fn: non-zero keeps the record for the next time. A GP_RING_BEGIN says that
 * the helper had stopped to tell us, and begins again. */
int helper_source_read(struct helper_source *s,
		       int (*fn)(void *ctx, uint16_t kind, const void *payload, size_t len), void *ctx);

/* Its head as it is now (bounded, its texts ended), and what was lost in our slot since we took it,
 * of some kinds (bits). */
void helper_source_head(const struct helper_source *s, struct gp_ring_head *out);
bool helper_source_is_in(const struct helper_source *s, uint32_t states);	/* bits: GP_HELPER_* */
uint64_t helper_source_lost(const struct helper_source *s, uint32_t kinds);

#endif
