// SPDX-License-Identifier: BSD-3-Clause
/*
 * successor COMMAND COMMAND: runs two shell commands one after the other under one and the same pid,
 * as a host does that has used up its pids. Needs CAP_CHECKPOINT_RESTORE (clone3 with set_tid).
 */
#include <errno.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t start(const char *command, pid_t wanted)
{
	struct clone_args args = {
		.exit_signal = SIGCHLD, .set_tid = (uintptr_t)(wanted ? &wanted : NULL),
		.set_tid_size = wanted ? 1 : 0,
	};
	pid_t pid = (pid_t)syscall(SYS_clone3, &args, sizeof(args));

	if (pid)
		return pid;
	execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(127);
}

int main(int argc, char **argv)
{
	pid_t pid = 0;
	int status;

	if (argc != 3) {
		fputs("usage: successor COMMAND COMMAND\n", stderr);
		return 2;
	}
	for (int i = 1; i < argc; i++) {
		pid_t got = start(argv[i], pid);

		if (got < 0) {
			fprintf(stderr, "successor: pid %d: %s\n", pid, strerror(errno));
			return 1;
		}
		pid = got;
		if (waitpid(pid, &status, 0) != pid || status)
			return 1;
	}
	printf("%d\n", pid);
	return 0;
}
