// SPDX-License-Identifier: BSD-3-Clause
/*
 * Runs a command and writes "wall_ns cpu_ns peak_kib" of it to a file. A program of its own,
 * because a process's peak begins with what its parent had mapped when it forked, and this one is
 * small.
 *
 *   measure FILE COMMAND [ARG...]
 */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long long wall_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ll + ts.tv_nsec;
}

static long long to_ns(struct timeval tv)
{
	return tv.tv_sec * 1000000000ll + tv.tv_usec * 1000ll;
}

static int write_result(const char *path, long long wall, const struct rusage *used)
{
	FILE *out = fopen(path, "w");

	if (!out) {
		perror(path);
		return 1;
	}
	fprintf(out, "%lld %lld %ld\n", wall, to_ns(used->ru_utime) + to_ns(used->ru_stime),
		used->ru_maxrss);
	return fclose(out) != 0;
}

int main(int argc, char **argv)
{
	long long start = wall_ns();
	struct rusage used;
	int status;
	pid_t pid;

	if (argc < 3) {
		fprintf(stderr, "usage: measure FILE COMMAND [ARG...]\n");
		return 2;
	}
	pid = fork();
	if (!pid) {
		execvp(argv[2], argv + 2);
		perror(argv[2]);
		_exit(127);
	}
	if (pid < 0 || wait4(pid, &status, 0, &used) < 0) {
		perror("measure");
		return 1;
	}
	if (write_result(argv[1], wall_ns() - start, &used))
		return 1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
