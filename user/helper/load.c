// SPDX-License-Identifier: BSD-3-Clause
/*
 * The first code of ours that runs in a process into which the helper is brought while it runs: on
 * a thread of its own, before anything is relocated. So it may use its argument alone: no function
 * by name, no global, no string (scripts/check-symbols).
 */
#include <dlfcn.h>
#include <stddef.h>

#include "gpuprof/load.h"

#define EXPORTED __attribute__((visibility("default")))

EXPORTED void *gpuprof_load(void *arg);

static void set_state(struct gp_load *l, uint32_t state)
{
	__atomic_store_n(&l->state, state, __ATOMIC_RELEASE);
}

/* The compiler would make memcpy of a plain loop. */
static void copy(volatile char *to, const volatile char *from, size_t size)
{
	size_t i = 0;

	for (; from && i < size - 1 && from[i]; i++)
		to[i] = from[i];
	to[i] = '\0';
}

/* No thread joins this one: it frees itself, its areas stay. */
static void *fail(struct gp_load *l)
{
	char *(*error)(void) = (char *(*)(void))(uintptr_t)l->dlerror;
	uintptr_t (*self)(void) = (uintptr_t (*)(void))(uintptr_t)l->pthread_self;
	int (*detach)(uintptr_t) = (int (*)(uintptr_t))(uintptr_t)l->pthread_detach;

	copy(l->why, error(), sizeof(l->why));
	detach(self());
	set_state(l, GP_LOAD_FAILED);
	return NULL;
}

void *gpuprof_load(void *arg)
{
	struct gp_load *l = arg;
	void *(*open)(const char *, int) = (void *(*)(const char *, int))(uintptr_t)l->dlopen;
	void *(*symbol)(void *, const char *) =
		(void *(*)(void *, const char *))(uintptr_t)l->dlsym;
	int (*close_fd)(int) = (int (*)(int))(uintptr_t)l->close;
	int (*door)(struct gp_load *);
	void *library;

	set_state(l, GP_LOAD_STARTED);
	library = open(l->path, RTLD_NOW | RTLD_LOCAL);
	close_fd(l->fd);
	if (!library)
		return fail(l);
	door = (int (*)(struct gp_load *))(uintptr_t)symbol(library, l->door);
	if (!door)
		return fail(l);
	set_state(l, door(l) ? GP_LOAD_REFUSED : GP_LOAD_DONE);
	return NULL;
}
