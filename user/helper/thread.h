/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads of the helper's own. */
#ifndef HELPER_THREAD_H
#define HELPER_THREAD_H

/* Detached, and with all signals blocked from its birth: they are the application's. 0 or an errno. */
int thread_start(void *(*run)(void *), void *ctx);

/* For such a thread that is the last of the process: signals reach it as who started it. */
void thread_hear(void);

#endif
