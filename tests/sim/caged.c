// SPDX-License-Identifier: BSD-3-Clause
/*
 * caged FILTER [alone]: launches once, then lets itself be filtered by the classic BPF program in the file
 * FILTER (struct sock_filter[]) and launches without end, mostly asleep; half of the time where a filtered thread
 * may not be stopped in its sleep (arm64). alone: another thread stays free. Writes "caged" when it is.
 */
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cudart_api.h"
#include "gpusim.h"

static char kernel;

static bool launch(void)
{
	dim3 one = { 1, 1, 1 };

	return !cudaLaunchKernel(&kernel, one, one, NULL, 0, NULL) && !cudaDeviceSynchronize();
}

static bool be_filtered(const char *file, bool alone)
{
	static struct sock_filter code[BPF_MAXINSNS];
	struct sock_fprog program = { .filter = code };
	int fd = open(file, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, code, sizeof(code));

	if (n <= 0 || close(fd))
		return false;
	program.len = (unsigned short)((size_t)n / sizeof(code[0]));
	return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
	       !syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, alone ? 0 : SECCOMP_FILTER_FLAG_TSYNC, &program);
}

enum { SLEEP_US = 10000 };

static void be_busy(void)
{
#ifdef __aarch64__
	const uint64_t until_ns = gpusim_now_ns() + SLEEP_US * 1000;

	while (gpusim_now_ns() < until_ns)
		;
#endif
}

static void *rest(void *arg)
{
	for (;;)
		pause();
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t free_one;

	if (argc < 2) {
		fputs("usage: caged FILTER [alone]\n", stderr);
		return 2;
	}
	if (!launch() || (argc > 2 && pthread_create(&free_one, NULL, rest, NULL)) ||
	    !be_filtered(argv[1], argc > 2))
		return 1;
	if (write(STDOUT_FILENO, "caged\n", 6) != 6)
		return 1;
	while (launch()) {
		usleep(SLEEP_US);
		be_busy();
	}
	return 1;
}
