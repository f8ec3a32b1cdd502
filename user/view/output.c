// SPDX-License-Identifier: BSD-3-Clause
/*
 * Writes finished text. A reader that goes away must be an ordinary error and not a signal that
 * ends a measurement, yet SIGPIPE cannot simply be ignored: a command that gpuprof starts would
 * inherit that. So it is held back for the time of the write.
 */
#include "view/output.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/io.h"
#include "base/log.h"
#include "base/exit.h"
#include "capture/capture.h"

static int write_quietly(int fd, const struct strbuf *text)
{
	const struct timespec now = { 0 };
	sigset_t pipe, before;
	int err;

	sigemptyset(&pipe);
	sigaddset(&pipe, SIGPIPE);
	pthread_sigmask(SIG_BLOCK, &pipe, &before);
	err = io_write_all(fd, text->s, text->len);
	if (err == -EPIPE)
		sigtimedwait(&pipe, NULL, &now);	/* takes back the one just raised */
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return err;
}

/* ---- where a report may go ------------------------------------------------------------------- */

/* What a name stands for: a report replaces a file, or goes to where a device leads. */
enum place { PLACE_FILE, PLACE_DEVICE, PLACE_REFUSED };

struct output_place {
	enum place place;
	mode_t mode;		/* of PLACE_FILE */
	const char *why;	/* of PLACE_REFUSED */
};

/* "/dev/stdout", "/dev/null", and nothing in a part of /dev that others may write to. */
static bool is_device(const char *path)
{
	char *copy = strncmp(path, "/dev/", 5) ? NULL : strdup(path);
	struct stat st;
	bool is = copy && !stat(dirname(copy), &st) && !st.st_uid && !(st.st_mode & 022);

	free(copy);
	return is;
}

/*
 * In a directory that others may write to, they can have prepared the name: a link to a file that
 * the report would overwrite, one that they go on reading, a FIFO without a reader.
 */
static struct output_place place_of(const char *path)
{
	struct output_place at = { .mode = 0666 };
	struct stat st;

	if (lstat(path, &st))
		return at;
	at.place = PLACE_REFUSED;
	if ((S_ISLNK(st.st_mode) || S_ISCHR(st.st_mode)) && is_device(path)) {
		at.place = PLACE_DEVICE;
	} else if (S_ISLNK(st.st_mode)) {
		at.why = "it is a symbolic link; give the name of a file";
	} else if (S_ISDIR(st.st_mode)) {
		at.why = strerror(EISDIR);
	} else if (!S_ISREG(st.st_mode)) {
		at.why = "it is not a regular file; without -o the report goes to standard output";
	} else if (st.st_uid != geteuid()) {
		at.why = "it belongs to another user; choose another name";
	} else {
		at.place = PLACE_FILE;
		at.mode = st.st_mode & 0777;
	}
	return at;
}

static int write_to(int fd, const struct strbuf *text)
{
	int err = fd < 0 ? -errno : write_quietly(fd, text);

	if (fd >= 0 && close(fd) && !err)	/* a network file system may report only now that
						 * it is full */
		err = -errno;
	return err;
}

/* A file beside, which takes the name when it is whole: what was there stays until then. */
static int replace_file(const char *path, mode_t mode, const struct strbuf *text)
{
	struct strbuf beside = STRBUF_INIT;
	int fd, err;

	strbuf_addf(&beside, "%s.%d.part", path, getpid());
	if (beside.failed)
		return -ENOMEM;
	fd = open(beside.s, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
	err = write_to(fd, text);
	if (!err && rename(beside.s, path))
		err = -errno;
	if (err && fd >= 0)
		unlink(beside.s);
	strbuf_free(&beside);
	return err;
}

static int write_file(const char *path, const struct output_place *at, const struct strbuf *text)
{
	if (at->place == PLACE_FILE)
		return replace_file(path, at->mode, text);
	return write_to(open(path, O_WRONLY | O_APPEND | O_NOCTTY | O_CLOEXEC), text);
}

static bool is_capture(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	bool is = fd >= 0 && capture_is_file(fd);

	io_close(&fd);
	return is;
}

/* NULL, or why not. Only checks, so that no file is made or emptied where no report follows. */
static const char *refusal(const char *path)
{
	struct output_place at = place_of(path);
	char *copy;
	int err;

	if (at.place != PLACE_FILE)
		return at.why;
	copy = strdup(path);
	err = !copy ? ENOMEM : access(dirname(copy), W_OK | X_OK) ? errno : 0;
	free(copy);
	return err ? strerror(err) : NULL;
}

int output_check(const char *path)
{
	const char *why = path ? refusal(path) : NULL;

	if (why)
		log_error("cannot write %s: %s", path, why);
	else if (path && is_capture(path))
		log_error("%s is a capture and would be overwritten; choose another name", path);
	else
		return EXIT_OK;
	return EXIT_FAIL;
}

int output_write(const char *path, const struct strbuf *text)
{
	struct output_place at = path ? place_of(path) : (struct output_place){ .why = NULL };
	int err = text->failed ? -ENOMEM : 0;

	if (!err && path) {
		err = is_capture(path) ? -EEXIST : at.why ? -EPERM : write_file(path, &at, text);
		if (!err)
			return EXIT_OK;
		log_error("cannot write %s: %s; the report is on standard output instead", path,
			  at.why ? at.why : strerror(-err));
		write_quietly(STDOUT_FILENO, text);
		return EXIT_FAIL;
	}
	if (!err)
		err = write_quietly(STDOUT_FILENO, text);
	if (err && err != -EPIPE)
		log_error("cannot write to standard output: %s", strerror(-err));
	return err ? EXIT_FAIL : EXIT_OK;
}
