// SPDX-License-Identifier: BSD-3-Clause
/*
 * Where the section headers say that symbols are. Section headers are not needed to run a file:
 * they may be missing or lie, and then a table stays empty and PT_DYNAMIC is asked instead.
 */
#include "elf/file.h"

#include <string.h>

#define BATCH 64u		/* section headers read at once */

struct found {
	Elf64_Shdr dynsym;
	Elf64_Shdr symtab;
	Elf64_Shdr versym;
};

static bool read_section(const struct elf_file *ef, uint64_t i, Elf64_Shdr *sh)
{
	uint64_t at = ef->header.e_shoff + i * sizeof(*sh);

	return at >= ef->header.e_shoff && !elf_read(ef, at, sh, sizeof(*sh));
}

/* 0 when there are no believable section headers. */
static uint64_t count_sections(const struct elf_file *ef)
{
	uint64_t n = ef->header.e_shnum;
	Elf64_Shdr first;

	if (!ef->header.e_shoff || ef->header.e_shentsize != sizeof(Elf64_Shdr))
		return 0;
	/* From 0xff00 sections on, the count is in the size of the first one. */
	if (!n && read_section(ef, 0, &first))
		n = first.sh_size;
	if (n > ELF_MAX_SECTIONS || !elf_holds(ef, ef->header.e_shoff, n * sizeof(Elf64_Shdr)))
		return 0;
	return n;
}

static void keep_first(Elf64_Shdr *to, const Elf64_Shdr *sh)
{
	if (to->sh_type == SHT_NULL)
		*to = *sh;
}

static void find_sections(const struct elf_file *ef, uint64_t n, struct found *found)
{
	Elf64_Shdr batch[BATCH];

	for (uint64_t i = 0; i < n; i += BATCH) {
		uint64_t m = n - i < BATCH ? n - i : BATCH;

		if (elf_read(ef, ef->header.e_shoff + i * sizeof(*batch), batch,
			     m * sizeof(*batch)))
			return;
		for (uint64_t j = 0; j < m; j++) {
			if (batch[j].sh_type == SHT_DYNSYM)
				keep_first(&found->dynsym, &batch[j]);
			else if (batch[j].sh_type == SHT_SYMTAB)
				keep_first(&found->symtab, &batch[j]);
			else if (batch[j].sh_type == SHT_GNU_versym)
				keep_first(&found->versym, &batch[j]);
		}
	}
}

static void fill_table(const struct elf_file *ef, uint64_t n_sections, const Elf64_Shdr *sh,
		       struct elf_table *table)
{
	Elf64_Shdr strings;

	if (sh->sh_type == SHT_NULL || sh->sh_entsize != sizeof(Elf64_Sym) ||
	    sh->sh_link >= n_sections || !elf_holds(ef, sh->sh_offset, sh->sh_size))
		return;
	if (!read_section(ef, sh->sh_link, &strings) || strings.sh_type != SHT_STRTAB ||
	    !elf_holds(ef, strings.sh_offset, strings.sh_size))
		return;
	table->symbols = (struct elf_range){ sh->sh_offset, sh->sh_size };
	table->strings = (struct elf_range){ strings.sh_offset, strings.sh_size };
}

void elf_section_tables(const struct elf_file *ef, struct elf_table *dynsym,
			struct elf_table *symtab)
{
	uint64_t n = count_sections(ef);
	struct found found = { 0 };

	find_sections(ef, n, &found);
	fill_table(ef, n, &found.dynsym, dynsym);
	fill_table(ef, n, &found.symtab, symtab);
	if (found.versym.sh_type == SHT_GNU_versym &&
	    elf_holds(ef, found.versym.sh_offset, found.versym.sh_size))
		dynsym->versions = (struct elf_range){ found.versym.sh_offset,
						       found.versym.sh_size };
}

static bool has_name(const struct elf_file *ef, const Elf64_Shdr *names, const Elf64_Shdr *sh,
		     const char *name)
{
	char text[32] = "";
	size_t len = strlen(name) + 1;
	uint64_t at = names->sh_offset + sh->sh_name;

	return len <= sizeof(text) && at >= names->sh_offset && !elf_read(ef, at, text, len) &&
	       !memcmp(text, name, len);
}

uint64_t elf_section_address(struct elf_file *ef, const char *name)
{
	uint64_t n = count_sections(ef);
	Elf64_Shdr names, sh;

	if (ef->header.e_shstrndx >= n || !read_section(ef, ef->header.e_shstrndx, &names))
		return 0;
	for (uint64_t i = 0; i < n && read_section(ef, i, &sh); i++)
		if (sh.sh_flags & SHF_ALLOC && has_name(ef, &names, &sh, name))
			return sh.sh_addr;
	return 0;
}
