// SPDX-License-Identifier: BSD-3-Clause
/* fork, wait for the word, drop what sudo gave, exec. */
#include "cli/command.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"

/* SUDO_UID or SUDO_GID: a number, or -1 when not under sudo. */
static long sudo_id(const char *name)
{
	const char *text = getenv(name);
	char *end;
	long id;

	if (!text || *text < '0' || *text > '9')
		return -1;
	errno = 0;
	id = strtol(text, &end, 10);
	return *end || errno || id < 0 || id >= UINT32_MAX ? -1 : id;
}

/* The groups of the user's own session are not known here; sudo leaves its own list, which only
 * root could have given, so it is replaced by the primary group. getpwnam would need NSS. */
static int drop_sudo(void)
{
	long uid = sudo_id("SUDO_UID"), gid = sudo_id("SUDO_GID");
	gid_t group = (gid_t)gid;

	if (geteuid() != 0 || uid <= 0 || gid < 0)
		return 0;
	if (setgroups(1, &group) || setresgid(group, group, group) ||
	    setresuid((uid_t)uid, (uid_t)uid, (uid_t)uid))
		return -errno;
	return 0;
}

static void reset_signals(void)
{
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
}

static _Noreturn void child_main(char *const *argv, int go_fd, int error_fd)
{
	char word;
	ssize_t n;
	int err;

	prctl(PR_SET_PDEATHSIG, SIGKILL);	/* until exec: not left behind waiting */
	do
		n = read(go_fd, &word, 1);
	while (n < 0 && errno == EINTR);
	if (n != 1)
		_exit(127);
	prctl(PR_SET_PDEATHSIG, 0);
	reset_signals();
	err = drop_sudo();
	if (!err) {
		execvp(argv[0], argv);
		err = -errno;
	}
	while (write(error_fd, &err, sizeof(err)) < 0 && errno == EINTR)
		;
	_exit(err == -ENOENT ? 127 : 126);
}

int command_start(struct command *c, char *const *argv)
{
	int go[2], error[2], err;

	if (pipe2(go, O_CLOEXEC)) {
		err = -errno;
		goto fail;
	}
	if (pipe2(error, O_CLOEXEC)) {
		err = -errno;
		goto fail_go;
	}
	c->pid = fork();
	if (c->pid < 0) {
		err = -errno;
		goto fail_error;
	}
	if (c->pid == 0) {
		close(go[1]);
		close(error[0]);
		child_main(argv, go[0], error[1]);
	}
	close(go[0]);
	close(error[1]);
	c->go_fd = go[1];
	c->error_fd = error[0];
	c->pidfd = (int)syscall(SYS_pidfd_open, c->pid, 0);
	if (c->pidfd >= 0)
		return 0;
	err = -errno;
	command_abandon(c);
	goto fail;
fail_error:
	close(error[0]);
	close(error[1]);
fail_go:
	close(go[0]);
	close(go[1]);
fail:
	c->pid = 0;
	log_error("cannot start %s: %s", argv[0], strerror(-err));
	return err;
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

int command_go(struct command *c, const char *name)
{
	int err = 0;
	ssize_t n;

	while (write(c->go_fd, "!", 1) < 0 && errno == EINTR)
		;
	close_fd(&c->go_fd);
	do
		n = read(c->error_fd, &err, sizeof(err));
	while (n < 0 && errno == EINTR);
	close_fd(&c->error_fd);
	if (n != sizeof(err))
		return 0;	/* closed by the exec */
	command_wait(c);
	log_error("cannot run %s: %s", name, strerror(-err));
	return err;
}

int command_wait(struct command *c)
{
	int status;

	while (waitpid(c->pid, &status, 0) < 0)
		if (errno != EINTR)
			return 127;
	c->pid = 0;
	close_fd(&c->pidfd);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

void command_abandon(struct command *c)
{
	close_fd(&c->go_fd);
	close_fd(&c->error_fd);
	if (c->pid > 0) {
		kill(c->pid, SIGKILL);
		command_wait(c);
	}
	close_fd(&c->pidfd);
}
