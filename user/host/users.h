/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Users by name and number. users_name reads /etc/passwd alone, since it is called while rings
 * fill; the others also use the host's name services (LDAP, ...), unless gpuprof is linked
 * statically, and may wait for a network.
 */
#ifndef HOST_USERS_H
#define HOST_USERS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

bool users_name(uid_t uid, char *out, size_t size);	/* false: none there */
bool users_find(const char *name, uid_t *uid);		/* a name, or an id in digits */

/*
 * The groups that a user is in, also those that a directory service knows: out[0] = primary, then
 * the others, each once, at most max (>= 1) in all; how many there are. A static gpuprof knows the
 * primary group alone.
 */
size_t users_groups(const char *name, gid_t primary, gid_t *out, size_t max);

/* Is gid the user's private group, as Debian and RHEL make one for each user: the primary group,
 * of the same name, with no other member? In doubt it is not. */
bool users_has_private_group(uid_t uid, gid_t gid);

#endif
