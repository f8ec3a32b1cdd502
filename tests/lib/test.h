/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The frame of a unit test program, included by the one file that has its tests: cmocka, main(), and
 * TEST(), which defines a test and adds it to those that main() runs, in the order of the file.
 * TEST_GROUP() names a setup and a teardown for all tests together, TEST_EACH() those of each test that
 * has none of its own.
 */
#ifndef LIB_TEST_H
#define LIB_TEST_H

#include <stdlib.h>

#include "lib/cmocka.h"

enum { UNIT_TESTS_MAX = 64 };

static struct CMUnitTest unit_tests[UNIT_TESTS_MAX];
static size_t unit_n_tests;
static CMFixtureFunction unit_group_setup, unit_group_teardown;
static CMFixtureFunction unit_each_setup, unit_each_teardown;

static inline void unit_add(struct CMUnitTest test)
{
	if (unit_n_tests == UNIT_TESTS_MAX)
		abort();
	unit_tests[unit_n_tests++] = test;
}

/* Within the test that follows, `state` is what its setup made. */
#define TEST_TITLED_WITH(title, test, setup, teardown)                                              \
	static void test(void **state);                                                            \
	static void __attribute__((constructor)) test##_add(void)                                  \
	{                                                                                          \
		unit_add((struct CMUnitTest){ title, test, setup, teardown, NULL });                \
	}                                                                                          \
	static void test(__attribute__((unused)) void **state)

#define TEST_TITLED(title, test) TEST_TITLED_WITH(title, test, NULL, NULL)
#define TEST_WITH(test, setup, teardown) TEST_TITLED_WITH(#test, test, setup, teardown)
#define TEST(test) TEST_TITLED_WITH(#test, test, NULL, NULL)

#define TEST_GROUP(setup, teardown)                                                                 \
	static void __attribute__((constructor)) unit_set_group(void)                              \
	{                                                                                          \
		unit_group_setup = setup;                                                          \
		unit_group_teardown = teardown;                                                    \
	}                                                                                          \
	struct unit_tests_have_a_group

#define TEST_EACH(setup, teardown)                                                                  \
	static void __attribute__((constructor)) unit_set_each(void)                               \
	{                                                                                          \
		unit_each_setup = setup;                                                           \
		unit_each_teardown = teardown;                                                     \
	}                                                                                          \
	struct unit_tests_have_a_fixture

int main(void)
{
	for (size_t i = 0; i < unit_n_tests; i++) {
		if (unit_tests[i].setup_func || unit_tests[i].teardown_func)
			continue;
		unit_tests[i].setup_func = unit_each_setup;
		unit_tests[i].teardown_func = unit_each_teardown;
	}
	return _cmocka_run_group_tests("tests", unit_tests, unit_n_tests, unit_group_setup,
				       unit_group_teardown);
}

#endif
