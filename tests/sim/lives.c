// SPDX-License-Identifier: BSD-3-Clause
/*
 * lives WAY: launches kernels and ends, or forks, in one of the ways in which processes do. What it
 * prints and how it ends is always the same: a guest that changes either is no guest.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cudart_api.h"

enum { LAUNCHES = 500, THREADS = 4, STATUS = 3, CHILD_STATUS = 4, FILES = 1020 };

static char kernel;

static int launch(void)
{
	dim3 one = { 1, 1, 1 };

	return cudaLaunchKernel(&kernel, one, one, NULL, 0, NULL);
}

static void launch_some(void)
{
	int failed = 0;

	for (int i = 0; i < LAUNCHES; i++)
		failed += launch() != cudaSuccess;
	printf("%d launches, %d failed\n", LAUNCHES, failed);
	fflush(stdout);
}

static void end(void)
{
	printf("sync %d\n", cudaDeviceSynchronize());
}

static void pending(void)
{
}

static void at_once(void)
{
	_exit(STATUS);
}

static void killed(void)
{
	raise(SIGKILL);
}

static void *launch_for_ever(void *unused)
{
	for (;;)
		launch();
	return unused;
}

static void *exit_soon(void *unused)
{
	usleep(20000);
	exit(STATUS);
	return unused;
}

static void threads(void)
{
	pthread_t thread[THREADS];

	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, i ? launch_for_ever : exit_soon, NULL))
			abort();
	pthread_join(thread[0], NULL);
}

static void wait_for(pid_t child)
{
	int status = 0;

	waitpid(child, &status, 0);
	printf("child %s %d\n", WIFEXITED(status) ? "exited" : "died",
	       WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
	launch_some();
}

static void forks(void)
{
	pid_t child = fork();

	if (!child)
		exit(CHILD_STATUS);
	wait_for(child);
}

static void forks_to_launch(void)
{
	pid_t child = fork();

	if (!child) {
		launch_some();
		exit(CHILD_STATUS);
	}
	wait_for(child);
}

/* As workers do that load data: its calls fail, and it goes on. */
static void forks_to_stay(void)
{
	pid_t child = fork();

	if (!child) {
		launch_some();
		sleep(2);
		exit(CHILD_STATUS);
	}
	wait_for(child);
}

static void forks_to_exec(void)
{
	pid_t child = fork();

	if (!child) {
		execl("/proc/self/exe", "lives", "end", NULL);
		_exit(127);
	}
	wait_for(child);
}

static void closes_all(void)
{
	for (int fd = 3; fd < FILES; fd++)
		close(fd);
	launch_some();
}

/* Their numbers are the program's again: a child has them, too. */
static void closes_and_opens(void)
{
	int of[2], lost = 0, last;
	pid_t child;

	closes_all();
	for (last = 3; last < FILES && dup2(STDOUT_FILENO, last) == last; last++)
		;
	child = pipe(of) ? -1 : fork();
	if (!child) {
		for (int fd = 3; fd < last; fd++)
			lost += fcntl(fd, F_GETFD) < 0;
		printf("%d files, %d lost\n", last, lost);
		exit(CHILD_STATUS);
	}
	wait_for(child);
}

static const struct {
	const char *name;
	void (*run)(void);
} ways[] = {
	{ "end", end }, { "pending", pending }, { "_exit", at_once }, { "kill", killed },
	{ "threads", threads }, { "fork", forks }, { "fork-launch", forks_to_launch },
	{ "fork-stay", forks_to_stay }, { "fork-exec", forks_to_exec }, { "close", closes_all },
	{ "reuse", closes_and_opens },
};

int main(int argc, char **argv)
{
	for (size_t i = 0; argc == 2 && i < sizeof(ways) / sizeof(ways[0]); i++)
		if (!strcmp(argv[1], ways[i].name)) {
			launch_some();
			ways[i].run();
			return STATUS;
		}
	fprintf(stderr, "usage: lives end|pending|_exit|kill|threads|fork|fork-launch|fork-stay|fork-exec|close|reuse\n");
	return 2;
}
