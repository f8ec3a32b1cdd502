/* SPDX-License-Identifier: BSD-3-Clause */
/* What the programs of the simulation share: options from a table, the clock, a check of each call. */
#ifndef PROGRAM_H
#define PROGRAM_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cudart_api.h"

/* One of number, text and flag is where the value goes. */
struct program_option {
	const char *name;
	uint64_t *number;
	const char **text;
	bool *flag;
};

/* How many words an option and its value take; 0: it is unknown, or its value is missing or bad. */
static inline int program_option(const struct program_option *known, size_t n, const char *word,
				 const char *value)
{
	char *end;

	while (n && strcmp(known->name, word) != 0)
		known++, n--;
	if (!n)
		return 0;
	if (known->flag)
		return *known->flag = true;
	if (!value)
		return 0;
	if (known->text) {
		*known->text = value;
		return 2;
	}
	*known->number = strtoull(value, &end, 0);
	return *value && !*end ? 2 : 0;
}

/* False: a word is no option, or its value is missing or bad. */
static inline bool program_options(const struct program_option *known, size_t n, char **argv)
{
	int taken;

	for (argv++; *argv; argv += taken) {
		taken = program_option(known, n, argv[0], argv[1]);
		if (!taken)
			return false;
	}
	return true;
}

#define PROGRAM_OPTIONS(known, argv) program_options(known, sizeof(known) / sizeof((known)[0]), argv)

static inline uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static inline void sleep_ns(uint64_t ns)
{
	struct timespec time = { (time_t)(ns / 1000000000), (long)(ns % 1000000000) };

	while (nanosleep(&time, &time) && errno == EINTR)
		;
}

static inline void check(cudaError_t error, const char *call)
{
	if (error == cudaSuccess)
		return;
	fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, call, cudaGetErrorString(error));
	exit(1);
}

#define CHECK(call) check((call), #call)

#endif
