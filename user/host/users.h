/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Users by name and number. users_name reads /etc/passwd alone, since it is asked while rings fill;
 * users_find also asks what else this host asks (LDAP, ...), unless gpuprof is linked statically, and
 * may wait for a network.
 */
#ifndef HOST_USERS_H
#define HOST_USERS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

bool users_name(uid_t uid, char *out, size_t size);	/* false: none there */
bool users_find(const char *name, uid_t *uid);		/* a name, or an id in digits */

#endif
