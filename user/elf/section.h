/* SPDX-License-Identifier: BSD-3-Clause */
/* Sections of an ELF file by their names; what is loaded does not need them. */
#ifndef ELF_SECTION_H
#define ELF_SECTION_H

#include "elf/elf.h"

struct elf_section {
	uint64_t address;	/* 0: it is not loaded */
	uint64_t offset, len;	/* in the file */
};

/* False: there is none of this name, or no believable section headers. */
bool elf_find_section(struct elf_file *ef, const char *name, struct elf_section *out);

/* Of one that is loaded; 0: there is none. */
static inline uint64_t elf_section_address(struct elf_file *ef, const char *name)
{
	struct elf_section s;

	return elf_find_section(ef, name, &s) ? s.address : 0;
}

#endif
