// SPDX-License-Identifier: BSD-3-Clause
#include "probe/operands.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpuprof/control.h"

#if defined(__x86_64__)

/* By DWARF's numbers: of 64, 32, 16 and 8 bits. */
static const char *const names[][4] = {
	{ "rax", "eax", "ax", "al" }, { "rdx", "edx", "dx", "dl" }, { "rcx", "ecx", "cx", "cl" },
	{ "rbx", "ebx", "bx", "bl" }, { "rsi", "esi", "si", "sil" }, { "rdi", "edi", "di", "dil" },
	{ "rbp", "ebp", "bp", "bpl" }, { "rsp", "esp", "sp", "spl" },
};

static unsigned int numbered(const char *name)
{
	char *end;
	const unsigned long n = *name == 'r' ? strtoul(name + 1, &end, 10) : 0;

	return n >= 8 && n < 16 && strlen(end) <= 1 ? (unsigned int)n : GP_OPERAND_NONE;
}

static unsigned int register_of(const char *name)
{
	if (*name++ != '%')
		return GP_OPERAND_NONE;
	for (unsigned int i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		for (unsigned int k = 0; k < 4; k++)
			if (!strcmp(name, names[i][k]))
				return i;
	return numbered(name);
}

#else

static unsigned int register_of(const char *name)
{
	char *end;
	const unsigned long n = *name == 'x' || *name == 'w' ? strtoul(name + 1, &end, 10) : 31;

	return n < 31 && end > name + 1 && !*end ? (unsigned int)n : GP_OPERAND_NONE;
}

#endif

uint64_t operands_cookie(const char *arguments)
{
	uint64_t cookie = 0;

	for (unsigned int i = 0; i < GP_OPERANDS; i++) {
		char name[16] = "";
		int n = 0;
		unsigned int reg;

		sscanf(arguments, " %*d@%15[^ ]%n", name, &n);
		reg = register_of(name);
		if (!i && reg == GP_OPERAND_NONE)
			return 0;
		cookie |= (uint64_t)reg << (GP_COOKIE_OPERANDS_SHIFT + i * GP_OPERAND_BITS);
		arguments += n;
	}
	return cookie;
}
