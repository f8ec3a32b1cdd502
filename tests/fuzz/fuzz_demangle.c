// SPDX-License-Identifier: BSD-3-Clause
/* Any bytes as a symbol's name: what is shown is short, not cut inside a character, and the same
 * each time. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "elf/demangle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int holds)
{
	if (!holds)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct strbuf first = STRBUF_INIT, again = STRBUF_INIT;
	char *symbol = calloc(1, size + 1);

	if (!symbol)
		return 0;
	memcpy(symbol, data, size);
	elf_demangle(&first, symbol);
	elf_demangle(&again, symbol);
	check(!first.failed && first.len <= ELF_SHOWN_MAX && first.len == strlen(first.s));
	check(!strcmp(first.s, again.s));
	check(!*symbol || first.len);
	strbuf_free(&first);
	strbuf_free(&again);
	free(symbol);
	return 0;
}
