// SPDX-License-Identifier: BSD-3-Clause
/* See the header. */
#include "session/session_signals.h"

#include <errno.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

static const int ends[] = { SIGINT, SIGTERM, SIGQUIT };

static void add_ends(sigset_t *set)
{
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		sigaddset(set, ends[i]);
}

void signals_hold(int signal)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, signal);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

void signals_hold_ends(void)
{
	sigset_t set;

	sigemptyset(&set);
	add_ends(&set);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

/* nohup: who started us wants us to live on. */
static bool hangs_up(void)
{
	struct sigaction now;

	return sigaction(SIGHUP, NULL, &now) || now.sa_handler != SIG_IGN;
}

int signals_open(bool with_trigger)
{
	sigset_t set;
	int fd;

	sigemptyset(&set);
	add_ends(&set);
	if (hangs_up())
		sigaddset(&set, SIGHUP);
	if (with_trigger)
		sigaddset(&set, SIGUSR1);
	/* Blocked to the end: a second Ctrl-C must not cost the report. */
	if (sigprocmask(SIG_BLOCK, &set, NULL))
		return -errno;
	signal(SIGPIPE, SIG_IGN);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd < 0 ? -errno : fd;
}

/* The first signal with a command is the command's; the session ends when the command does. A
 * second one ends the session at once. */
void signals_read(struct session *s)
{
	struct signalfd_siginfo info;

	if (read(s->signal_fd, &info, sizeof(info)) != sizeof(info))
		return;
	if (info.ssi_signo == SIGUSR1) {
		capture_sink_fire(s->tap.keep);	/* logged; the session goes on */
		return;
	}
	if (!s->command.pid || !command_signal(&s->command, &info))
		s->state = SESSION_STOPPING;
}
