/* SPDX-License-Identifier: BSD-3-Clause */
/* What the dynamic linker of this host is going to map for a program, without running it. */
#ifndef TARGET_TARGET_LINK_H
#define TARGET_TARGET_LINK_H

#include "base/str.h"
#include "target/ldcache.h"
#include "target/target_walk.h"

/* What all programs of one walk share; owned by the caller. */
struct link_host {
	struct target_walk *walk;
	const struct ldcache *cache;	/* NULL: there is none */
	char *const *env;
	bool (*wanted)(const char *basename);	/* what dlopen may bring; NULL: nothing */
};

/*
 * Reports the ELF program behind fd (which stays the caller's), its interpreter, what is
 * preloaded, everything it needs in the linker's order, and the wanted files of the directories
 * that its dlopen searches. 0, the walk's callback's value, or -errno (ENOEXEC, EBADMSG: no
 * program). Needed files that are not found are skipped: running the program will say so.
 */
int link_each_file(const struct link_host *host, const char *path, int fd);

/* The value of name in env, or NULL. */
const char *link_getenv(char *const *env, const char *name);

/* Reports the wanted files directly in dir. 0, the callback's value, or -ENOMEM. */
int link_each_wanted(const struct link_host *host, const char *dir);

#endif
