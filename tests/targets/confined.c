// SPDX-License-Identifier: BSD-3-Clause
/*
 * A program that gives up nearly all system calls before it calls the real libcudart: a seccomp
 * filter kills it at the first one that is not in its short list. It exits 0 only when it lived
 * through all its calls; with --forbidden it ends by making a call that the filter does not allow.
 */
#include <cuda_runtime_api.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "target.h"

/* What writing the truth and waiting for files takes; cudart looks for its driver at each call. */
static const int allowed[] = {
	SYS_access, SYS_openat, SYS_close, SYS_read, SYS_write, SYS_lseek, SYS_newfstatat, SYS_fstat,
	SYS_mmap, SYS_munmap, SYS_brk, SYS_futex, SYS_clock_nanosleep, SYS_getpid, SYS_gettid,
	SYS_exit_group,
};
enum { N_ALLOWED = sizeof(allowed) / sizeof(allowed[0]) };

static struct truth truth;

static const char *result_name(int code)
{
	return cudaGetErrorName((cudaError_t)code);
}

static void confine(void)
{
	struct sock_filter filter[N_ALLOWED + 3] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	};
	struct sock_fprog prog = { .len = N_ALLOWED + 3, .filter = filter };

	for (unsigned int i = 0; i < N_ALLOWED; i++)
		filter[1 + i] = (struct sock_filter)BPF_JUMP(
			BPF_JMP | BPF_JEQ | BPF_K, (unsigned int)allowed[i], N_ALLOWED - i, 0);
	filter[N_ALLOWED + 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K,
							     SECCOMP_RET_KILL_PROCESS);
	filter[N_ALLOWED + 2] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog)) {
		perror("seccomp");
		exit(1);
	}
}

static void launch(void)
{
	static const uint32_t grid[3] = { 80, 2, 1 }, block[3] = { 128, 1, 1 };
	dim3 g = { 80, 2, 1 }, b = { 128, 1, 1 };
	uint64_t start_ns = truth_now_ns();
	int result = (int)cudaLaunchKernel((const void *)grid, g, b, NULL, 0, NULL);

	truth_launch(truth_call(&truth, "cudaLaunchKernel", start_ns, result), grid, block);
}

static void copy(void)
{
	static char from[4096], to[4096];
	uint64_t start_ns = truth_now_ns();
	int result = (int)cudaMemcpy(to, from, sizeof(to), cudaMemcpyHostToDevice);

	truth_call(&truth, "cudaMemcpy", start_ns, result)->bytes += sizeof(to);
}

int main(int argc, char **argv)
{
	unsigned long launches = 0, copies = 0, forbidden = 0;
	const struct target_option options[] = {
		{ "launches", &launches, NULL, "cudaLaunchKernel under the filter" },
		{ "copies", &copies, NULL, "cudaMemcpy under the filter" },
		{ "forbidden", &forbidden, NULL, "not 0: end by a call that the filter forbids" },
		{ NULL, NULL, NULL, NULL },
	};
	struct target_control control;
	int err;

	target_begin(argc, argv, options, &control);
	confine();
	for (unsigned long i = 0; i < launches; i++)
		launch();
	for (unsigned long i = 0; i < copies; i++)
		copy();
	err = truth_write(control.truth, &truth, 1, result_name);
	if (forbidden)
		syscall(SYS_getppid);
	return target_end(&control, err);
}
