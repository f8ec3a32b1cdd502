// SPDX-License-Identifier: BSD-3-Clause
/*
 * Creates capture files, without harm to other files or to what an earlier session recorded. Knows
 * only how a capture begins.
 */
#include "capture/capture_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/log.h"
#include "capture/capture.h"
#include "capture/capture_frame.h"

#define ASIDE_MAX 10000		/* older captures of one name */
#define DIGITS 6		/* of a number in a name, at least */

bool capture_is_file(int fd)
{
	struct gp_file_header h;

	return pread(fd, &h, sizeof(h), 0) >= FRAME_TAG_END && h.frame_magic == GP_FRAME_MAGIC &&
	       h.tag == GP_FILE_TAG;
}

/* ---- names ---------------------------------------------------------------------------------- */

/* How much of a name stands before its ".gpr", if it has one. */
static size_t stem_of(const char *path)
{
	size_t len = strlen(path);

	return len > 4 && !strcmp(path + len - 4, ".gpr") ? len - 4 : len;
}

void capture_file_number(struct strbuf *out, const char *path, uint64_t number)
{
	size_t stem = stem_of(path);

	strbuf_addf(out, "%.*s.%0*llu%s", (int)stem, path, DIGITS, (unsigned long long)number,
		    path + stem);
}

/* Of "run.000002.gpr" as one of "run.gpr": 2. 0: it is none. */
static uint64_t number_of(const char *name, const char *of)
{
	size_t stem = stem_of(of);
	unsigned long long number;
	char *end;

	if (strncmp(name, of, stem) || name[stem] != '.' ||
	    strspn(name + stem + 1, "0123456789") < DIGITS)
		return 0;
	errno = 0;
	number = strtoull(name + stem + 1, &end, 10);
	return errno || strcmp(end, of + stem) ? 0 : number;
}

uint64_t capture_file_last(const char *path)
{
	const char *of = str_basename(path);
	struct strbuf where = STRBUF_INIT;
	const struct dirent *entry;
	uint64_t last = 0;
	DIR *dir;

	strbuf_add(&where, path, (size_t)(of - path));
	dir = opendir(where.len ? where.s : ".");
	while (dir && (entry = readdir(dir)) != NULL) {
		uint64_t number = number_of(entry->d_name, of);

		last = number > last ? number : last;
	}
	if (dir)
		closedir(dir);
	strbuf_free(&where);
	return last;
}

/* ---- existing files ------------------------------------------------------------------------- */

/* Another gpuprof has the lock, or has replaced the file. */
static bool is_in_use(int fd, const char *path, const struct stat *st)
{
	struct stat now;

	return flock(fd, LOCK_EX | LOCK_NB) ? errno == EWOULDBLOCK :
	       lstat(path, &now) || now.st_dev != st->st_dev || now.st_ino != st->st_ino;
}

/* Locks what may be written or get another name. Its size, or -errno, logged. */
static off_t take(int fd, const char *path)
{
	const char *why = NULL;
	struct stat st;
	int err = EEXIST;

	if (fstat(fd, &st))
		err = errno, why = strerror(err);
	else if (!S_ISREG(st.st_mode))
		why = "is not a regular file";
	else if (st.st_size && !capture_is_file(fd))
		why = "exists and is not a capture";
	else if (is_in_use(fd, path, &st))
		err = EBUSY, why = "is being written by another gpuprof";
	if (why)
		log_error("%s %s; choose another name", path, why);
	return why ? -err : st.st_size;
}

/* Not every file system knows how to rename only where nothing is replaced. 0 or an errno. */
static int rename_to_new(const char *from, const char *to)
{
	if (!renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE))
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return errno;
	return link(from, to) || unlink(from) ? errno : 0;
}

/* Renames "run.gpr" to "run.old.gpr", "run.old2.gpr" ...: the first that is free. 0 or -errno,
 * logged. */
static int put_aside(const char *path)
{
	struct strbuf name = STRBUF_INIT;
	size_t stem = stem_of(path);
	int err = EEXIST;

	for (int i = 1; i <= ASIDE_MAX && err == EEXIST; i++) {
		strbuf_reset(&name);
		strbuf_addf(&name, "%.*s.old", (int)stem, path);
		if (i > 1)
			strbuf_addf(&name, "%d", i);
		strbuf_addstr(&name, path + stem);
		err = name.failed ? ENOMEM : rename_to_new(path, name.s);
	}
	if (!err)
		log_info("%s is an older capture and kept as %s", path, name.s);
	else
		log_error("cannot keep the older capture %s under another name: %s; choose another "
			  "name for the new one", path, strerror(err));
	strbuf_free(&name);
	return -err;
}

/* O_NONBLOCK: opening a FIFO or a device must not wait before it is refused. */
static int open_target(const char *path, int more)
{
	const int flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
	int fd = open(path, flags | more, 0600);
	int err = errno;

	if (fd >= 0)
		return fd;
	log_error("cannot create %s: %s", path,
		  err == ELOOP ? "it is a symbolic link; choose another name" : strerror(err));
	return -err;
}

/* In place of the capture that old is open on and has locked. */
static int create_anew(int old, const char *path)
{
	int err = put_aside(path), fd = err ? err : open_target(path, O_EXCL);
	off_t rc = fd < 0 ? fd : take(fd, path);

	close(old);
	if (fd >= 0 && rc)
		close(fd);
	return rc ? (int)rc : fd;
}

int capture_file_create(const char *path)
{
	int fd = open_target(path, 0), err;
	off_t size = fd < 0 ? fd : take(fd, path);

	if (size < 0)
		io_close(&fd);
	else if (size)
		fd = create_anew(fd, path);
	if (fd < 0)
		return size < 0 ? (int)size : fd;
	if (!fchmod(fd, 0600))
		return fd;
	err = errno;
	log_error("cannot make %s its owner's alone: %s", path, strerror(err));
	close(fd);
	return -err;
}
