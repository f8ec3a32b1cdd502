/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes and files that the tests of target discovery look at. */
#ifndef TESTS_TARGET_CHILD_H
#define TESTS_TARGET_CHILD_H

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/cmocka.h"
#include "lib/emulated.h"
#include "lib/scratch.h"

#define UID_NOBODY 65534
#define UNUSED __attribute__((unused))

/* ---- scratch directories ------------------------------------------------------------------ */

struct scratch {
	char dir[64];
};

static inline void scratch_make(struct scratch *s)
{
	snprintf(s->dir, sizeof(s->dir), "/tmp/gpuprof-target-XXXXXX");
	assert_true(scratch_dir(s->dir));
	assert_int_equal(chmod(s->dir, 0755), 0);
}

static inline const char *scratch_path(const struct scratch *s, const char *name, char out[512])
{
	snprintf(out, 512, "%s/%s", s->dir, name);
	return out;
}

static UNUSED __attribute__((format(printf, 1, 2))) int run_shell(const char *fmt, ...)
{
	char command[4096];
	va_list ap;
	int rc;

	va_start(ap, fmt);
	vsnprintf(command, sizeof(command), fmt, ap);
	va_end(ap);
	rc = system(command);
	return WIFEXITED(rc) ? WEXITSTATUS(rc) : -1;
}

static inline void scratch_remove(struct scratch *s)
{
	run_shell("rm -rf '%s'", s->dir);
}

static UNUSED void write_text(const char *path, const char *text, mode_t mode)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(chmod(path, mode), 0);
}

/* A page that can be mapped executable. */
static UNUSED void write_page(const char *path)
{
	char page[4096] = { 0 };
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, page, sizeof(page)), sizeof(page));
	close(fd);
}

static inline void *map_code(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	void *at;

	if (fd < 0)
		return MAP_FAILED;
	at = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	close(fd);
	return at;
}

/* ---- children ----------------------------------------------------------------------------- */

struct child {
	pid_t pid;
	int report, hear;		/* pipes to and from it */
};

/* Forks; fn runs in the child, calls child_ready when its scene is set, then its exit status. */
static inline struct child child_start(int (*fn)(struct child *me, void *arg), void *arg)
{
	int down[2], up[2];
	struct child c;

	assert_int_equal(pipe2(down, O_CLOEXEC), 0);
	assert_int_equal(pipe2(up, O_CLOEXEC), 0);
	c.pid = fork();
	assert_true(c.pid >= 0);
	if (!c.pid) {
		struct child me = { .pid = getpid(), .report = up[1], .hear = down[0] };

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(down[1]);
		close(up[0]);
		_exit(fn(&me, arg));
	}
	close(down[0]);
	close(up[1]);
	c.report = down[1];
	c.hear = up[0];
	return c;
}

/* Both sides: one byte to the other, one byte from the other. */
static inline bool child_signal(const struct child *c)
{
	return write(c->report, "x", 1) == 1;
}

static inline bool child_await(const struct child *c)
{
	char byte;

	return read(c->hear, &byte, 1) == 1;
}

static inline int child_end(struct child *c)
{
	int status;

	close(c->report);
	close(c->hear);
	assert_int_equal(waitpid(c->pid, &status, 0), c->pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* ---- privileges --------------------------------------------------------------------------- */

static inline void drop_capability(unsigned int cap)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2];

	if (syscall(SYS_capget, &head, data))
		return;
	data[cap / 32].effective &= ~(1u << cap % 32);
	syscall(SYS_capset, &head, data);
}

static inline bool become_unprivileged(void)
{
	/* A change of user hides a process from that user, too, until it is dumpable again. */
	return !setresgid(UID_NOBODY, UID_NOBODY, UID_NOBODY) && !setresuid(UID_NOBODY, UID_NOBODY, UID_NOBODY) &&
	       !prctl(PR_SET_DUMPABLE, 1);
}

/* Runs fn in a forked child with its stderr in err; its return value. */
static UNUSED int run_apart(int (*fn)(void *arg), void *arg, char *err, size_t size)
{
	int pipes[2], status;
	size_t n = 0;
	ssize_t got;
	pid_t pid;

	assert_int_equal(pipe2(pipes, O_CLOEXEC), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		dup2(pipes[1], STDERR_FILENO);
		_exit(fn(arg));
	}
	close(pipes[1]);
	while (n < size - 1 && (got = read(pipes[0], err + n, size - 1 - n)) > 0)
		n += (size_t)got;
	err[n] = '\0';
	close(pipes[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

static UNUSED bool is_root(void)
{
	return geteuid() == 0;
}

#endif
