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

/* May only root and we put something else where this is, if it is where only they can replace it? */
static bool is_ours_alone(const struct stat *st)
{
	if (st->st_uid && st->st_uid != geteuid())
		return false;
	return S_ISLNK(st->st_mode) ||
	       (S_ISDIR(st->st_mode) && (!(st->st_mode & OTHERS) || st->st_mode & S_ISVTX));
}

#define LINKS_MAX 40

struct way {			/* through a path, as the kernel goes */
	char done[PATH_MAX - 2];	/* without links, "" for the root */
	char todo[2 * PATH_MAX];
	unsigned int links;
};

static int follow(struct way *w, const char *link, const char *rest)
{
	char target[PATH_MAX], all[2 * PATH_MAX];
	ssize_t n = readlink(link, target, sizeof(target) - 1);

	if (n < 0 || ++w->links > LINKS_MAX)
		return n < 0 ? -errno : -ELOOP;
	target[n] = '\0';
	if (snprintf(all, sizeof(all), "%s/%s", target, rest) >= (int)sizeof(all))
		return -ENAMETOOLONG;
	memcpy(w->todo, all, strlen(all) + 1);
	if (*target == '/')
		*w->done = '\0';
	return 0;
}

/* One part of what is to do: 0, or -errno (EPERM: others can replace `part`). */
static int step(struct way *w, char part[PATH_MAX])
{
	const char *name = w->todo + strspn(w->todo, "/");
	size_t len = strcspn(name, "/");
	char rest[2 * PATH_MAX];
	struct stat st;
	size_t n;

	snprintf(rest, sizeof(rest), "%s", name + len);
	if (len == 2 && !memcmp(name, "..", 2)) {
		char *last = strrchr(w->done, '/');

		*(last ? last : w->done) = '\0';
		snprintf(part, PATH_MAX, "%s/", w->done);
	} else if (!len || (len == 1 && *name == '.')) {
		snprintf(part, PATH_MAX, "%s/", w->done);
	} else if (snprintf(part, PATH_MAX, "%s/%.*s", w->done, (int)len, name) >= PATH_MAX - 2) {
		return -ENAMETOOLONG;
	}
	if (lstat(part, &st))
		return -errno;
	if (!is_ours_alone(&st))
		return -EPERM;
	if (S_ISLNK(st.st_mode))
		return follow(w, part, rest);
	n = strlen(part);
	n -= part[n - 1] == '/';
	memcpy(w->done, part, n);
	w->done[n] = '\0';
	memcpy(w->todo, rest, strlen(rest) + 1);
	return 0;
}

/* Each directory and each link on the way to it, from the root. dir: absolute. */
static int check_dir(const char *dir)
{
	char part[PATH_MAX] = "/";
	struct way *w = calloc(1, sizeof(*w));
	struct stat st;
	int err = w ? 0 : -ENOMEM;

	if (!err && lstat(part, &st))
		err = -errno;
	if (!err)
		err = is_ours_alone(&st) ? 0 : -EPERM;
	if (!err)
		snprintf(w->todo, sizeof(w->todo), "%s", dir);
	while (!err && *w->todo)
		err = step(w, part);
	free(w);
	if (err == -EPERM)
		log_error("cannot install the helper in %s: others can write to %s, and would run their code in "
			  "every process that loads it; choose another directory with --dir", dir, part);
	else if (err)
		cannot("use the directory", dir, -err);
	return err;
}

/* As it was given, so that a link goes on to lead where it will; only ".." cannot be left in. NULL + errno. */
static char *absolute(const char *dir)
{
	struct strbuf out = STRBUF_INIT;
	char *here = *dir == '/' ? NULL : getcwd(NULL, 0);

	if (*dir != '/' && !here)
		return NULL;
	strbuf_addstr(&out, here ? here : "");
	free(here);
	for (const char *at = dir; at[0]; ) {
		size_t len;

		at += strspn(at, "/");
		len = strcspn(at, "/");
		if (len == 2 && !memcmp(at, "..", 2)) {
			strbuf_free(&out);
			return realpath(dir, NULL);
		}
		if (len && !(len == 1 && *at == '.'))
			strbuf_addf(&out, "/%.*s", (int)len, at);
		at += len;
	}
	if (!out.len)
		strbuf_addch(&out, '/');
	errno = ENOMEM;		/* what detaching may fail of */
	return strbuf_detach(&out);
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

static int install_in(const char *dir, char **path)
{
	int err = check_dir(dir);

	if (!err && asprintf(path, "%s/" INJECT_FILE, dir) < 0) {
		*path = NULL;
		err = cannot("use the directory", dir, ENOMEM);
	}
	if (err || is_there(*path))
		return err ? err : 1;
	err = replace(*path);
	if (err)
		log_error("cannot write %s: %s; choose another directory with --dir", *path, strerror(-err));
	return err;
}

int install_helper(const char *dir, char **path)
{
	char *whole = NULL;
	int err = make_dir(dir);

	*path = NULL;
	if (err)
		return err;
	whole = absolute(dir);
	err = whole ? install_in(whole, path) : cannot("use the directory", dir, errno);
	free(whole);
	if (err < 0) {
		free(*path);
		*path = NULL;
	}
	return err;
}
