// SPDX-License-Identifier: BSD-3-Clause
/* Descriptors that gpuprof brings into a program: not among those that the program opens or closes. */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "helper/ring.h"
#include "inject/environment.h"
#include "inject/image.h"

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

static void a_ring_takes_no_number_of_the_programs(void **state)
{
	(void)state;
	in_child(open_without_streams);
	in_child(open_with_few);
}

static void a_ring_closes_no_file_of_the_programs(void **state)
{
	(void)state;
	in_child(close_another);
}

/* ---- the helper's own file ------------------------------------------------------------------ */

/* Its number, as the CUDA driver is told it. */
static int told(void)
{
	const char *path = getenv("CUDA_INJECTION64_PATH"), *nvtx = getenv("NVTX_INJECTION64_PATH");
	int number = -1, pid;

	if (!path || !nvtx || strcmp(path, nvtx))
		_exit(80);
	must(inject_is_ours(path), 81);
	if (sscanf(path, "/proc/self/fd/%d", &number) != 1)
		must(sscanf(path, "/proc/%d/fd/%d", &pid, &number) == 2 && pid == getpid(), 82);
	must(fcntl(number, F_GETFD) == 0, 83);
	return number;
}

static void tell(void)
{
	unsetenv("CUDA_INJECTION64_PATH");
	unsetenv("NVTX_INJECTION64_PATH");
	inject_environment(NULL, inject_image_open());
}

static void tell_usual(void)
{
	allow_files(1024);
	tell();
	must(told() >= 1000, 1);
}

static void tell_few(void)
{
	allow_files(64);
	tell();
	must(told() >= 32, 1);
}

/* As Python does in what it starts. */
static void open_in_one_that_closed_all(void)
{
	const char *path;
	char begin[4];
	int fd;

	for (int i = 3; i < 1024; i++)
		close(i);
	path = getenv("CUDA_INJECTION64_PATH");
	if (!path)
		_exit(2);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	must(fd == 3 && read(fd, begin, sizeof(begin)) == sizeof(begin) && !memcmp(begin, "\177ELF", 4), 1);
}

static void tell_those_it_starts(void)
{
	if (!geteuid())
		must(!setresuid(65534, 65534, 65534) && !prctl(PR_SET_DUMPABLE, 1, 0, 0, 0), 70);
	tell();
	told();
	in_child(open_in_one_that_closed_all);
}

static void tell_file(void)
{
	const char *path;
	int next = next_number();

	inject_environment("/there/libgpuprof.so", -1);
	path = getenv("CUDA_INJECTION64_PATH");
	must(path && !strcmp(path, "/there/libgpuprof.so") && inject_is_ours(path), 1);
	path = getenv("NVTX_INJECTION64_PATH");
	must(path && !strcmp(path, "/there/libgpuprof.so") && next_number() == next, 2);
}

static void a_program_that_is_told_a_file_inherits_no_descriptor(void **state)
{
	(void)state;
	in_child(tell_file);
}

/* The number of a command that has ended may be of another user's process. */
static void tell_root(void)
{
	const char *path;

	tell();
	path = getenv("CUDA_INJECTION64_PATH");
	if (!path || strncmp(path, "/proc/self/fd/", 14))
		_exit(1);
}

static void who_can_see_all_processes_finds_it_in_itself(void **state)
{
	(void)state;
	if (geteuid() || prctl(PR_CAPBSET_READ, CAP_SYS_PTRACE) != 1) {
		print_message("SKIP needs:root: only root sees all processes\n");
		skip();
	}
	in_child(tell_root);
}

static void so_does_what_it_starts_with_all_descriptors_closed(void **state)
{
	(void)state;
	in_child(tell_those_it_starts);
}

static void a_program_finds_the_helper_where_it_opens_nothing(void **state)
{
	(void)state;
	in_child(tell_usual);
	in_child(tell_few);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_ring_takes_no_number_of_the_programs),
		cmocka_unit_test(a_ring_closes_no_file_of_the_programs),
		cmocka_unit_test(a_program_finds_the_helper_where_it_opens_nothing),
		cmocka_unit_test(a_program_that_is_told_a_file_inherits_no_descriptor),
		cmocka_unit_test(who_can_see_all_processes_finds_it_in_itself),
		cmocka_unit_test(so_does_what_it_starts_with_all_descriptors_closed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
