// SPDX-License-Identifier: BSD-3-Clause
/*
 * Writes finished text. A reader that goes away must be an ordinary error and not a signal that
 * ends a measurement, yet SIGPIPE cannot simply be ignored: a command that gpuprof starts would
 * inherit that. So it is held back for the time of the write.
 */
#include "cli/out.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/io.h"
#include "base/log.h"
#include "cli/exit.h"

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
	if (close(fd) && !err)	/* a network file system may tell only now that it is full */
		err = -errno;
	return err;
}

int out_write(const char *path, const struct strbuf *text)
{
	int err;

	if (text->failed)
		err = -ENOMEM;
	else
		err = path ? write_file(path, text) : write_quietly(STDOUT_FILENO, text);
	if (!err)
		return EXIT_OK;
	if (err != -EPIPE)
		log_error("cannot write %s%s: %s; nothing that was recorded is lost",
			  path ? "" : "to ", path ? path : "standard output", strerror(-err));
	return EXIT_FAIL;
}
