// SPDX-License-Identifier: BSD-3-Clause
/* fork, wait for the word, drop what sudo gave, exec. */
#include "session/command.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "base/log.h"
#include "base/exit.h"
#include "host/environment.h"
#include "host/proc.h"
#include "host/users.h"
#include "inject/install.h"

/* Waits for its end: its exit status, or 128 + signal. */
static int command_wait(struct command *c)
{
	int status;

	while (waitpid(c->pid, &status, 0) < 0)
		if (errno != EINTR)
			return EXIT_NOT_FOUND;
	c->pid = 0;
	io_close(&c->pidfd);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

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

/* The user who ran sudo, worked out before the fork: nothing is allocated after it. */
struct invoker {
	bool known;		/* run as them; else as ourselves */
	uid_t uid;
	gid_t gid;
	gid_t *groups;		/* also those that give access to the GPU: render, video */
	size_t n_groups;
};

/* What sudo replaces or removes, and a program finds its interpreter and libraries by. */
static const char *const kept_variables[] = {
	"HOME", "USER", "LOGNAME", "SHELL", "PATH", "LD_LIBRARY_PATH", "PYTHONPATH",
	"VIRTUAL_ENV", "CONDA_PREFIX", "CONDA_DEFAULT_ENV", "CONDA_EXE", "CONDA_PYTHON_EXE",
	"CONDA_SHLVL",
};

#define SUDO_DEPTH 8	/* of sudo's own processes above us */

/* With a pseudo-terminal sudo has one more process above its command. 0: there is none. */
static pid_t find_sudo(void)
{
	pid_t pid = getppid(), top = 0;
	struct proc_stat stat;

	for (int i = 0; i < SUDO_DEPTH && proc_stat_of(pid, &stat); i++) {
		if (strcmp(stat.comm, "sudo") != 0)
			break;
		top = pid;
		pid = stat.ppid;
	}
	return top;
}

/* As sudo was called with them: ours, since what the command will load is looked for by them, too.
 * False: they are as sudo made them. */
static bool restore_environment(void)
{
	struct environment env = { .block = NULL };
	const pid_t sudo = find_sudo();
	struct proc p;

	if (!sudo)
		return false;
	if (!proc_open(&p, sudo))
		env = environment_read(&p);
	for (size_t i = 0; env.block && i < sizeof(kept_variables) / sizeof(char *); i++) {
		const char *value = environment_find(&env, kept_variables[i]);

		if (value)
			setenv(kept_variables[i], value, 1);
		else
			unsetenv(kept_variables[i]);
	}
	proc_close(&p);
	return env.block != NULL;
}

/* 0 or -ENOMEM. The caller frees groups. */
static int find_invoker(struct invoker *who)
{
	long uid = sudo_id("SUDO_UID"), gid = sudo_id("SUDO_GID");
	const char *user = getenv("SUDO_USER");

	*who = (struct invoker){ .known = geteuid() == 0 && uid > 0 && gid >= 0 };
	if (!who->known)
		return 0;
	who->uid = (uid_t)uid;
	who->gid = (gid_t)gid;
	who->groups = calloc(NGROUPS_MAX, sizeof(*who->groups));
	if (!who->groups)
		return -ENOMEM;
	who->n_groups = users_groups(user ? user : "", who->gid, who->groups, NGROUPS_MAX);
	return 0;
}

static _Noreturn void child_main(char *const *argv, const struct invoker *who, int go_fd,
				 int error_fd, const char *helper)
{
	sigset_t none;
	char word;
	ssize_t n;
	int err = 0;

	prctl(PR_SET_PDEATHSIG, SIGKILL);	/* until exec: not left behind waiting */
	do
		n = read(go_fd, &word, 1);
	while (n < 0 && errno == EINTR);
	if (n != 1)
		_exit(EXIT_NOT_RUN);
	prctl(PR_SET_PDEATHSIG, 0);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	if (who->known &&
	    (setgroups(who->n_groups, who->groups) || setresgid(who->gid, who->gid, who->gid) ||
	     setresuid(who->uid, who->uid, who->uid)))
		err = -errno;
	if (!err) {
		if (helper)
			inject_environment(helper);
		execvp(argv[0], argv);
		err = -errno;
	}
	while (write(error_fd, &err, sizeof(err)) < 0 && errno == EINTR)
		;
	_exit(EXIT_NOT_RUN);	/* gpuprof knows why */
}

/* Its file, the caller's to free; NULL: the command runs without. */
static char *place_helper(const char *name)
{
	char why[256] = "", *file = NULL;

	if (!inject_lacks_room(0, why, sizeof(why))) {
		file = shared_file_make();
		if (!file)
			snprintf(why, sizeof(why), "there is no directory for its file; gpuprof "
				 "env --dir installs it in one of your choice");
	}
	if (!file)
		log_warn("%s runs without the helper, so device times are not known: %s", name,
			 why);
	return file;
}

/* 0 or -errno; objects made until then are in c. */
static int start_child(struct command *c, char *const *argv, const struct invoker *who,
		       bool to_stderr)
{
	int go[2], error[2], err;
	char *helper;

	if (pipe2(go, O_CLOEXEC))
		return -errno;
	c->go_fd = go[1];
	if (pipe2(error, O_CLOEXEC)) {
		err = -errno;
		close(go[0]);
		return err;
	}
	c->error_fd = error[0];
	helper = place_helper(argv[0]);
	c->pid = fork();
	if (c->pid == 0) {
		close(go[1]);
		close(error[0]);
		if (to_stderr)
			dup2(STDERR_FILENO, STDOUT_FILENO);
		child_main(argv, who, go[0], error[1], helper);
	}
	err = c->pid < 0 ? -errno : 0;
	close(go[0]);
	close(error[1]);
	free(helper);
	if (err)
		return err;
	c->pidfd = (int)syscall(SYS_pidfd_open, c->pid, 0);
	return c->pidfd < 0 ? -errno : 0;
}

int command_start(struct command *c, char *const *argv, bool to_stderr)
{
	const char *user = getenv("SUDO_USER");
	struct invoker who;
	int err = find_invoker(&who);

	if (!err && who.known && restore_environment())
		log_info("%s runs as %s, with the PATH, HOME and the like that sudo was called "
			 "with", argv[0], user ? user : "the invoking user");
	if (!err)
		err = start_child(c, argv, &who, to_stderr);
	free(who.groups);
	if (err) {
		command_abandon(c);
		log_error("cannot start %s: %s", argv[0], strerror(-err));
	}
	return err;
}

/* For an existing file ENOENT is about its interpreter. */
int command_cannot_run(struct command *c, const char *name, int err)
{
	bool is_path = strchr(name, '/') != NULL, is_there = is_path && !access(name, F_OK);
	const char *more =
		is_there && err == -ENOENT ? " (what it names as its interpreter is missing)" :
		is_there && err == -EACCES ? "; is it a program, with the right to execute it?" :
		err == -ENOENT && !is_path ? " in PATH" : "";

	c->unrun = err == -ENOENT && !is_there ? EXIT_NOT_FOUND : EXIT_NOT_RUN;
	log_error("cannot run %s: %s%s", name, strerror(-err), more);
	return err;
}

int command_go(struct command *c, const char *name)
{
	int err = 0;
	ssize_t n;

	while (write(c->go_fd, "!", 1) < 0 && errno == EINTR)
		;
	io_close(&c->go_fd);
	do
		n = read(c->error_fd, &err, sizeof(err));
	while (n < 0 && errno == EINTR);
	io_close(&c->error_fd);
	if (n != sizeof(err))
		return 0;	/* closed by the exec */
	command_wait(c);
	return command_cannot_run(c, name, err);
}

bool command_signal(struct command *c, const struct signalfd_siginfo *info)
{
	c->signals++;
	c->last_signal = (int)info->ssi_signo;
	if (c->signals > 1)
		return false;
	/* The terminal signals all of its foreground group; but its hangup only to the session's
	 * leader. */
	if (info->ssi_code != SI_KERNEL || (info->ssi_signo == SIGHUP && getsid(0) == getpid()))
		kill(c->pid, (int)info->ssi_signo);
	log_info("passed %s on to process %d, waiting for it to end; a second signal or TERM ends "
		 "gpuprof at once", strsignal((int)info->ssi_signo), c->pid);
	return true;
}

#define REAP_EVERY_MS 1000

int command_attend(struct command *c, int signal_fd)
{
	struct pollfd fds[] = { { .fd = c->pidfd, .events = POLLIN },
				{ .fd = signal_fd, .events = POLLIN } };
	struct signalfd_siginfo info;

	if (c->signals < 2 && !poll(fds, 1, 0))
		log_info("the measurement is over; waiting for process %d to end", c->pid);
	for (;;) {
		int n = poll(fds, 2, c->signals > 1 ? 0 : REAP_EVERY_MS);

		command_reap_orphans(c);
		if ((n < 0 && errno != EINTR) || fds[0].revents)
			return command_wait(c);
		if (c->signals > 1) {
			log_warn("leaving process %d running", c->pid);
			c->pid = 0;
			io_close(&c->pidfd);
			return 128 + c->last_signal;
		}
		if (n > 0 && read(signal_fd, &info, sizeof(info)) == sizeof(info))
			command_signal(c, &info);
	}
}

void command_abandon(struct command *c)
{
	io_close(&c->go_fd);
	io_close(&c->error_fd);
	if (c->pid > 0) {
		kill(c->pid, SIGKILL);
		command_wait(c);
	}
	c->pid = 0;
	io_close(&c->pidfd);
}
