// SPDX-License-Identifier: BSD-3-Clause
/*
 * leaves WAY: its main thread ends by pthread_exit, with or without others that go on, or it ends in
 * a way in which few processes do. What it prints and how it ends is always the same.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cudart_api.h"

enum { LAUNCHES = 500, STATUS = 3, CHILD_STATUS = 4, SOON_US = 100000 };

static char kernel;

static void launch_some(void)
{
	dim3 one = { 1, 1, 1 };
	int failed = 0;

	for (int i = 0; i < LAUNCHES; i++)
		failed += cudaLaunchKernel(&kernel, one, one, NULL, 0, NULL) != cudaSuccess;
	printf("%d launches, %d failed\n", LAUNCHES, failed);
	fflush(stdout);
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

static void *exit_soon(void *unused)
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

static void is_told_to_end(void)
{
	launch_some();
	start(stop_soon, NULL);
	pthread_exit(NULL);
}

static void another_exits(void)
{
	launch_some();
	start(exit_soon, NULL);
	pthread_exit(NULL);
}

static void stop_at_once(void)
{
	printf("exits\n");
	fflush(stdout);
	kill(getpid(), SIGTERM);
	sleep(20);
}

static void is_told_to_end_while_it_exits(void)
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
} ways[] = {
	{ "last", last }, { "launch", and_another_goes_on }, { "used", another_used_it },
	{ "use", another_will_use_it }, { "stop", is_told_to_end }, { "exit", another_exits },
	{ "stop-exit", is_told_to_end_while_it_exits }, { "nvtx", used_nvtx_alone },
	{ "quick", quickly }, { "abort", aborts }, { "daemon", daemonizes },
	{ "child", child_of_another_leaves },
};

int main(int argc, char **argv)
{
	for (size_t i = 0; argc == 2 && i < sizeof(ways) / sizeof(ways[0]); i++)
		if (!strcmp(argv[1], ways[i].name)) {
			ways[i].run();
			return STATUS;
		}
	fprintf(stderr, "usage: leaves last|launch|used|use|stop|exit|stop-exit|nvtx|quick|abort|daemon|child\n");
	return 2;
}
