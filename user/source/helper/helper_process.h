/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One process that may have a helper: its ring is looked for, read while both live, and told to its
 * end; of what it should have told and did not it is told that it is not known. Knows nothing of
 * other processes; source/helper/helpers.h has them all.
 */
#ifndef SOURCE_HELPER_HELPER_PROCESS_H
#define SOURCE_HELPER_HELPER_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "source/helper/api_calls.h"
#include "event/event.h"
#include "source/helper/helpers.h"

struct helper_process;

/* rows NULL: its calls are not told; else they outlive it. wants: GP_RING_WANT_* beside kinds and calls.
 * NULL + errno. */
struct helper_process *helper_process_new(const struct helpers_process *who,
					  struct api_rows *rows, uint32_t wants);
void helper_process_free(struct helper_process *p);	/* gives its slot back */

const struct helpers_process *helper_process_who(const struct helper_process *p);
bool helper_process_has_ended(const struct helper_process *p);

bool helper_process_is_gone(const struct helper_process *p);	/* it lives no more, as far as we know */

/* It was met again, as somebody who may have executed another program; or makes calls. */
void helper_process_meet(struct helper_process *p, const struct helpers_process *who);
void helper_process_hurry(struct helper_process *p);
void helper_process_look_again(struct helper_process *p);	/* it may be another program */

/* As helpers_tell_thread. */
int helper_process_tell_thread(struct helper_process *p, uint32_t tid, uint32_t own_tid);

/* Its ring is looked for now. To do so costs of *left, which is what may be looked at of all processes,
 * and may take several times. 0, the sink's error or -ENOMEM; the same for those that follow. */
bool helper_process_is_sought(const struct helper_process *p, uint64_t now_ns);
int helper_process_seek(struct helper_process *p, uint64_t now_ns, unsigned int *left,
			const struct event_sink *sink);

/* If it is to be looked at again, and is another program: what the old one had told is read, and it has
 * ended. now_who: the new one, or of pid 0. */
int helper_process_follow(struct helper_process *p, uint64_t now_ns, const struct event_sink *sink,
			  struct helpers_process *now_who);

int helper_process_pump(struct helper_process *p, uint64_t now_ns, const struct event_sink *sink);
int helper_process_end(struct helper_process *p, uint64_t now_ns, const struct event_sink *sink);

/* It has something to hand on of before ns, and has not. */
bool helper_process_is_awaited(const struct helper_process *p, uint64_t ns);
void helper_process_wake(const struct helper_process *p);	/* of one that is awaited */

/* Every call that ended before has been told; UINT64_MAX: it tells no calls. */
uint64_t helper_process_told_ns(const struct helper_process *p);

void helper_process_status(const struct helper_process *p, struct helpers_status *out);

#endif
