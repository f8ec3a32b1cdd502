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

static int write_file(const char *path, const struct strbuf *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666), err;

	if (fd < 0)
		return -errno;
	err = write_quietly(fd, text);
	if (close(fd) && !err)	/* a network file system may report only now that it is full */
		err = -errno;
	return err;
}

static bool is_capture(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	bool is = fd >= 0 && capture_is_file(fd);

	io_close(&fd);
	return is;
}

/* 0 or an errno. Only checks, so that no file is made or emptied where no report follows. */
static int may_write(const char *path)
{
	struct stat st;
	char *copy;
	int err;

	if (!stat(path, &st)) {
		if (S_ISDIR(st.st_mode))
			return EISDIR;
		return access(path, W_OK) ? errno : 0;
	}
	if (errno != ENOENT)
		return errno;
	copy = strdup(path);
	if (!copy)
		return ENOMEM;
	err = access(dirname(copy), W_OK | X_OK) ? errno : 0;
	free(copy);
	return err;
}

int output_check(const char *path)
{
	int err = path ? may_write(path) : 0;

	if (err)
		log_error("cannot write %s: %s", path, strerror(err));
	else if (path && is_capture(path))
		log_error("%s is a capture and would be overwritten; choose another name", path);
	else
		return EXIT_OK;
	return EXIT_FAIL;
}

int output_write(const char *path, const struct strbuf *text)
{
	int err = text->failed ? -ENOMEM : 0;

	if (!err && path) {
		err = is_capture(path) ? -EEXIST : write_file(path, text);
		if (!err)
			return EXIT_OK;
		log_error("cannot write %s: %s; the report is on standard output instead", path,
			  strerror(-err));
		write_quietly(STDOUT_FILENO, text);
		return EXIT_FAIL;
	}
	if (!err)
		err = write_quietly(STDOUT_FILENO, text);
	if (err && err != -EPIPE)
		log_error("cannot write to standard output: %s", strerror(-err));
	return err ? EXIT_FAIL : EXIT_OK;
}
