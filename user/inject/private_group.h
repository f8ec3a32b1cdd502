/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A user's private group, as Debian and RHEL make one for each: the user's primary group, of the same name,
 * of nobody else. What it may write only that user (and root) can write, whose umask is 002 for it.
 */
#ifndef INJECT_PRIVATE_GROUP_H
#define INJECT_PRIVATE_GROUP_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

/* By passwd(5) and group(5) text. In doubt it is none: a user or group that is not there, or where
 * lines name another source of users (NIS). */
bool private_group_is(FILE *passwd, FILE *group, uid_t uid, gid_t gid);

/* The same by this host's files. A user whom a directory service knows has none here. */
bool private_group_here(uid_t uid, gid_t gid);

#endif
