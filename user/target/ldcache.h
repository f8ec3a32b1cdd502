/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * /etc/ld.so.cache: which file the dynamic linker takes for a library name. The file is written
 * by root, yet every offset in it is checked.
 */
#ifndef TARGET_LDCACHE_H
#define TARGET_LDCACHE_H

#include <stddef.h>

struct ldcache;

/* The libraries of this machine's 64-bit ABI in data, which the cache then owns (freed with
 * free() also on failure). NULL + errno: EBADMSG (not a cache, or it lies), ENOMEM. */
struct ldcache *ldcache_open(const char *path);		/* NULL + errno, also of reading */
void ldcache_free(struct ldcache *cache);		/* NULL is fine */

/* The path for a library name on this CPU, or NULL. Owned by the cache. */
const char *ldcache_find(const struct ldcache *cache, const char *name);

/* Every (name, path) that this CPU may use. fn: 0 goes on, another value is passed on. */
int ldcache_each(const struct ldcache *cache,
		 int (*fn)(void *ctx, const char *name, const char *path), void *ctx);

/* Subdirectories of library directories for newer CPUs ("x86-64-v3"), the best first, that this
 * CPU can run; NULL ends them. The dynamic linker calls them glibc-hwcaps. */
const char *const *ldcache_cpu_levels(void);

#endif
