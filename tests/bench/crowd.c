// SPDX-License-Identifier: BSD-3-Clause
/*
 * A host full of processes: N cheap ones that do nothing, or (storm) that live for a moment each,
 * one after the other, WIDTH at a time. Static, so that each costs little. All end with it.
 *
 *   crowd idle N FILE...  all map the FILEs; prints "ready" when all are there; ends with its
 *                         standard input
 *   crowd storm N WIDTH   N processes that exit at once; prints how long it took, in ms
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static _Noreturn void idle_child(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;)
		pause();
}

static int start_idle(long n)
{
	for (long i = 0; i < n; i++) {
		pid_t pid = fork();

		if (pid == 0)
			idle_child();
		if (pid < 0) {
			perror("fork");
			return 1;
		}
	}
	return 0;
}

static int map_files(char **files)
{
	for (; *files; files++) {
		int fd = open(*files, O_RDONLY);
		struct stat st;

		if (fd < 0 || fstat(fd, &st) ||
		    mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) ==
			    MAP_FAILED) {
			perror(*files);
			return 1;
		}
		close(fd);
	}
	return 0;
}

static int run_idle(long n, char **files)
{
	int rc = map_files(files) || start_idle(n);
	char c;

	if (!rc)
		puts("ready");
	fflush(stdout);
	while (!rc && read(STDIN_FILENO, &c, 1) > 0)
		;
	return rc;	/* the children go with us */
}

static int run_storm(long n, long width)
{
	struct timespec start, end;
	long living = 0;

	clock_gettime(CLOCK_MONOTONIC, &start);
	for (long i = 0; i < n; i++) {
		pid_t pid = fork();

		if (pid == 0)
			_exit(0);
		if (pid < 0) {
			perror("fork");
			return 1;
		}
		for (living++; living >= width; living--)
			wait(NULL);
	}
	while (wait(NULL) > 0)
		;
	clock_gettime(CLOCK_MONOTONIC, &end);
	printf("%ld\n", (end.tv_sec - start.tv_sec) * 1000 + (end.tv_nsec - start.tv_nsec) / 1000000);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc >= 3 && !strcmp(argv[1], "idle"))
		return run_idle(atol(argv[2]), argv + 3);
	if (argc == 4 && !strcmp(argv[1], "storm"))
		return run_storm(atol(argv[2]), atol(argv[3]));
	fprintf(stderr, "usage: crowd idle N FILE... | crowd storm N WIDTH\n");
	return 2;
}
