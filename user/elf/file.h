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

static inline bool elf_holds(const struct elf_file *ef, uint64_t at, uint64_t len)
{
	return at <= ef->size && len <= ef->size - at;
}

/* The first of its type, or NULL. */
const Elf64_Phdr *elf_segment(const struct elf_file *ef, uint32_t type);

/* The range in new memory with a NUL behind it, caller frees; NULL + errno. */
void *elf_read_new(const struct elf_file *ef, struct elf_range range);

/* Logs the one line about this file; returns -EBADMSG. */
int elf_lies(const struct elf_file *ef, const char *what);

/* The file bytes from vaddr to the end of its PT_LOAD, which must have these p_flags. */
bool elf_locate(const struct elf_file *ef, uint64_t vaddr, uint32_t flags, struct elf_range *out);

struct elf_start {		/* how a function begins */
	enum elf_opening opening;
	uint8_t skip;		/* how much endbr64 (or bti) stands before that instruction */
	int64_t jump;		/* it only jumps so far from its first byte; 0: it does more */
};

/*
 * Pure: classifies the function that `code` begins with; both are always built, so that both are
 * tested. The kernel has the last word: REFUSED may be attachable after all, and a multi link may
 * still fail with ENOTSUPP.
 */
struct elf_start elf_classify_x86(const uint8_t *code, size_t len);
struct elf_start elf_classify_arm64(const uint8_t *code, size_t len);

/* Of the machine that this is compiled for. */
#if defined(__aarch64__)
#define elf_classify elf_classify_arm64
#else
#define elf_classify elf_classify_x86
#endif

#endif
