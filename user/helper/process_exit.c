// SPDX-License-Identifier: BSD-3-Clause
/*
 * The main thread's end is known by the destructor of a key. How many threads there are the C
 * library counts itself, since it has to know which is the last; and shows debuggers. A thread that
 * returns for nothing does no harm: the process goes on. CUPTI's threads are found in /proc, which
 * is read while CUPTI is made ready and when all else has ended.
 */
#include "helper/process_exit.h"

#include <dirent.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "helper/thread.h"

#define COUNT "__nptl_nthreads"	/* for libthread_db; since glibc 2.34 it is found by name */
#define UNSEEN_NS 1000000000ull
#define SOON_NS 1000000ull	/* a thread that ends now is counted a moment longer */
#define OFTEN_NS 100000000ull
/* Not to be blocked: SIGKILL, SIGSTOP; the C library's own, 32 and 33. */
#define EVERY_SIGNAL (~(1ull << 8 | 1ull << 18 | 3ull << 31))

/* ---- CUPTI's threads ------------------------------------------------------------------------ */

size_t process_exit_list_threads(int tids[LISTED_THREADS_MAX])
{
	DIR *dir = opendir("/proc/self/task");
	const struct dirent *entry;
	size_t n = 0;

	while (dir && (entry = readdir(dir))) {
		int tid = atoi(entry->d_name);

		if (tid > 0 && n == LISTED_THREADS_MAX) {
			n = 0;
			break;
		}
		if (tid > 0)
			tids[n++] = tid;
	}
	if (dir)
		closedir(dir);
	return n;
}

static bool is_among(const int *tids, size_t n, int tid)
{
	for (size_t i = 0; i < n; i++)
		if (tids[i] == tid)
			return true;
	return false;
}

static bool blocks_all_signals(int tid)
{
	char path[64];
	uint64_t blocked;

	snprintf(path, sizeof(path), "/proc/self/task/%d/status", tid);
	return thread_status_number(path, "\nSigBlk:", 16, &blocked) &&
	       (blocked & EVERY_SIGNAL) == EVERY_SIGNAL;
}

void process_exit_add_threads(struct cupti_threads *cupti, const int *before, size_t n_before)
{
	int now[LISTED_THREADS_MAX];
	size_t n = n_before ? process_exit_list_threads(now) : 0;

	for (size_t i = 0; i < n && cupti->n < CUPTI_THREADS_MAX; i++)
		if (!is_among(before, n_before, now[i]) && blocks_all_signals(now[i]))
			cupti->tid[cupti->n++] = now[i];
}

/* How many live beside the main thread, if all but the caller are CUPTI's; else 0. */
static size_t count_if_all_cupti(const struct cupti_threads *cupti)
{
	int now[LISTED_THREADS_MAX], self = (int)syscall(SYS_gettid), main_tid = getpid();
	size_t n = process_exit_list_threads(now), alive = 0;

	for (size_t i = 0; i < n; i++) {
		bool is_cupti = is_among(cupti->tid, cupti->n, now[i]) &&
				blocks_all_signals(now[i]);

		if (now[i] != self && now[i] != main_tid && !is_cupti)
			return 0;
		alive += now[i] != main_tid;
	}
	return alive;
}

/* ---- the last thread ------------------------------------------------------------------------ */

static struct {
	const unsigned int *threads;	/* NULL: not known */
	void (*on_left)(void);
	pthread_key_t key;
	bool has_key;
	bool seen;		/* the main thread carries the key */
	bool left;		/* and has ended */
	uint64_t wait_ns;	/* since then */
} alone;

static void leave(void *value)
{
	(void)value;
	__atomic_store_n(&alone.left, true, __ATOMIC_RELEASE);
	alone.on_left();
}

void process_exit_open(void (*on_left)(void))
{
	alone.on_left = on_left;
	alone.seen = alone.left = false;
	alone.wait_ns = SOON_NS;
	alone.threads = dlsym(RTLD_DEFAULT, COUNT);
	if (!alone.threads)
		dlerror();	/* it is not the program's */
	if (!alone.has_key)
		alone.has_key = !pthread_key_create(&alone.key, leave);
}

void process_exit_note_thread(void)
{
	if (alone.has_key && syscall(SYS_gettid) == getpid() &&
	    !pthread_setspecific(alone.key, &alone))
		__atomic_store_n(&alone.seen, true, __ATOMIC_RELEASE);
}

static bool has_left(void)
{
	return __atomic_load_n(&alone.left, __ATOMIC_ACQUIRE);
}

static bool is_seen(void)
{
	return __atomic_load_n(&alone.seen, __ATOMIC_ACQUIRE);
}

enum last_thread process_exit_look(const struct cupti_threads *cupti)
{
	unsigned int n;

	if (is_seen() && !has_left())
		return LAST_THREAD_NOT;
	if (!alone.threads)
		return has_left() ? LAST_THREAD : LAST_THREAD_NOT;
	n = __atomic_load_n(alone.threads, __ATOMIC_ACQUIRE);
	if (n == 1)
		return LAST_THREAD;
	/* A main thread that lives is counted there, and not here. */
	return n <= 1 + cupti->n && count_if_all_cupti(cupti) == n ? LAST_BESIDE_CUPTI :
								     LAST_THREAD_NOT;
}

uint64_t process_exit_wait_ns(void)
{
	uint64_t wait_ns = alone.wait_ns;

	if (!has_left())
		return alone.threads && !is_seen() ? UNSEEN_NS : PROCESS_EXIT_NEVER;
	if (alone.wait_ns < OFTEN_NS)
		alone.wait_ns *= 2;
	return wait_ns;
}
