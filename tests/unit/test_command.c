// SPDX-License-Identifier: BSD-3-Clause
/* Commands that gpuprof starts: when they run, as which user, how they end. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "session/command.c"
#include "lib/test.h"

#define ARGV(...) (char *const[]){ __VA_ARGS__, NULL }
#define SHELL(script) ARGV((char *)"sh", (char *)"-c", (char *)(script))

static int status_of(char *const *argv)
{
	struct command c = COMMAND_NONE;

	assert_int_equal(command_start(&c, argv, false), 0);
	assert_int_equal(command_go(&c, argv[0]), 0);
	return command_wait(&c);
}

/* ---- how they end ------------------------------------------------------------------------------- */

TEST_TITLED("command: its exit status, or 128 and the signal", status_is_the_commands)
{
	assert_int_equal(status_of(ARGV((char *)"true")), 0);
	assert_int_equal(status_of(ARGV((char *)"false")), 1);
	assert_int_equal(status_of(SHELL("exit 7")), 7);
	assert_int_equal(status_of(SHELL("exit 255")), 255);
	assert_int_equal(status_of(SHELL("kill -TERM $$")), 128 + SIGTERM);
	assert_int_equal(status_of(SHELL("kill -KILL $$")), 128 + SIGKILL);
}

/* Runs what cannot be run; said gets standard error. */
static int refused(char *const *argv, char *said, size_t size, int unrun)
{
	int file = memfd_create("stderr", 0), saved = dup(STDERR_FILENO), err;
	struct command c = COMMAND_NONE;
	ssize_t n;

	assert_int_equal(command_start(&c, argv, false), 0);
	dup2(file, STDERR_FILENO);
	err = command_go(&c, argv[0]);
	dup2(saved, STDERR_FILENO);
	assert_int_equal(c.pid, 0);
	assert_int_equal(c.pidfd, -1);
	assert_int_equal(c.unrun, unrun);
	n = pread(file, said, size - 1, 0);
	said[n > 0 ? n : 0] = '\0';
	close(file);
	close(saved);
	return err;
}

TEST_TITLED("command: one that cannot run is an error in one line", what_cannot_run_is_one_line)
{
	char path[] = "/tmp/gp-test-XXXXXX", said[256], expected[256];
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(refused(ARGV((char *)"no-such-program"), said, sizeof(said), 127), -ENOENT);
	assert_string_equal(said, "gpuprof: cannot run no-such-program: No such file or directory in PATH\n");
	assert_int_equal(refused(ARGV((char *)"./no-such-file"), said, sizeof(said), 127), -ENOENT);
	assert_string_equal(said, "gpuprof: cannot run ./no-such-file: No such file or directory\n");
	assert_int_equal(refused(ARGV(path), said, sizeof(said), 126), -EACCES);
	snprintf(expected, sizeof(expected), "gpuprof: cannot run %s: Permission denied; is it a program, "
		 "with the right to execute it?\n", path);
	assert_string_equal(said, expected);
	assert_int_equal(write(fd, "#!/no/interpreter\n", 18), 18);
	assert_int_equal(fchmod(fd, 0755), 0);
	close(fd);
	assert_int_equal(refused(ARGV(path), said, sizeof(said), 126), -ENOENT);
	snprintf(expected, sizeof(expected), "gpuprof: cannot run %s: No such file or directory (what it "
		 "names as its interpreter is missing)\n", path);
	assert_string_equal(said, expected);
	unlink(path);
}

static bool ended(pid_t pid)
{
	return kill(pid, 0) < 0 && errno == ESRCH;
}

TEST_TITLED("command: abandoned, it leaves no process", abandon_leaves_no_process)
{
	struct command c = COMMAND_NONE;
	pid_t pid;

	command_abandon(&c);		/* none */
	assert_int_equal(command_start(&c, SHELL("exit 3"), false), 0);
	pid = c.pid;
	command_abandon(&c);		/* it never ran */
	assert_true(ended(pid));
	assert_int_equal(command_start(&c, SHELL("exec sleep 1000"), false), 0);
	pid = c.pid;
	assert_int_equal(command_go(&c, "sh"), 0);
	command_abandon(&c);
	assert_true(ended(pid));
	command_abandon(&c);
	assert_int_equal(c.pid, 0);
	assert_int_equal(c.pidfd, -1);
}

TEST_TITLED("command: runs when started, not before", runs_only_when_started)
{
	char dir[] = "/tmp/gp-test-XXXXXX", path[64];
	struct command c = COMMAND_NONE;

	assert_non_null(mkdtemp(dir));
	assert_int_equal(chmod(dir, 0777), 0);
	snprintf(path, sizeof(path), "%s/ran", dir);
	assert_int_equal(command_start(&c, ARGV((char *)"touch", path), false), 0);
	usleep(50000);
	assert_int_not_equal(access(path, F_OK), 0);
	assert_int_equal(command_go(&c, "touch"), 0);
	assert_int_equal(command_wait(&c), 0);
	assert_int_equal(access(path, F_OK), 0);
	unlink(path);
	rmdir(dir);
}

/* ---- what they inherit ----------------------------------------------------------------------------- */

TEST_TITLED("command: keeps the environment", environment_is_kept)
{
	setenv("GP_TEST_KEPT", "a b\nc", 1);
	assert_int_equal(status_of(SHELL("test \"$GP_TEST_KEPT\" = 'a b\nc'")), 0);
	unsetenv("GP_TEST_KEPT");
}

TEST_TITLED("command: has no signal blocked or ignored", signals_are_as_at_login)
{
	sigset_t some, old;

	sigemptyset(&some);
	sigaddset(&some, SIGTERM);
	sigaddset(&some, SIGINT);
	sigprocmask(SIG_BLOCK, &some, &old);
	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(status_of(SHELL("grep -q '^SigBlk:.0*$' /proc/self/status")), 0);
	assert_int_equal(status_of(SHELL("kill -PIPE $$")), 128 + SIGPIPE);
	signal(SIGPIPE, SIG_DFL);
	sigprocmask(SIG_SETMASK, &old, NULL);
}

/* How many descriptors of the process are ends of this pipe. */
static int ends_held(pid_t pid, const struct stat *pipe)
{
	int n = 0;

	for (int fd = 0; fd < 64; fd++) {
		char path[64];
		struct stat st;

		snprintf(path, sizeof(path), "/proc/%d/fd/%d", pid, fd);
		n += !stat(path, &st) && st.st_ino == pipe->st_ino && st.st_dev == pipe->st_dev;
	}
	return n;
}

TEST_TITLED("command: gets none of our pipes", no_descriptors_leak)
{
	struct command c = COMMAND_NONE;
	struct stat go, error;

	assert_int_equal(command_start(&c, SHELL("exec sleep 1000"), false), 0);
	assert_int_equal(fstat(c.go_fd, &go), 0);
	assert_int_equal(fstat(c.error_fd, &error), 0);
	assert_true(ends_held(c.pid, &go) && ends_held(c.pid, &error));
	assert_int_equal(command_go(&c, "sh"), 0);
	assert_int_equal(ends_held(c.pid, &go) + ends_held(c.pid, &error), 0);
	command_abandon(&c);
}

TEST_TITLED("command: under sudo, runs as who typed it", runs_as_who_typed_sudo)
{
	const char *script = "test \"$(id -u) $(id -g) $(id -G)\" = '65534 65534 65534' && "
			     "test \"$SUDO_USER\" = gp-no-such-user && "
			     "grep -q '^Uid:.65534.65534.65534.65534$' /proc/self/status";

	if (geteuid() != 0) {
		print_message("SKIP needs:root: only root can become the user who typed sudo\n");
		skip();
	}
	setenv("SUDO_USER", "gp-no-such-user", 1);
	setenv("SUDO_UID", "65534", 1);
	setenv("SUDO_GID", "65534", 1);
	assert_int_equal(status_of(SHELL(script)), 0);
	setenv("SUDO_UID", "0", 1);
	assert_int_equal(status_of(SHELL("test $(id -u) = 0")), 0);
	setenv("SUDO_UID", "65534x", 1);
	assert_int_equal(status_of(SHELL("test $(id -u) = 0")), 0);
	setenv("SUDO_UID", "4294967295", 1);		/* -1: "leave it" */
	assert_int_equal(status_of(SHELL("test $(id -u) = 0")), 0);
	setenv("SUDO_UID", "65534", 1);
	unsetenv("SUDO_GID");
	assert_int_equal(status_of(SHELL("test $(id -u) = 0")), 0);
	unsetenv("SUDO_UID");
	unsetenv("SUDO_USER");
}

static int set_up_all(void **state)
{
	(void)state;
	unsetenv("SUDO_UID");
	unsetenv("SUDO_GID");
	unsetenv("SUDO_USER");
	return 0;
}

TEST_GROUP(set_up_all, NULL);
