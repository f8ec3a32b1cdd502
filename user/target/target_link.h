/* SPDX-License-Identifier: BSD-3-Clause */
/* The files that the dynamic linker of this host is going to map for a program, without running
 * it. */
#ifndef TARGET_TARGET_LINK_H
#define TARGET_TARGET_LINK_H

#include "base/str.h"
#include "target/ldcache.h"
#include "target/target_walk.h"

/* Shared by all programs of one walk; owned by the caller. */
struct link_host {
	struct target_walk *walk;
	const struct ldcache *cache;	/* NULL: there is none */
	char *const *env;
	bool (*wanted)(const char *basename);	/* accepts files that dlopen may load; NULL: none */
};

/*
 * Reports the ELF program behind fd (which stays the caller's), its interpreter, preloaded
 * libraries, all dependencies in the linker's order, and the wanted files of the directories
 * that its dlopen searches. 0, the walk's callback's value, or -errno (ENOEXEC, EBADMSG: no
 * program). Missing dependencies are skipped: running the program will fail on them.
 */
int link_each_file(const struct link_host *host, const char *path, int fd);

/* The value of name in env, or NULL. */
const char *link_getenv(char *const *env, const char *name);

/* Reports the wanted files directly in dir. 0, the callback's value, or -ENOMEM. */
int link_each_wanted(const struct link_host *host, const char *dir);

#endif
