/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For tests that are built for another machine than this one, where a user-mode emulator runs them
 * (the Makefile then sets GPUPROF_EMULATED). It shows the test its own process as that machine
 * would; other processes, programs and libraries are this machine's. The test includes cmocka.h.
 */
#ifndef TESTS_EMULATED_H
#define TESTS_EMULATED_H

#include <elf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/cmocka.h"

/* Skips the test when emulated. why: what it looks at that is this machine's. */
static inline void needs_real_machine(const char *why)
{
	if (!getenv("GPUPROF_EMULATED"))
		return;
	print_message("SKIP emulated: %s\n", why);
	skip();
}

/* Skips the test when the file is a program or library of another machine than the test is. */
static inline void needs_own_machine(int fd)
{
	static const uint16_t own =
#if defined(__aarch64__)
		EM_AARCH64;
#else
		EM_X86_64;
#endif
	Elf64_Ehdr eh = { .e_machine = own };

	if (pread(fd, &eh, sizeof(eh), 0) <= 0 || memcmp(eh.e_ident, ELFMAG, SELFMAG) ||
	    eh.e_machine == own)
		return;		/* an archive is the compiler's business */
	print_message("SKIP: the library is another machine's\n");
	skip();
}

#endif
