/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The frame of a unit test program, included by the one file that has its tests: cmocka, main(), and
 * TEST(), which defines a test and adds it to those that main() runs, in the order of the file.
 * TEST_GROUP() names a setup and a teardown for all tests together; BEFORE_EACH and AFTER_EACH are
 * those of each test.
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

static inline void unit_add(const char *title, CMUnitTestFunction test)
{
	if (unit_n_tests == UNIT_TESTS_MAX)
		abort();
	unit_tests[unit_n_tests++] = (struct CMUnitTest){ .name = title, .test_func = test };
}

#define TEST_TITLED(title, test)                                                           \
	static void test(void **state);                                                            \
	static void __attribute__((constructor)) test##_add(void)                                  \
	{                                                                                          \
		unit_add(title, test);                                                             \
	}                                                                                          \
	static void test(__attribute__((unused)) void **state)

#define TEST(test) TEST_TITLED(#test, test)

#define TEST_GROUP(setup, teardown)                                                        \
	static void __attribute__((constructor)) unit_set_group(void)                              \
	{                                                                                          \
		unit_group_setup = setup;                                                          \
		unit_group_teardown = teardown;                                                    \
	}                                                                                          \
	struct unit_tests_have_a_group

/* The block that follows it runs before, or after, each test. */
#define UNIT_EACH(block, slot)                                                             \
	static void block(void);                                                                   \
	static int block##_fixture(__attribute__((unused)) void **state)                           \
	{                                                                                          \
		block();                                                                           \
		return 0;                                                                          \
	}                                                                                          \
	static void __attribute__((constructor)) block##_set(void)                                 \
	{                                                                                          \
		slot = block##_fixture;                                                            \
	}                                                                                          \
	static void block(void)

#define BEFORE_EACH UNIT_EACH(before_each, unit_each_setup)
#define AFTER_EACH UNIT_EACH(after_each, unit_each_teardown)

int main(void)
{
	for (size_t i = 0; i < unit_n_tests; i++) {
		unit_tests[i].setup_func = unit_each_setup;
		unit_tests[i].teardown_func = unit_each_teardown;
	}
	return _cmocka_run_group_tests("tests", unit_tests, unit_n_tests, unit_group_setup,
				       unit_group_teardown);
}

#endif
