/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `-- CMD`: the command is started stopped before its exec, so that probes can be in place first,
 * and run as the user who typed sudo, with their groups (render, video) and, of the environment,
 * with the PATH, HOME, library path and Python environment that sudo was called with.
 */
#ifndef SESSION_COMMAND_H
#define SESSION_COMMAND_H

#include <stdbool.h>
#include <sys/signalfd.h>
#include <sys/types.h>
#include <sys/wait.h>

struct command {
	pid_t pid;		/* 0: none */
	int pidfd;		/* readable when it has ended */
	int go_fd;		/* closing it without a byte makes the child leave */
	int error_fd;		/* exec's errno comes back here */
	int unrun;		/* EXIT_NOT_FOUND, EXIT_NOT_RUN: its exec failed; else 0 */
	unsigned int signals;	/* received that end gpuprof; the first is passed to the command */
	int last_signal;
};

#define COMMAND_NONE { .pidfd = -1, .go_fd = -1, .error_fd = -1 }

/* c: COMMAND_NONE. to_stderr: what it prints goes to standard error. 0 or -errno, logged; then c is
 * COMMAND_NONE again. */
int command_start(struct command *c, char *const *argv, bool to_stderr);

/* Lets it exec. 0 or -errno, logged (ENOENT: no such program); see c->unrun. */
int command_go(struct command *c, const char *name);

/* Logs an error of exec's, and sets c->unrun. Returns err. */
int command_cannot_run(struct command *c, const char *name, int err);

/* gpuprof is to end: the first time the signal is passed to the command (the terminal sends it
 * itself). False: it was passed before, so do not wait for the command any more. */
bool command_signal(struct command *c, const struct signalfd_siginfo *info);

/* As command_wait, but a second signal read from signal_fd ends it, and leaves the command running
 * and c COMMAND_NONE: 128 + that signal. */
int command_attend(struct command *c, int signal_fd);

/* Orphans below the command that have ended, where gpuprof has adopted them
 * (PR_SET_CHILD_SUBREAPER). While the command itself is a zombie, some may have to wait. */
static inline void command_reap_orphans(const struct command *c)
{
	siginfo_t info = { 0 };

	while (!waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) && info.si_pid &&
	       info.si_pid != c->pid)
		waitpid(info.si_pid, NULL, 0);
}

/* Not started, still stopped or running: the child is ended (it is ours) and reaped. */
void command_abandon(struct command *c);

#endif
