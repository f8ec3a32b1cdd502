/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Numbers at random for property tests. Each run has a seed of its own and prints it; TEST_SEED=N
 * repeats a run. xorshift64* (Vigna 2016, doi:10.1145/2845077).
 */
#ifndef TESTS_LIB_RANDOM_H
#define TESTS_LIB_RANDOM_H

#include <stdbool.h>
#include <stdlib.h>

#include "base/time.h"
#include "lib/cmocka.h"

static __attribute__((unused)) uint64_t random_state = 1;

static inline uint64_t random_next(void)
{
	random_state ^= random_state >> 12;
	random_state ^= random_state << 25;
	random_state ^= random_state >> 27;
	return random_state * 0x2545f4914f6cdd1dull;
}

/*
 * How many rounds a property test runs: all of them natively, a tenth under a sanitizer or an
 * emulator, which are there for other bugs than those that only the thousandth round finds.
 */
static inline int random_rounds(int natively)
{
#ifdef __SANITIZE_ADDRESS__
	const bool slow = true;
#else
	const bool slow = getenv("GPUPROF_EMULATED") != NULL;
#endif

	return slow ? (natively + 9) / 10 : natively;
}

/* 0 to n - 1; 0 for n = 0. */
static inline uint64_t below(uint64_t n)
{
	return n ? (random_next() >> 11) % n : 0;
}

/* For cmocka_run_group_tests: before the first test. */
static inline int random_seed(void **state)
{
	const char *given = getenv("TEST_SEED");

	(void)state;
	random_state = given ? strtoull(given, NULL, 0) : time_now_ns() | 1;
	print_message("TEST_SEED=%llu\n", (unsigned long long)random_state);
	return 0;
}

#endif
