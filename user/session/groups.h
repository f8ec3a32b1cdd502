/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The groups a user is in, by the group file alone: getgrouplist would bring NSS into a static
 * program. Members that a directory service knows are not found.
 */
#ifndef SESSION_GROUPS_H
#define SESSION_GROUPS_H

#include <stddef.h>
#include <sys/types.h>

/*
 * group(5) text -> out[0] = primary, then each other group that lists the user, each once, at most
 * max (>= 1) in all; how many there are. Lines that are no group are passed over.
 */
size_t groups_parse(const char *text, const char *user, gid_t primary, gid_t *out, size_t max);

/* The same for /etc/group; a file that cannot be read is an empty one. */
size_t groups_of_user(const char *user, gid_t primary, gid_t *out, size_t max);

#endif
