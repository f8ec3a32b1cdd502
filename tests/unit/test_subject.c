// SPDX-License-Identifier: BSD-3-Clause
/* What speaks against bringing the helper into a process, where no such process is at hand. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "inject/injectable.c"
#include "lib/test.h"

TEST(a_shadow_stack_is_known_by_a_word_of_its_line)
{
	assert_true(subject_has_shadow_stack("Name:\ta\nx86_Thread_features:\tshstk \nx\n"));
	assert_true(subject_has_shadow_stack("x86_Thread_features:\tshstk wrss \n"));
	assert_true(subject_has_shadow_stack("x86_Thread_features:\twrss shstk"));
	assert_false(subject_has_shadow_stack("x86_Thread_features:\t\nx86_Thread_features_locked:\tshstk \n"));
	assert_false(subject_has_shadow_stack("x86_Thread_features_locked:\tshstk wrss \n"));
	assert_false(subject_has_shadow_stack("x86_Thread_features:\twrss \nName:\tshstk\n"));
	assert_false(subject_has_shadow_stack("x86_Thread_features:\tno_shstk shstk2\n"));
	assert_false(subject_has_shadow_stack("Name:\tshstk\n"));
	assert_false(subject_has_shadow_stack(""));
}

TEST(a_denied_trace_has_its_reason_and_remedy)
{
	static const struct {
		struct denied d;
		const char *says;
	} cases[] = {
		{ { .uid = 1000, .own = 1000, .scope = 1 },
		  "kernel.yama.ptrace_scope is 1: without CAP_SYS_PTRACE nobody may trace what runs already; run "
		  "gpuprof as root or with sudo" },
		{ { .uid = 1000, .own = 1000, .scope = 2 },
		  "kernel.yama.ptrace_scope is 2: without CAP_SYS_PTRACE nobody may trace what runs already; run "
		  "gpuprof as root or with sudo" },
		{ { .uid = 1000, .own = 0, .scope = 3, .can = true },
		  "nobody may trace a process here until the next boot (kernel.yama.ptrace_scope is 3); start it "
		  "with `gpuprof env`" },
		{ { .uid = 0, .own = 1000, .scope = 1 },
		  "it is user 0's, not yours, and CAP_SYS_PTRACE is missing; run gpuprof as root or with sudo" },
		{ { .uid = 1000, .own = 1000, .scope = 0 },
		  "it has rights that you have not, and CAP_SYS_PTRACE is missing; run gpuprof as root or with "
		  "sudo" },
		{ { .uid = 1000, .own = 1000, .scope = -1 },
		  "it has rights that you have not, and CAP_SYS_PTRACE is missing; run gpuprof as root or with "
		  "sudo" },
		{ { .uid = 1000, .own = 0, .scope = 1, .can = true },
		  "something forbids it although CAP_SYS_PTRACE is there (a security module, a user namespace; "
		  "dmesg may tell); start it with `gpuprof env`" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char said[SUBJECT_WHY_BYTES];

		denied_say(&cases[i].d, said, sizeof(said));
		assert_string_equal(said, cases[i].says);
	}
}

TEST(a_processes_status_is_read)
{
	struct denied d;

	denied_read(&d, getpid());
	assert_int_equal(d.uid, geteuid());
	assert_int_equal(d.own, geteuid());
	assert_true(d.scope == -1 ? access("/proc/sys/kernel/yama/ptrace_scope", F_OK) : d.scope <= 3);
}
