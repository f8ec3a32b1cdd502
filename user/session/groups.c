// SPDX-License-Identifier: BSD-3-Clause
/* Lines "name:password:gid:user,user". Strict: a group is given only where the line leaves no doubt. */
#include "session/groups.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "base/map.h"

#define GROUP_FILE_MAX (16u << 20)

/* Digits up to the colon, below the -1 that means "leave it" to the kernel; else -1. */
static int64_t parse_gid(const char *at, const char *end)
{
	int64_t gid = 0;

	if (at == end)
		return -1;
	for (; at < end; at++) {
		if (*at < '0' || *at > '9')
			return -1;
		gid = gid * 10 + (*at - '0');
		if (gid >= UINT32_MAX)
			return -1;
	}
	return gid;
}

static bool lists(const char *at, const char *end, const char *user, size_t user_len)
{
	while (at < end) {
		const char *comma = memchr(at, ',', (size_t)(end - at));
		const char *stop = comma ? comma : end;

		if ((size_t)(stop - at) == user_len && !memcmp(at, user, user_len))
			return true;
		at = stop + 1;
	}
	return false;
}

/* The line's gid if it is a group that lists the user; else -1. */
static int64_t parse_line(const char *at, const char *end, const char *user, size_t user_len)
{
	const char *field[3];		/* where the first three end */
	const char *from = at;

	if (at == end || *at == '+' || *at == '-' || *at == ':')
		return -1;		/* NIS, comments of old, nameless */
	for (int i = 0; i < 3; i++) {
		field[i] = memchr(from, ':', (size_t)(end - from));
		if (!field[i])
			return -1;
		from = field[i] + 1;
	}
	if (memchr(from, ':', (size_t)(end - from)) || !lists(from, end, user, user_len))
		return -1;
	return parse_gid(field[1] + 1, field[2]);
}

size_t groups_parse(const char *text, const char *user, gid_t primary, gid_t *out, size_t max)
{
	struct map seen = { 0 };
	size_t n = 0, user_len = strlen(user);
	bool is_new;

	out[n++] = primary;
	if (!user_len || strpbrk(user, ":,\n"))
		return n;
	map_put(&seen, primary, NULL);
	while (*text && n < max) {
		const char *end = strchrnul(text, '\n');
		int64_t gid = parse_line(text, end, user, user_len);

		if (gid >= 0 && map_put(&seen, (uint64_t)gid, &is_new) && is_new)
			out[n++] = (gid_t)gid;
		text = *end ? end + 1 : end;
	}
	map_free(&seen);
	return n;
}

size_t groups_of_user(const char *user, gid_t primary, gid_t *out, size_t max)
{
	char *text = io_read_file("/etc/group", GROUP_FILE_MAX, NULL);
	size_t n = groups_parse(text ? text : "", user, primary, out, max);

	free(text);
	return n;
}
