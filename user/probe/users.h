/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names of users: of /etc/passwd, and of what else this host asks (LDAP, ...) unless gpuprof is
 * linked statically. May wait for a network; not for threads that must not.
 */
#ifndef PROBE_USERS_H
#define PROBE_USERS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

bool users_name(uid_t uid, char *out, size_t size);	/* false: it has none */
bool users_find(const char *name, uid_t *uid);		/* a name, or an id in digits */

#endif
