/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads of the helper's own, and what procfs has of any. */
#ifndef HELPER_THREAD_H
#define HELPER_THREAD_H

#include <stdbool.h>
#include <stdint.h>

/* Detached, and with all signals blocked from its birth: they are the application's. 0 or an
 * errno. */
int thread_start(void *(*run)(void *), void *ctx);

/* For such a thread that is the last of the process: restores the signal mask of the thread that
 * started it. */
void thread_restore_signals(void);

/* A number in a thread's file `status`, after field, which is "\nName:". False: there is no such
 * line, or the file cannot be read. */
bool thread_status_number(const char *path, const char *field, int base, uint64_t *out);

/* How many seccomp filters the process has, as in gp_ring_head.filters. Only while libraries are
 * loaded: under a later filter the question could kill the process. */
uint32_t thread_seccomp_filters(void);

#endif
