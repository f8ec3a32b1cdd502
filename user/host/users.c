// SPDX-License-Identifier: BSD-3-Clause
/* Keeps nothing: callers that need it often cache the results. */
#include "host/users.h"

#include <errno.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUFFER_BYTES 16384

/* A static glibc cannot use name services safely (they are libraries of another glibc, perhaps);
 * weak, this stays out of a static link, and out of its warnings. */
#pragma weak getpwnam_r
#pragma weak getpwuid_r
#pragma weak getgrgid_r
#pragma weak getgrouplist

/* The entry in /etc/passwd of a name, or, where that is NULL, of uid; its texts are in buffer. */
static bool find_local(const char *name, uid_t uid, struct passwd *pw, char *buffer)
{
	FILE *f = fopen("/etc/passwd", "re");
	struct passwd *got = NULL;
	bool found = false;

	while (f && !found && !fgetpwent_r(f, pw, buffer, BUFFER_BYTES, &got))
		found = name ? !strcmp(pw->pw_name, name) : pw->pw_uid == uid;
	if (f)
		fclose(f);
	return found;
}

bool users_name(uid_t uid, char *out, size_t size)
{
	char *buffer = malloc(BUFFER_BYTES);
	struct passwd pw;
	bool found = buffer && find_local(NULL, uid, &pw, buffer);

	if (found)
		snprintf(out, size, "%s", pw.pw_name);
	free(buffer);
	return found;
}

static bool parse_uid(const char *text, uid_t *uid)
{
	unsigned long n;
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	n = strtoul(text, &end, 10);
	*uid = (uid_t)n;
	return !errno && !*end && n < (uid_t)-1;
}

bool users_find(const char *name, uid_t *uid)
{
	char *buffer = malloc(BUFFER_BYTES);
	struct passwd pw, *got = NULL;

	if (!buffer)
		return false;
	if (find_local(name, 0, &pw, buffer))
		got = &pw;
	else if (getpwnam_r)
		getpwnam_r(name, &pw, buffer, BUFFER_BYTES, &got);
	if (got)
		*uid = got->pw_uid;
	free(buffer);
	return got || parse_uid(name, uid);
}

size_t users_groups(const char *name, gid_t primary, gid_t *out, size_t max)
{
	int n = max < INT_MAX ? (int)max : INT_MAX;

	if (getgrouplist && *name && (getgrouplist(name, primary, out, &n) >= 0 || n > 0))
		return (size_t)n < max ? (size_t)n : max;
	out[0] = primary;
	return 1;
}

static bool is_alone_in(const struct group *gr, const char *name)
{
	for (char **member = gr->gr_mem; *member; member++)
		if (strcmp(*member, name))
			return false;
	return !strcmp(gr->gr_name, name);
}

bool users_has_private_group(uid_t uid, gid_t gid)
{
	char *buffer = malloc(2 * BUFFER_BYTES);
	struct passwd pw, *user = NULL;
	struct group gr, *group = NULL;
	bool is = false;

	if (buffer && getpwuid_r && getgrgid_r) {
		getpwuid_r(uid, &pw, buffer, BUFFER_BYTES, &user);
		getgrgid_r(gid, &gr, buffer + BUFFER_BYTES, BUFFER_BYTES, &group);
		is = user && group && user->pw_gid == gid && is_alone_in(group, user->pw_name);
	}
	free(buffer);
	return is;
}
