// SPDX-License-Identifier: BSD-3-Clause
/* See the header. */
#include "inject/install.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/log.h"
#include "base/str.h"
#include "inject/image.h"

#define SYSTEM_DIR "/usr/lib/gpuprof"
#define OTHERS (S_IWGRP | S_IWOTH)

char *install_default_dir(void)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	char *dir = NULL;
	int n;

	if (!geteuid())
		return strdup(SYSTEM_DIR);
	if (state && *state == '/')
		n = asprintf(&dir, "%s/gpuprof", state);
	else if (home && *home == '/')
		n = asprintf(&dir, "%s/.local/state/gpuprof", home);
	else
		return errno = ENOENT, NULL;
	return n < 0 ? NULL : dir;
}

static int cannot(const char *what, const char *dir, int err)
{
	log_error("cannot %s %s: %s; choose another one with --dir", what, dir, strerror(err));
	return -err;
}

/* Every part that is missing, readable by all: who uses it may be another user. */
static int make_dir(const char *dir)
{
	char *copy = strdup(dir);
	struct stat st;
	int err = 0;

	if (!copy)
		return cannot("make the directory", dir, ENOMEM);
	for (char *at = copy; !err && *at;) {
		char cut;

		at += strspn(at, "/");
		at += strcspn(at, "/");
		cut = *at;
		*at = '\0';
		if (!mkdir(copy, 0755))
			err = chmod(copy, 0755) ? -errno : 0;	/* whatever the umask is */
		else if (errno != EEXIST)
			err = -errno;
		*at = cut;
	}
	free(copy);
	if (!err && (stat(dir, &st) || !S_ISDIR(st.st_mode)))
		err = -ENOTDIR;
	return err ? cannot("make the directory", dir, -err) : 0;
}

/* May only root and we put something else where this directory, or what is in it, is? */
static bool is_ours_alone(const char *dir)
{
	struct stat st;

	if (lstat(dir, &st) || !S_ISDIR(st.st_mode))
		return false;
	return (!st.st_uid || st.st_uid == geteuid()) && (!(st.st_mode & OTHERS) || st.st_mode & S_ISVTX);
}

/* dir: without symbolic links. Each directory on the way to it, from the root. */
static int check_dir(const char *dir)
{
	char part[PATH_MAX] = "/";

	for (const char *at = dir; is_ours_alone(part);) {
		if (!*at)
			return 0;
		at += 1 + strcspn(at + 1, "/");
		snprintf(part, sizeof(part), "%.*s", (int)(at - dir), dir);
	}
	log_error("cannot install the helper in %s: others can write to %s, and would run their code in "
		  "every process that loads it; choose another directory with --dir", dir, part);
	return -EPERM;
}

static bool is_there(const char *path)
{
	struct stat st;
	size_t len, has = 0;
	const void *image = inject_image(&len);
	char *text;
	bool same;

	if (lstat(path, &st) || !S_ISREG(st.st_mode) || (st.st_mode & 07777) != 0644 ||
	    (st.st_uid && st.st_uid != geteuid()))
		return false;
	text = io_read_file(path, len, &has);
	same = text && has == len && !memcmp(text, image, len);
	free(text);
	return same;
}

/* Processes that have the old file keep it: its name is given to the new one. */
static int replace(const char *path)
{
	struct strbuf tmp = STRBUF_INIT;
	size_t len;
	const void *image = inject_image(&len);
	int fd, err;

	strbuf_addf(&tmp, "%s.XXXXXX", path);
	fd = tmp.failed ? -1 : mkostemp(tmp.s, O_CLOEXEC);
	err = tmp.failed ? -ENOMEM : fd < 0 ? -errno : io_write_all(fd, image, len);
	if (!err && (fchmod(fd, 0644) || fsync(fd) || rename(tmp.s, path)))
		err = -errno;
	if (fd >= 0 && err)
		unlink(tmp.s);
	io_close(&fd);
	strbuf_free(&tmp);
	return err;
}

int install_helper(const char *dir, char **path)
{
	char *real = NULL;
	int err = make_dir(dir);

	*path = NULL;
	if (err)
		return err;
	real = realpath(dir, NULL);
	err = real ? check_dir(real) : cannot("use the directory", dir, errno);
	if (!err && asprintf(path, "%s/" INJECT_FILE, real) < 0) {
		*path = NULL;
		err = cannot("use the directory", real, ENOMEM);
	}
	free(real);
	if (!err && is_there(*path))
		return 1;
	if (!err) {
		err = replace(*path);
		if (err)
			log_error("cannot write %s: %s; choose another directory with --dir", *path,
				  strerror(-err));
	}
	if (err) {
		free(*path);
		*path = NULL;
	}
	return err;
}
