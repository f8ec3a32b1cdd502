/* SPDX-License-Identifier: BSD-3-Clause */
/* Places in code that its program's makers have marked for tracers (<sys/sdt.h>). */
#ifndef ELF_USDT_H
#define ELF_USDT_H

#include "elf/elf.h"

struct elf_usdt {
	const char *provider, *name;
	const char *arguments;	/* where they are: "-8@%rax -1@%dl -8@56(%rsp)" */
	uint64_t offset;	/* in the file */
	uint64_t semaphore;	/* file offset of a counter: while it is 0 the place is passed by */
};

/* Calls fn for each; the texts are valid during the call. 0 or -errno. */
int elf_each_usdt(struct elf_file *ef, void (*fn)(void *ctx, const struct elf_usdt *usdt),
		  void *ctx);

#endif
