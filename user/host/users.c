// SPDX-License-Identifier: BSD-3-Clause
/* See the header. Keeps nothing: whoever asks often remembers the answers. */
#include "host/users.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUFFER_BYTES 16384

/* A static glibc cannot ask name services safely (they are libraries of another glibc, perhaps);
 * weak, this stays out of a static link, and out of its warnings. */
#pragma weak getpwnam_r

typedef bool (*wanted_fn)(const struct passwd *pw, const void *what);

static bool has_uid(const struct passwd *pw, const void *uid)
{
	return pw->pw_uid == *(const uid_t *)uid;
}

static bool has_name(const struct passwd *pw, const void *name)
{
	return !strcmp(pw->pw_name, name);
}

/* The entry in /etc/passwd; its texts are in buffer. */
static bool find_local(wanted_fn wanted, const void *what, struct passwd *pw, char *buffer)
{
	FILE *f = fopen("/etc/passwd", "re");
	struct passwd *got = NULL;

	if (!f)
		return false;
	while (!fgetpwent_r(f, pw, buffer, BUFFER_BYTES, &got) && !wanted(got, what))
		got = NULL;
	fclose(f);
	return got != NULL;
}

bool users_name(uid_t uid, char *out, size_t size)
{
	char *buffer = malloc(BUFFER_BYTES);
	struct passwd pw;
	bool found;

	if (!buffer)
		return false;
	found = find_local(has_uid, &uid, &pw, buffer);
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
	if (find_local(has_name, name, &pw, buffer))
		got = &pw;
	else if (getpwnam_r)
		getpwnam_r(name, &pw, buffer, BUFFER_BYTES, &got);
	if (got)
		*uid = got->pw_uid;
	free(buffer);
	return got || parse_uid(name, uid);
}
