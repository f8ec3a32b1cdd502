// SPDX-License-Identifier: BSD-3-Clause
/*
 * The main thread's end is known by the destructor of a key. How many threads there are the C library
 * counts itself, since it has to know which is the last; and shows debuggers. Who returns for nothing
 * does no harm: the process goes on.
 */
#include "helper/alone.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

#define COUNT "__nptl_nthreads"	/* for libthread_db; since glibc 2.34 it is found by name */

#define UNSEEN_NS 1000000000ull
#define SOON_NS 1000000ull	/* a thread that ends now is counted a moment longer */
#define OFTEN_NS 100000000ull

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

void alone_open(void (*on_left)(void))
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

void alone_see(void)
{
	if (alone.has_key && syscall(SYS_gettid) == getpid() && !pthread_setspecific(alone.key, &alone))
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

enum alone_how alone_is(const struct kin *kin)
{
	unsigned int n;

	if (is_seen() && !has_left())
		return ALONE_NOT;
	if (!alone.threads)
		return has_left() ? ALONE_LAST : ALONE_NOT;
	n = __atomic_load_n(alone.threads, __ATOMIC_ACQUIRE);
	if (n == 1)
		return ALONE_LAST;
	/* A main thread that lives is counted there, and not here. */
	return n <= 1 + kin->n && kin_count(kin) == n ? ALONE_WITH_KIN : ALONE_NOT;
}

uint64_t alone_wait_ns(void)
{
	uint64_t wait_ns = alone.wait_ns;

	if (!has_left())
		return alone.threads && !is_seen() ? UNSEEN_NS : ALONE_NEVER;
	if (alone.wait_ns < OFTEN_NS)
		alone.wait_ns *= 2;
	return wait_ns;
}
