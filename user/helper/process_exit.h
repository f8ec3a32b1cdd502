/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Is the helper's thread the last of its process? The C library ends a process when its last thread
 * ends, main's or another; where that is ours, which never ends by itself, the process would not
 * either. Knows nothing of what the helper does. Asks the system nothing (a filter might forbid it)
 * before only CUPTI's threads can be left.
 */
#ifndef HELPER_PROCESS_EXIT_H
#define HELPER_PROCESS_EXIT_H

#include <stddef.h>
#include <stdint.h>

/*
 * The threads that CUPTI has started because we use it: like ours they never end by themselves, and
 * keep no process alive. They are those that were not there before and block all signals, as their
 * creator did. Knows nothing of CUPTI.
 */
#define LISTED_THREADS_MAX 1024	/* of more it is unknown which are new */
#define CUPTI_THREADS_MAX 8

struct cupti_threads {
	int tid[CUPTI_THREADS_MAX];
	unsigned int n;
};

/* Those there are now; 0: too many, or not to be read. */
size_t process_exit_list_threads(int tids[LISTED_THREADS_MAX]);

/* Adds who has come since the list was made. */
void process_exit_add_threads(struct cupti_threads *cupti, const int *before, size_t n_before);

#define PROCESS_EXIT_NEVER UINT64_MAX

/* As the helper comes. on_left: is called on the main thread when that ends before the process
 * does, if it was ever seen; also in a forked child. */
void process_exit_open(void (*on_left)(void));

/* By any thread that enters the helper: perhaps it is the main one. */
void process_exit_note_thread(void);

/* The rest is for the helper's thread. Last: it may return, and if all others have ended the
 * process exits; also where the main one has, and the C library (before 2.34) does not show what
 * others there are: better no helper than a process without end. Beside CUPTI: only CUPTI's threads
 * live, it has to exit. */
enum last_thread { LAST_THREAD_NOT, LAST_THREAD, LAST_BESIDE_CUPTI };
enum last_thread process_exit_look(const struct cupti_threads *cupti);

/* until it is to be asked again; PROCESS_EXIT_NEVER: until on_left */
uint64_t process_exit_wait_ns(void);

#endif
