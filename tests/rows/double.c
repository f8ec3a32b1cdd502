// SPDX-License-Identifier: BSD-3-Clause
/*
 * A test double of one of the vendor's libraries, not the vendor's: it exports the functions of
 * the catalogue, and each does nothing but return what rows_double_result says. A caller cleans up
 * its own arguments, so functions without parameters take any. Built once for each library;
 * ROWS_DOUBLE_FUNCTIONS is the file that names them.
 */
#include <stdio.h>
#include <stdlib.h>

#define SAYS(name) #name
#define NAME_OF(library) SAYS(library)

int rows_double_result;

/* A function that calls another begins with a push, as the vendor's do. Of a library that is known by
 * what is inside it, this is that. */
#ifdef ROWS_DOUBLE_INNER
#define result ROWS_DOUBLE_INNER
#endif
static __attribute__((noinline)) int result(void)
{
	return rows_double_result;
}

/* The code is that of a function with an alias for NCCL, whose names come in pairs. */
#ifdef ROWS_DOUBLE_ALIASES
#define DOUBLE(name)                                            \
	int p##name(void);                                      \
	int name(void) __attribute__((weak, alias("p" #name))); \
	int p##name(void)                                       \
	{                                                       \
		return result();                                \
	}
#else
#define DOUBLE(name)             \
	int name(void);          \
	int name(void)           \
	{                        \
		return result(); \
	}
#endif

#ifdef ROWS_DOUBLE_FUNCTIONS
#include ROWS_DOUBLE_FUNCTIONS
#else
DOUBLE(cudaFree) /* for who reads this file alone: checkers of code */
#endif

__attribute__((constructor)) static void say(void)
{
	const char *library = NAME_OF(ROWS_DOUBLE_LIBRARY);

	if (!getenv("GPUSIM_QUIET"))
		fprintf(stderr, "gpuprof's test double of %s, not the vendor's library\n", library);
}
