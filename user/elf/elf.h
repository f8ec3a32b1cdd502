/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gpuprof's reader of ELF files: where functions are, how they begin, the build id,
 * dependencies. Reads the bytes itself, by pread: no libelf, no mapping. Files are hostile:
 * every offset is checked, every lie is an error or a missing symbol, never a crash or a hang.
 */
#ifndef ELF_ELF_H
#define ELF_ELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_file;

/* fd stays the caller's and must live as long as the result. NULL + errno: ENOEXEC (not an ELF
 * executable or shared object of this machine), EBADMSG (lies), ENOMEM. name is for messages. */
struct elf_file *elf_file_open(int fd, const char *name);
void elf_file_close(struct elf_file *ef);

enum elf_opening {		/* how a function begins, hence the cost of a probe on it */
	ELF_UNKNOWN = 0,	/* no bytes there */
	ELF_PUSH,		/* push: emulated by the kernel, ~0.45 us */
	ELF_NOP,		/* nop, nop5 */
	ELF_STEP,		/* anything else: single-stepped, ~16 us in a VM */
	ELF_REFUSED,		/* VEX/EVEX and others that the kernel may refuse (ENOTSUPP) */
	ELF_BRANCH,		/* jump, call (arm64: pc-relative): emulated, as cheap as push */
};

struct elf_symbol {
	const char *name;	/* in: the name to find */
	uint8_t begins;		/* in: any function will do whose name begins so */
	uint64_t offset;	/* out: file offset of the probe; 0 when not found */
	uint64_t size;		/* out: of the function; 0 unknown */
	/* out: file offset of the function that it does nothing but jump to; 0: it does more */
	uint64_t jumps_to;
	uint8_t opening;	/* out: enum elf_opening of the instruction at offset */
	uint8_t skipped;	/* out: bytes of endbr64 (or bti) stepped over: 0 or 4 */
	uint8_t local;		/* out: found as a local symbol of .symtab (static cudart) */
};

/*
 * Finds all n names in one pass each over .dynsym and .symtab; undefined symbols and other types
 * than functions are not matches (st_shndx == UNDEF is an import). Returns how many were found,
 * or -errno. Symbol versions are ignored; the default version wins.
 */
int elf_find_symbols(struct elf_file *ef, struct elf_symbol *symbols, size_t n);

/*
 * Calls fn for each function of .dynsym, then (with_locals) of .symtab, whose name begins so; one
 * that is in both tables comes twice. sym is filled as elf_find_symbols does, and valid during the
 * call. 0 or -errno.
 */
int elf_each_function(struct elf_file *ef, const char *begins, bool with_locals,
		      void (*fn)(void *ctx, const struct elf_symbol *sym), void *ctx);

/* The function that CPython's table of type slots has for this slot (its name, "__call__", and its
 * offset in PyTypeObject), where no symbol names it. 0, -ENOENT or -ENOMEM. */
int elf_find_slot(struct elf_file *ef, const char *name, uint32_t slot, struct elf_symbol *out);

#define ELF_TEXT_MAX 4096u
#define ELF_TEXTS_MAX (256u << 20)	/* bytes that are looked at */

/*
 * Calls fn for each text, ended by a NUL, of what is loaded neither to be written nor to be
 * executed that has this part in it; one may come twice. Linkers keep a text that another ends
 * with once: as that one's end. Longer ones than ELF_TEXT_MAX are left out. 0 or -errno.
 */
int elf_each_text(struct elf_file *ef, const char *part, void (*fn)(void *ctx, const char *text),
		  void *ctx);

struct elf_address {
	void *owner;		/* the caller's */
	uint64_t offset;	/* in: file offset of an instruction */
	char *name;		/* out: the function around it, at most ELF_NAME_MAX bytes; NULL: no
				 * symbol covers it. The caller frees */
	uint64_t into;		/* out: bytes from the function's beginning */
	uint8_t local;		/* out: a local symbol of .symtab */
};
#define ELF_NAME_MAX 4096u

/*
 * Names the functions at n offsets, in one pass over .dynsym and .symtab. A symbol without a size
 * reaches to the next symbol; of several at one address a global one wins. Sorts addresses by
 * offset. 0 or -errno; without symbols all names are NULL.
 */
int elf_name_addresses(struct elf_file *ef, struct elf_address *addresses, size_t n);

/* The address (not file offset) of an exported variable; 0: there is none of this name. */
uint64_t elf_object_address(struct elf_file *ef, const char *name);
/* All of len bytes of the file from there, or -EBADMSG (not all inside the file), or -errno. */
int elf_read(const struct elf_file *ef, uint64_t at, void *buf, size_t len);

/* The file's bytes for [vaddr, vaddr + len), which is loaded: all of it, or -EFAULT. */
int elf_read_loaded(const struct elf_file *ef, uint64_t vaddr, void *buf, size_t len);

/* Where in the file that stands which is loaded at vaddr. 0 or -EFAULT. */
int elf_find_offset(const struct elf_file *ef, uint64_t vaddr, uint64_t *offset);

/* Calls fn for each part of the file that is loaded: addresses as in the file. */
void elf_each_loaded(const struct elf_file *ef, void (*fn)(void *ctx, uint64_t vaddr, uint64_t len),
		     void *ctx);

/* The GNU build id in lower-case hex; "" when there is none. size: at least ELF_BUILD_ID_TEXT. */
#define ELF_BUILD_ID_TEXT (2 * 64 + 1)
void elf_build_id(struct elf_file *ef, char *hex, size_t size);

/* Calls fn for each DT_NEEDED as kind 'N', then for DT_RUNPATH as 'R', or without one for DT_RPATH
 * as 'P'; 0 or -errno. */
int elf_each_needed(struct elf_file *ef, void (*fn)(void *ctx, char kind, const char *text),
		    void *ctx);

/* The program interpreter's path (PT_INTERP) or NULL; owned by ef. */
const char *elf_interpreter(struct elf_file *ef);

#endif
