// SPDX-License-Identifier: BSD-3-Clause
/*
 * hardy FILE LIBRARY [spin]: threads that each do without pause what is delicate when another party comes into
 * the process (memory, loading, locks, waits, signals, registers), and check that all of it goes as the
 * C library promises; until FILE is there. spin: one thread alone, which computes and never waits. Prints what each thread did and "right", or what was wrong.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fenv.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "cudart_api.h"

enum { BLOCKS = 64, STRANGE = 1234 };

static const char *end_file, *library;
static volatile sig_atomic_t handled;
static char kernel;

static void wrong(const char *what)
{
	printf("wrong: %s\n", what);
	fflush(stdout);
	_exit(1);
}

static bool goes_on(void)
{
	return access(end_file, F_OK);
}

static unsigned int next(unsigned int *seed)
{
	return *seed = *seed * 1103515245u + 12345u;
}

static uint64_t allocate(void)
{
	unsigned char *block[BLOCKS] = { 0 };
	unsigned int size[BLOCKS] = { 0 }, seed = 1;
	uint64_t n = 0;

	for (; n % 1024 || goes_on(); n++) {
		unsigned int i = next(&seed) >> 8 & (BLOCKS - 1);

		for (unsigned int k = 0; k < size[i]; k++)
			if (block[i][k] != (unsigned char)(i + k))
				wrong("memory that was allocated has changed");
		free(block[i]);
		size[i] = 1 + (next(&seed) >> 8) % (n % 64 ? 600 : 200000);
		block[i] = malloc(size[i]);
		if (!block[i])
			wrong("no memory");
		for (unsigned int k = 0; k < size[i]; k++)
			block[i][k] = (unsigned char)(i + k);
	}
	for (int i = 0; i < BLOCKS; i++)
		free(block[i]);
	return n;
}

static uint64_t load(void)
{
	uint64_t n = 0;

	for (; goes_on(); n++) {
		void *lib = dlopen(library, RTLD_NOW | RTLD_LOCAL);

		if (!lib || !dlsym(lib, "InitializeInjection") || dlclose(lib))
			wrong("a library could not be loaded");
	}
	return n;
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turned = PTHREAD_COND_INITIALIZER;
static uint64_t turns;

/* Two of them, in turns; the end is both's. */
static uint64_t take_turns(uint64_t mine)
{
	uint64_t n = 0;
	bool on = true;

	for (; on; n++) {
		pthread_mutex_lock(&lock);
		while (turns != UINT64_MAX && turns % 2 != mine)
			pthread_cond_wait(&turned, &lock);
		on = turns != UINT64_MAX && (mine || goes_on());
		turns = on ? turns + 1 : UINT64_MAX;
		pthread_cond_broadcast(&turned);
		pthread_mutex_unlock(&lock);
	}
	return n;
}

static uint64_t take_even_turns(void)
{
	return take_turns(0);
}

static uint64_t take_odd_turns(void)
{
	return take_turns(1);
}

/* Waits last as long as asked for, report no signal, and change neither errno nor how numbers are rounded. */
static uint64_t sleep_often(void)
{
	struct timespec before, after, ms = { 0, 3000000 };
	uint64_t n = 0;

	fesetround(FE_UPWARD);
	for (; goes_on(); n++) {
		clock_gettime(CLOCK_MONOTONIC, &before);
		errno = STRANGE;
		if (n % 2 ? poll(NULL, 0, 3) : nanosleep(&ms, NULL))
			wrong("a wait was cut short");
		if (errno != STRANGE)
			wrong("errno has changed");
		clock_gettime(CLOCK_MONOTONIC, &after);
		if ((after.tv_sec - before.tv_sec) * 1000000000 + after.tv_nsec - before.tv_nsec < 3000000)
			wrong("a wait was too short");
		if (fegetround() != FE_UPWARD)
			wrong("numbers are rounded otherwise");
	}
	return n;
}

static uint64_t wait_for_events(void)
{
	struct epoll_event event;
	int fd = epoll_create1(0);
	uint64_t n = 0;

	for (; goes_on(); n++)
		if (epoll_wait(fd, &event, 1, 5))
			wrong("epoll_wait was interrupted");
	return n;
}

static int ends[2];

static uint64_t write_numbers(void)
{
	uint64_t n = 0;

	for (; goes_on(); n++) {
		if (write(ends[1], &n, sizeof(n)) != sizeof(n))
			wrong("a write was cut short");
		usleep(500);
	}
	close(ends[1]);
	return n;
}

static uint64_t read_numbers(void)
{
	uint64_t n = 0, got;
	ssize_t bytes;

	for (; (bytes = read(ends[0], &got, sizeof(got))) == sizeof(got); n++)
		if (got != n)
			wrong("a number was lost");
	if (bytes)
		wrong("a read was cut short");
	return n;
}

static void on_alarm(int signal)
{
	(void)signal;
	handled++;
}

/* Each alarm ends exactly one wait for it. */
static uint64_t wait_for_signals(void)
{
	struct sigevent by = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM };
	const struct itimerspec soon = { .it_value.tv_nsec = 1500000 };
	sigset_t none;
	timer_t timer;
	uint64_t n = 0;

	sigemptyset(&none);
	if (timer_create(CLOCK_MONOTONIC, &by, &timer))
		wrong("no timer");
	for (; goes_on(); n++) {
		sigset_t now;

		timer_settime(timer, 0, &soon, NULL);
		if (sigsuspend(&none) != -1 || errno != EINTR || handled != (sig_atomic_t)(n + 1))
			wrong("a signal was lost, or told twice");
		pthread_sigmask(SIG_SETMASK, NULL, &now);
		if (!sigismember(&now, SIGALRM) || sigismember(&now, SIGUSR2))
			wrong("the signal mask has changed");
	}
	timer_delete(timer);
	return n;
}

static int launch_once(void)
{
	dim3 one = { 1, 1, 1 };

	return cudaLaunchKernel(&kernel, one, one, NULL, 0, NULL);
}

static uint64_t launch(void)
{
	uint64_t n = 0;

	for (; goes_on(); n++) {
		if (launch_once() || cudaDeviceSynchronize())
			wrong("a launch failed");
		usleep(300);
	}
	return n;
}

typedef double lanes __attribute__((vector_size(32)));

/* Numbers that stay in registers of all kinds; the same each time. */
#if defined(__x86_64__)
__attribute__((target("avx")))
#endif
static __attribute__((noinline)) double compute(void)
{
	lanes a = { 0.1, 0.2, 0.3, 0.4 }, b = { 0.9, 0.8, 0.7, 0.6 }, c = { 1, 2, 3, 4 };
	long double x = 0.5L;
	double y = 0.25;

	for (int i = 0; i < 2000000; i++) {
		a = a * b + c;
		b = b * 0.999999 + 1e-7;
		x = x * 0.99999L + 1e-5L;
		y = y * 1.0000001;
		__asm__ volatile("");	/* it is to be done each time */
	}
	return a[0] + a[1] + a[2] + a[3] + b[0] + b[3] + (double)x + y;
}

static uint64_t spin(void)
{
	double first = compute();
	uint64_t n = 0;

	for (; !n || goes_on(); n++)
		if (compute() != first)
			wrong("numbers are computed otherwise");
	return n;
}

static int spin_alone(void)
{
	if (launch_once() || !spin())
		wrong("nothing was computed");
	puts("right");
	return 0;
}

static const struct part {
	const char *name;
	uint64_t (*run)(void);
} parts[] = {
	{ "allocate", allocate }, { "allocate", allocate }, { "load", load },
	{ "even turns", take_even_turns }, { "odd turns", take_odd_turns }, { "sleep", sleep_often },
	{ "events", wait_for_events }, { "write", write_numbers }, { "read", read_numbers },
	{ "launch", launch }, { "signals", wait_for_signals },
};
enum { PARTS = sizeof(parts) / sizeof(parts[0]) };

static uint64_t did[PARTS];

static void *run(void *part)
{
	did[(const struct part *)part - parts] = ((const struct part *)part)->run();
	return NULL;
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = on_alarm };
	pthread_t thread[PARTS];
	sigset_t alarm;

	if (argc < 3 || pipe(ends)) {
		fputs("usage: hardy FILE LIBRARY [spin]\n", stderr);
		return 2;
	}
	end_file = argv[1];
	library = argv[2];
	if (argc > 3)
		return spin_alone();
	sigaction(SIGALRM, &action, NULL);
	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &alarm, NULL);	/* only who waits for it takes it */
	for (size_t i = 0; i < PARTS - 1; i++)
		if (pthread_create(&thread[i], NULL, run, (void *)(uintptr_t)&parts[i]))
			wrong("no thread");
	run((void *)(uintptr_t)&parts[PARTS - 1]);
	for (size_t i = 0; i < PARTS - 1; i++)
		pthread_join(thread[i], NULL);
	for (size_t i = 0; i < PARTS; i++)
		printf("%s: %s\n", parts[i].name, did[i] ? "some" : "none");
	puts("right");
	return 0;
}
