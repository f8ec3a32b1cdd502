// SPDX-License-Identifier: BSD-3-Clause
/*
 * beside LIBCUPTI PROGRAM [ARGUMENT...]: the program prints and ends as without the helper when the
 * helper, which a reader watches, finds that libcupti. Prints last why it does not record. Knows
 * nothing of what the real libraries do: tests/cupti/check has the cases.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cmocka.h"
#include "lib/helper_run.h"

static const char **program;

static void is_as_without(void **cupti)
{
	const char *const environment[] = { "GPUPROF_CUPTI", *cupti, NULL };
	struct helper_run with, without;

	helper_run(&with, program, environment);
	helper_run_without(&without, program);
	assert_int_equal(with.status, without.status);
	assert_string_equal(with.out, without.out);
	printf("%s\n", *with.head.reason ? with.head.reason : "it gave no reason");
}

int main(int argc, char **argv)
{
	static const char *shell[64] = { "/bin/sh", "-c", "exec \"$0\" \"$@\" 2>&1" };
	struct CMUnitTest test = { .test_func = is_as_without };

	if (argc < 3 || argc > 60)
		return 2;
	for (int i = 2; i < argc; i++)
		shell[i + 1] = argv[i];
	program = shell;
	test.name = argv[1];
	test.initial_state = argv[1];
	cmocka_set_message_output(CM_OUTPUT_STDOUT);
	return _cmocka_run_group_tests("beside", &test, 1, NULL, NULL);
}
