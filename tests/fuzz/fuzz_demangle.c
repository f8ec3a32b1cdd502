// SPDX-License-Identifier: BSD-3-Clause
/* Any bytes as a symbol's name: what is shown is short, not cut inside a character, and the same
 * each time; so is a kernel's short name. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "bucket/kernel_short.h"
#include "elf/demangle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int holds)
{
	if (!holds)
		abort();
}

static void check_short(const char *name, bool detail)
{
	struct strbuf text = STRBUF_INIT;

	kernel_short_add(&text, name, detail);
	check(!text.failed && text.len == strlen(text.s) && text.len <= 2 * strlen(name));
	check(!*name || text.len);
	strbuf_free(&text);
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
	check_short(first.s, false);
	check_short(first.s, true);
	check_short(symbol, true);
	strbuf_free(&first);
	strbuf_free(&again);
	free(symbol);
	return 0;
}
