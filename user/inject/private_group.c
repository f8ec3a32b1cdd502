// SPDX-License-Identifier: BSD-3-Clause
/* Reads lines as glibc does: getpwent and its kin would bring NSS into a static program. */
#include "inject/private_group.h"

#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>

#define LINE_BYTES 65536	/* of a line that is longer the answer is no */
#define NAME_BYTES 256

static bool is_of_nis(const char *name)
{
	return *name == '+' || *name == '-';
}

/* Who the user is, if nobody else has gid for a primary group. */
static bool find_user(FILE *passwd, uid_t uid, gid_t gid, char *buffer, char name[NAME_BYTES])
{
	struct passwd pw, *got;
	bool found = false;

	while (!fgetpwent_r(passwd, &pw, buffer, LINE_BYTES, &got)) {
		if (is_of_nis(pw.pw_name) || (pw.pw_gid == gid && pw.pw_uid != uid))
			return false;
		if (found || pw.pw_uid != uid || pw.pw_gid != gid || strlen(pw.pw_name) >= NAME_BYTES)
			continue;
		memcpy(name, pw.pw_name, strlen(pw.pw_name) + 1);
		found = true;
	}
	return found && feof(passwd);
}

/* Groups of another name, or with other members, share the number. */
static bool has_user_alone(FILE *group, gid_t gid, char *buffer, const char *name)
{
	struct group gr, *got;
	bool found = false;

	while (!fgetgrent_r(group, &gr, buffer, LINE_BYTES, &got)) {
		if (is_of_nis(gr.gr_name))
			return false;
		if (gr.gr_gid != gid)
			continue;
		if (strcmp(gr.gr_name, name) != 0)
			return false;
		for (char **member = gr.gr_mem; *member; member++)
			if (strcmp(*member, name) != 0)
				return false;
		found = true;
	}
	return found && feof(group);
}

bool private_group_is(FILE *passwd, FILE *group, uid_t uid, gid_t gid)
{
	char *buffer = malloc(LINE_BYTES), name[NAME_BYTES];
	bool is = buffer && find_user(passwd, uid, gid, buffer, name) &&
		  has_user_alone(group, gid, buffer, name);

	free(buffer);
	return is;
}

bool private_group_here(uid_t uid, gid_t gid)
{
	FILE *passwd = fopen("/etc/passwd", "re"), *group = fopen("/etc/group", "re");
	bool is = passwd && group && private_group_is(passwd, group, uid, gid);

	if (passwd)
		fclose(passwd);
	if (group)
		fclose(group);
	return is;
}
