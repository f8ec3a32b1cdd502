// SPDX-License-Identifier: BSD-3-Clause
/*
 * A program that has more rights than who started it (set-user-ID) runs no code that the starter names,
 * also where root has brought the helper into it. Here it is this program's own copy.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "helper/agent.c"
#include "base/io.h"
#include "helper/cupti.h"
#include "lib/emulated.h"

#define COPY "build/test_helper_secure.setuid"
#define CUPTI "build/sim/libcupti.so.13"
#define UID_NOBODY 65534

enum { LOADS_CUPTI = 1, CHAINS = 2 };	/* of an exit status */

/* It has tried to load what it was asked to. */
static int load(void)
{
	struct cupti cupti;
	char said[48];

	agent_load_chained(said, sizeof(said));
	cupti_load(&cupti);
	return (strcmp(cupti.path, CUPTI) ? 0 : LOADS_CUPTI) | (*said ? CHAINS : 0);
}

static int run(const char *path)
{
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		setenv("GPUPROF_CUPTI", CUPTI, 1);
		setenv("GPUPROF_CHAIN_INJECTION", "build/sim/libchained.so", 1);
		unsetenv("LD_LIBRARY_PATH");
		execl(path, path, "load", NULL);
		_exit(127);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void make_copy(mode_t mode)
{
	size_t len;
	char *all = io_read_file("/proc/self/exe", 64u << 20, &len);
	int fd = open(COPY, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);

	assert_true(all && fd >= 0 && !io_write_all(fd, all, len));
	assert_int_equal(fchown(fd, UID_NOBODY, UID_NOBODY), 0);
	assert_int_equal(fchmod(fd, mode), 0);
	close(fd);
	free(all);
}

static void the_starting_program_names_no_library(void **state)
{
	(void)state;
	needs_real_machine("the emulator starts no program of another machine");
	if (geteuid() != 0) {
		print_message("SKIP needs:root: only root can make another user's program\n");
		skip();
	}
	make_copy(0755);
	assert_int_equal(run(COPY), LOADS_CUPTI | CHAINS);
	make_copy(04755);
	assert_int_equal(run(COPY), 0);
	unlink(COPY);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_starting_program_names_no_library),
	};

	if (argc == 2 && !strcmp(argv[1], "load"))
		_exit(load());
	return cmocka_run_group_tests(tests, NULL, NULL);
}
