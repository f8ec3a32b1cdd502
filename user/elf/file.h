/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Private to the room: an open ELF file, and reads that stay inside it. Nothing is mapped: a file
 * that is cut short while it is read gives an error, where a mapping would give SIGBUS.
 */
#ifndef ELF_FILE_H
#define ELF_FILE_H

#include <elf.h>
#include <stdbool.h>

#include "elf/elf.h"

/* Beyond these no table is believed: they bound the cost of a lying (perhaps sparse) file. */
#define ELF_MAX_SEGMENTS 4096u
#define ELF_MAX_SECTIONS 65536u
#define ELF_MAX_SYMBOLS (1u << 24)
#define ELF_MAX_STRINGS (256u << 20)
#define ELF_MAX_DYNAMIC 65536u

struct elf_file {		/* constant once open */
	int fd;
	char *name;
	uint64_t size;
	Elf64_Ehdr header;
	Elf64_Phdr *segment;
	size_t n_segments;
	char *interpreter;
};

struct elf_range {		/* of the file, checked to be inside it */
	uint64_t at;
	uint64_t len;
};

struct elf_table {		/* symbols and their names; symbols.len 0: there is none */
	struct elf_range symbols;
	struct elf_range strings;
	struct elf_range versions;	/* one uint16_t a symbol; len 0: unversioned */
};

/* All of len bytes, or -EBADMSG (not all inside the file), or -errno. */
int elf_read(const struct elf_file *ef, uint64_t at, void *buf, size_t len);

/* The range in new memory with a NUL behind it, caller frees; NULL + errno. */
void *elf_read_new(const struct elf_file *ef, struct elf_range range);

/* Logs the one line about this file; returns -EBADMSG. */
int elf_lies(const struct elf_file *ef, const char *what);

/* The file bytes from vaddr to the end of its PT_LOAD, which must have these p_flags. */
bool elf_locate(const struct elf_file *ef, uint64_t vaddr, uint32_t flags, struct elf_range *out);

/* Fills both tables from the section headers; without (believable) ones they stay empty. */
void elf_section_tables(const struct elf_file *ef, struct elf_table *dynsym,
			struct elf_table *symtab);

/* Fills the table from PT_DYNAMIC, which the dynamic linker itself uses. */
void elf_dynamic_table(const struct elf_file *ef, struct elf_table *dynsym);

/* Each architecture's elf_classify; both are always built, so that both are tested. */
enum elf_opening elf_classify_x86(const uint8_t *code, size_t len, unsigned int *skip);
enum elf_opening elf_classify_arm64(const uint8_t *code, size_t len, unsigned int *skip);

#endif
