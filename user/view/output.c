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

/* As https://no-color.org has it. */
bool output_is_colored(void)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

	return isatty(STDOUT_FILENO) && !(no_color && *no_color) && term && *term &&
	       strcmp(term, "dumb") != 0;
}

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

/* A file by name: from the working directory, or in a directory that is open. */
struct output_file {
	int dir;		/* or AT_FDCWD */
	const char *name;
};

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
static struct output_place place_of(struct output_file f)
{
	struct output_place at = { .mode = 0666 };
	struct stat st;

	if (fstatat(f.dir, f.name, &st, AT_SYMLINK_NOFOLLOW))
		return at;
	at.place = PLACE_REFUSED;
	if ((S_ISLNK(st.st_mode) || S_ISCHR(st.st_mode)) && is_device(f.name)) {
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
static int replace_file(struct output_file f, mode_t mode, const struct strbuf *text)
{
	struct strbuf beside = STRBUF_INIT;
	int fd, err;

	strbuf_addf(&beside, "%s.%d.part", f.name, getpid());
	if (beside.failed)
		return -ENOMEM;
	fd = openat(f.dir, beside.s, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
	err = write_to(fd, text);
	if (!err && renameat(f.dir, beside.s, f.dir, f.name))
		err = -errno;
	if (err && fd >= 0)
		unlinkat(f.dir, beside.s, 0);
	strbuf_free(&beside);
	return err;
}

static bool is_capture(struct output_file f)
{
	int fd = openat(f.dir, f.name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	bool is = fd >= 0 && capture_is_file(fd);

	io_close(&fd);
	return is;
}

/* 0 or -errno; *why: NULL, or what that means. */
static int write_file(struct output_file f, const struct strbuf *text, const char **why)
{
	struct output_place at = place_of(f);

	*why = at.why;
	if (at.place == PLACE_REFUSED)
		return -EPERM;
	if (is_capture(f))
		return -EEXIST;
	if (at.place == PLACE_FILE)
		return replace_file(f, at.mode, text);
	return write_to(openat(f.dir, f.name, O_WRONLY | O_APPEND | O_NOCTTY | O_CLOEXEC), text);
}

/* NULL, or why no file can be made beside path. */
static const char *refusal_beside(const char *path)
{
	char *copy = strdup(path);
	int err = !copy ? ENOMEM : access(dirname(copy), W_OK | X_OK) ? errno : 0;

	free(copy);
	return err ? strerror(err) : NULL;
}

/* EXIT_OK, or logged. */
static int check_file(struct output_file f, const char *path, const char *why)
{
	if (why)
		log_error("cannot write %s: %s", path, why);
	else if (is_capture(f))
		log_error("%s is a capture and would be overwritten; choose another name", path);
	else
		return EXIT_OK;
	return EXIT_FAIL;
}

/* Only checks, so that no file is made or emptied where no report follows. */
int output_check(const char *path)
{
	const struct output_file f = { AT_FDCWD, path };
	struct output_place at;

	if (!path)
		return EXIT_OK;
	at = place_of(f);
	if (at.place == PLACE_FILE)
		at.why = str_ends_in(path, "/") ? strerror(EISDIR) : refusal_beside(path);
	return check_file(f, path, at.why);
}

static int print(const struct strbuf *text)
{
	int err = text->failed ? -ENOMEM : write_quietly(STDOUT_FILENO, text);

	if (err && err != -EPIPE)
		log_error("cannot write to standard output: %s", strerror(-err));
	return err ? EXIT_FAIL : EXIT_OK;
}

/* The report is not lost: it was measured. */
static int print_instead(const char *path, const char *why, const struct strbuf *text)
{
	log_error("cannot write %s: %s; the report is on standard output instead", path, why);
	write_quietly(STDOUT_FILENO, text);
	return EXIT_FAIL;
}

int output_write(const char *path, const struct strbuf *text)
{
	const char *why;
	int err;

	if (!path || text->failed)
		return print(text);
	err = write_file((struct output_file){ AT_FDCWD, path }, text, &why);
	return err ? print_instead(path, why ? why : strerror(-err), text) : EXIT_OK;
}

/* ---- files of a directory -------------------------------------------------------------------- */

/* With a slash behind it a link would be followed. */
static char *without_slashes(const char *path)
{
	size_t len = strlen(path);

	while (len > 1 && path[len - 1] == '/')
		len--;
	return strndup(path, len);
}

/*
 * Files are made in what is open, so that it cannot become another directory meanwhile. Others who
 * own it could lead what root writes elsewhere. The descriptor, or -errno: with -EPERM *why is set.
 */
static int open_dir(const char *path, const char **why)
{
	char *name = without_slashes(path);
	struct stat st;
	int fd, err;

	*why = NULL;
	if (!name)
		return -ENOMEM;
	fd = open(name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	err = fd < 0 ? -errno : 0;
	if (err == -ENOTDIR && !lstat(name, &st) && S_ISLNK(st.st_mode))
		*why = "it is a symbolic link; give the directory itself";
	else if (!err && (fstat(fd, &st) || (st.st_uid && st.st_uid != geteuid())))
		*why = "it belongs to another user; choose another directory";
	free(name);
	if (*why)
		io_close(&fd);
	return *why ? -EPERM : err ? err : fd;
}

static char *path_in(const char *dir, const char *name)
{
	char *path;
	int n = asprintf(&path, "%s%s%s", dir, str_ends_in(dir, "/") ? "" : "/", name);

	return n < 0 ? NULL : path;
}

static int check_in(int dir, const char *path, const char *name)
{
	const struct output_file f = { dir, name };
	struct output_place at = place_of(f);

	return check_file(f, path, at.why);
}

int output_check_in(const char *dir, const char *name)
{
	const char *why;
	int fd = open_dir(dir, &why), rc = EXIT_OK;
	char *path = path_in(dir, name);

	if (fd == -ENOENT)
		why = refusal_beside(dir);
	else if (fd < 0 || faccessat(fd, ".", W_OK | X_OK, 0))
		why = why ? why : strerror(fd < 0 ? -fd : errno);
	if (why || !path) {
		log_error("cannot write files into %s: %s", dir, why ? why : strerror(ENOMEM));
		rc = EXIT_FAIL;
	} else if (fd >= 0) {
		rc = check_in(fd, path, name);
	}
	io_close(&fd);
	free(path);
	return rc;
}

int output_write_in(const char *dir, const char *name, const struct strbuf *text)
{
	char *path = path_in(dir, name);
	const char *why = NULL;
	int fd, err;

	if (!path || text->failed) {
		free(path);
		return print(text);
	}
	fd = mkdir(dir, 0777) && errno != EEXIST ? -errno : open_dir(dir, &why);
	err = fd < 0 ? fd : write_file((struct output_file){ fd, name }, text, &why);
	err = err ? print_instead(path, why ? why : strerror(-err), text) : EXIT_OK;
	io_close(&fd);
	free(path);
	return err;
}
