/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The threads of a process that has a helper, from procfs: which thread of the host a number in
 * the helper's records means (in a pid namespace threads have numbers of their own), its birth,
 * its name, until when it was seen. The numbers come from an untrusted process: a number that no
 * thread of it has or had is no thread. Knows nothing of records.
 */
#ifndef SOURCE_HELPER_THREADS_H
#define SOURCE_HELPER_THREADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define HELPER_THREADS_MAX 65536	/* known of one process, ended ones too */
/* of these, that were never seen: they may have ended before */
#define HELPER_THREADS_GUESSED 1024

struct helper_thread {
	uint32_t tid;		/* the host's */
	uint32_t own_tid;	/* as the process's namespace has it */
	uint64_t birth_ns;	/* to the clock tick; 0: unknown */
	uint64_t gone_ns;	/* it was seen last, and no more since; 0: it goes on */
	uint64_t walk;		/* that met it last */
	char comm[16];		/* "": unknown */
};

struct helper_threads;

/* own_pid: the process's, as it sees itself; another than pid means a pid namespace. NULL +
 * errno. */
struct helper_threads *helper_threads_new(pid_t pid, pid_t own_pid);
void helper_threads_free(struct helper_threads *t);

/* Reads the present threads. 0 or -ENOMEM; a process that is gone has no threads. */
int helper_threads_look(struct helper_threads *t, uint64_t now_ns);

/* A thread known from another source, also if it has ended. 0 or -ENOMEM. */
int helper_threads_add(struct helper_threads *t, const struct helper_thread *thread);

/* The thread that a number in a record means, or NULL. Reads the threads again for an unknown
 * one, but at most once after each helper_threads_look. In the host's own numbers a thread that
 * was never seen is believed, as long as they are few. Valid until the next call. */
const struct helper_thread *helper_threads_find(struct helper_threads *t, uint32_t own_tid);

/* The threads by the host's number; NULL: no such. Valid until the next call. */
const struct helper_thread *helper_threads_of(const struct helper_threads *t, uint32_t tid);

#endif
