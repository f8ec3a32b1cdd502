// SPDX-License-Identifier: BSD-3-Clause
/* Descriptors that gpuprof brings into a program: not among those that the program opens or closes. */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "helper/ring.h"
#include "inject/install.h"
#include "lib/test.h"

#define BYTES 65536u

static void must(bool holds, int code)
{
	if (!holds)
		_exit(code);
}

static void in_child(void (*run)(void))
{
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		run();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void allow_files(rlim_t n)
{
	must(!setrlimit(RLIMIT_NOFILE, &(struct rlimit){ n, n }), 90);
}

static int next_number(void)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	close(fd);
	return fd;
}

/* ---- the ring's ----------------------------------------------------------------------------- */

static void open_without_streams(void)
{
	struct helper_ring r;

	for (int fd = 0; fd < 3; fd++)
		close(fd);
	must(!helper_ring_open(&r, BYTES, 1) && r.fd > 2, 1);
	for (int fd = 0; fd < 3; fd++)
		must(fcntl(fd, F_GETFD) < 0, 2);
	must(next_number() == 0 && fcntl(r.fd, F_GETFD) == FD_CLOEXEC, 3);
	helper_ring_close(&r);
	must(r.fd < 0, 4);
}

static void open_with_few(void)
{
	struct helper_ring r;
	int next = next_number();

	allow_files(64);
	must(!helper_ring_open(&r, BYTES, 1) && r.fd >= 32 && next_number() == next, 1);
	helper_ring_close(&r);
	allow_files((rlim_t)next + 1);
	must(!helper_ring_open(&r, BYTES, 1) && r.fd == next, 2);
	helper_ring_close(&r);
	must(next_number() == next, 3);
	allow_files((rlim_t)next);
	must(helper_ring_open(&r, BYTES, 1) == -EMFILE && r.fd < 0, 4);
}

static void close_another(void)
{
	struct helper_ring r;
	int number;

	must(!helper_ring_open(&r, BYTES, 1), 1);
	number = r.fd;
	must(dup2(STDERR_FILENO, number) == number, 2);
	helper_ring_close(&r);
	must(fcntl(number, F_GETFD) >= 0, 3);
	must(!helper_ring_open(&r, BYTES, 1), 4);
	number = r.fd;
	helper_ring_close(&r);
	must(fcntl(number, F_GETFD) < 0, 5);
}

TEST(a_ring_takes_no_number_of_the_programs)
{
	in_child(open_without_streams);
	in_child(open_with_few);
}

TEST(a_ring_closes_no_file_of_the_programs)
{
	in_child(close_another);
}

/* ---- the helper's own file ------------------------------------------------------------------ */

static void set_environment(void)
{
	const char *path;
	int next = next_number();

	inject_environment("/there/libgpuprof.so");
	path = getenv("CUDA_INJECTION64_PATH");
	must(path && !strcmp(path, "/there/libgpuprof.so"), 1);
	must(!inject_foreign("CUDA_INJECTION64_PATH"), 1);
	path = getenv("NVTX_INJECTION64_PATH");
	must(path && !strcmp(path, "/there/libgpuprof.so") && next_number() == next, 2);
}

TEST(a_program_that_loads_the_helper_inherits_no_descriptor)
{
	in_child(set_environment);
}
