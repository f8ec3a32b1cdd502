// SPDX-License-Identifier: BSD-3-Clause
/* Names of columns are their titles; the file is replaced as a whole. */
#include "cli/top_settings.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "view/tui/page.h"

#define LINE 128

/* False: there is no home. */
static bool find_directory(char dir[PATH_MAX])
{
	const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
	struct stat st;
	int n;

	if (config && *config == '/')
		n = snprintf(dir, PATH_MAX, "%s/gpuprof", config);
	else if (home && *home == '/' && !stat(home, &st) && st.st_uid == geteuid())
		n = snprintf(dir, PATH_MAX, "%s/.config/gpuprof", home);
	else
		return false;
	return n > 0 && n < PATH_MAX - (int)sizeof("/top");
}

static int column_of(const char *title)
{
	for (int i = 0; page_column(i); i++)
		if (!strcmp(page_column(i), title))
			return i;
	return -1;
}

static void read_line(struct live *l, const char *line)
{
	if (!strncmp(line, "sort ", 5))
		l->sort = column_of(line + 5);
	else if (!strncmp(line, "hidden ", 7) && column_of(line + 7) >= 0)
		l->hidden |= 1u << column_of(line + 7);
	else if (!strcmp(line, "reversed"))
		l->is_reversed = true;
	else if (!strcmp(line, "unfolded"))
		l->is_unfolded = true;
	else if (!strcmp(line, "no-history"))
		l->has_strips = false;
}

void top_settings_read(struct live *l)
{
	char dir[PATH_MAX], path[PATH_MAX + sizeof("/top")], line[LINE];
	FILE *f;

	if (!find_directory(dir))
		return;
	snprintf(path, sizeof(path), "%s/top", dir);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		read_line(l, line);
	}
	if (f)
		fclose(f);
}

static void add_settings(struct strbuf *out, const struct live *l)
{
	if (l->sort >= 0)
		strbuf_addf(out, "sort %s\n", page_column(l->sort));
	for (int i = 0; page_column(i); i++)
		if (l->hidden >> i & 1)
			strbuf_addf(out, "hidden %s\n", page_column(i));
	strbuf_addstr(out, l->is_reversed ? "reversed\n" : "");
	strbuf_addstr(out, l->is_unfolded ? "unfolded\n" : "");
	strbuf_addstr(out, l->has_strips ? "" : "no-history\n");
}

/* The directory and the one that it is in: ~/.config is missing at first. */
static void make_directory(const char *dir)
{
	char parent[PATH_MAX];

	snprintf(parent, sizeof(parent), "%.*s", (int)(strrchr(dir, '/') - dir), dir);
	mkdir(parent, 0700);
	mkdir(dir, 0700);
}

void top_settings_write(const struct live *l, const struct live *before)
{
	char dir[PATH_MAX], path[PATH_MAX + sizeof("/top")], new[PATH_MAX + sizeof("/top.new")];
	struct strbuf now = STRBUF_INIT, then = STRBUF_INIT;
	int fd = -1;

	add_settings(&now, l);
	add_settings(&then, before);
	if (!now.failed && !then.failed && strcmp(now.s, then.s) != 0 && find_directory(dir)) {
		make_directory(dir);
		snprintf(path, sizeof(path), "%s/top", dir);
		snprintf(new, sizeof(new), "%s/top.new", dir);
		fd = open(new, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	}
	if (fd >= 0 && !io_write_all(fd, now.s, now.len))
		rename(new, path);
	if (fd >= 0)
		close(fd);
	strbuf_free(&now);
	strbuf_free(&then);
}
