// SPDX-License-Identifier: BSD-3-Clause
/*
 * lives WAY: launches kernels and ends, or forks, in one of the ways in which processes do; in some of
 * them its main thread ends by pthread_exit, with or without others that go on. What it prints and
 * how it ends is always the same: a guest that changes either is no guest.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cudart_api.h"

enum { LAUNCHES = 500, THREADS = 4, STATUS = 3, CHILD_STATUS = 4, FILES = 1020, SOON_US = 100000 };

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

static void *launch_soon(void *unused)
{
	usleep(SOON_US);
	launch_some();
	return unused;
}

static void *launch_now_and_soon(void *before)
{
	launch_some();
	pthread_barrier_wait(before);
	usleep(SOON_US);
	return NULL;
}

static void *stop_soon(void *unused)
{
	usleep(SOON_US);
	kill(getpid(), SIGTERM);
	pause();
	return unused;
}

static void *exit_later(void *unused)
{
	usleep(SOON_US);
	exit(STATUS);
	return unused;
}

static pthread_t start(void *(*run)(void *), void *ctx)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, run, ctx))
		abort();
	return thread;
}

static void last(void)
{
	launch_some();
	pthread_exit(NULL);
}

static void and_another_goes_on(void)
{
	launch_some();
	start(launch_soon, NULL);
	pthread_exit(NULL);
}

/* The main thread has never used CUDA. */
static void another_used_it(void)
{
	static pthread_barrier_t before;

	pthread_barrier_init(&before, NULL, 2);
	start(launch_now_and_soon, &before);
	pthread_barrier_wait(&before);
	pthread_exit(NULL);
}

static void another_will_use_it(void)
{
	start(launch_soon, NULL);
	pthread_exit(NULL);
}

static void is_stopped(void)
{
	launch_some();
	start(stop_soon, NULL);
	pthread_exit(NULL);
}

static void another_exits(void)
{
	launch_some();
	start(exit_later, NULL);
	pthread_exit(NULL);
}

static void stop_at_once(void)
{
	printf("exits\n");
	fflush(stdout);
	kill(getpid(), SIGTERM);
	sleep(20);
}

static void is_stopped_while_it_exits(void)
{
	atexit(stop_at_once);
	launch_some();
	pthread_exit(NULL);
}

/* As a library's copy of NVTX does. */
static void used_nvtx_alone(void)
{
	const char *path = getenv("NVTX_INJECTION64_PATH");
	void *library = path ? dlopen(path, RTLD_NOW) : NULL;
	int (*open)(void *) = library ? (int (*)(void *))dlsym(library, "InitializeInjectionNvtx2") : NULL;

	if (open)
		open(NULL);
	pthread_exit(NULL);
}

static void quickly(void)
{
	launch_some();
	quick_exit(STATUS);
}

static void aborts(void)
{
	setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
	launch_some();
	abort();
}

/* The one that was started stays until the other has ended, so that all is printed by then. */
static void daemonizes(void)
{
	int of[2];
	char end;

	launch_some();
	if (pipe(of))
		abort();
	if (fork()) {
		close(of[1]);
		_exit(read(of[0], &end, 1) ? CHILD_STATUS : STATUS);
	}
	setsid();
	printf("a daemon\n");
	exit(CHILD_STATUS);
}

/* The child's only thread is its main one, whatever it was before. */
static void child_of_another_leaves(void)
{
	pid_t child;
	int status = 0;

	launch_some();
	child = fork();
	if (!child)
		pthread_exit(NULL);
	waitpid(child, &status, 0);
	printf("child %d\n", status);
	pthread_exit(NULL);
}

static const struct {
	const char *name;
	void (*run)(void);
	bool by_itself;		/* it launches when it wants to, or not at all */
} ways[] = {
	{ "end", end, false }, { "pending", pending, false }, { "_exit", at_once, false },
	{ "kill", killed, false }, { "threads", threads, false }, { "fork", forks, false },
	{ "fork-launch", forks_to_launch, false }, { "fork-stay", forks_to_stay, false },
	{ "fork-exec", forks_to_exec, false }, { "close", closes_all, false },
	{ "reuse", closes_and_opens, false }, { "last", last, true },
	{ "launch", and_another_goes_on, true }, { "used", another_used_it, true },
	{ "use", another_will_use_it, true }, { "stop", is_stopped, true },
	{ "exit", another_exits, true }, { "stop-exit", is_stopped_while_it_exits, true },
	{ "nvtx", used_nvtx_alone, true }, { "quick", quickly, true }, { "abort", aborts, true },
	{ "daemon", daemonizes, true }, { "child", child_of_another_leaves, true },
};
enum { WAYS = sizeof(ways) / sizeof(ways[0]) };

int main(int argc, char **argv)
{
	for (size_t i = 0; argc == 2 && i < WAYS; i++)
		if (!strcmp(argv[1], ways[i].name)) {
			if (!ways[i].by_itself)
				launch_some();
			ways[i].run();
			return STATUS;
		}
	fputs("usage: lives WAY, one of", stderr);
	for (size_t i = 0; i < WAYS; i++)
		fprintf(stderr, " %s", ways[i].name);
	fputc('\n', stderr);
	return 2;
}
