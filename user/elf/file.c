// SPDX-License-Identifier: BSD-3-Clause
/*
 * Opening an ELF file and reading inside it: the header, the segments, the interpreter. Every
 * other file of the room reads through here. Knows nothing of symbols.
 */
#include "elf/file.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"

#if defined(__x86_64__)
#define HOST_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define HOST_MACHINE EM_AARCH64
#else
#error "gpuprof probes x86-64 and arm64 only"
#endif

#define PAGE_MASK 4095u

int elf_lies(const struct elf_file *ef, const char *what)
{
	log_warn("cannot read ELF file %s: %s; is it cut short or damaged?", ef->name, what);
	return -EBADMSG;
}

/* True when the file holds [at, at + len). */
static bool elf_holds(const struct elf_file *ef, uint64_t at, uint64_t len)
{
	return at <= ef->size && len <= ef->size - at;
}

int elf_read(const struct elf_file *ef, uint64_t at, void *buf, size_t len)
{
	char *to = buf;

	if (!elf_holds(ef, at, len))
		return -EBADMSG;
	while (len) {
		ssize_t n = pread(ef->fd, to, len, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)		/* shorter than when it was opened */
			return -EBADMSG;
		to += n;
		at += (uint64_t)n;
		len -= (size_t)n;
	}
	return 0;
}

void *elf_read_new(const struct elf_file *ef, struct elf_range range)
{
	char *buf;
	int err;

	if (!elf_holds(ef, range.at, range.len)) {
		errno = EBADMSG;
		return NULL;
	}
	buf = calloc(1, (size_t)range.len + 1);
	if (!buf)
		return NULL;
	err = elf_read(ef, range.at, buf, (size_t)range.len);
	if (err) {
		free(buf);
		errno = -err;
		return NULL;
	}
	buf[range.len] = '\0';
	return buf;
}

bool elf_locate(const struct elf_file *ef, uint64_t vaddr, uint32_t flags, struct elf_range *out)
{
	for (size_t i = 0; i < ef->n_segments; i++) {
		const Elf64_Phdr *ph = &ef->segment[i];
		uint64_t into = vaddr - ph->p_vaddr;
		uint64_t held;

		if (ph->p_type != PT_LOAD || (ph->p_flags & flags) != flags)
			continue;
		/* No loader maps it otherwise, so nothing of it can run. */
		if ((ph->p_vaddr ^ ph->p_offset) & PAGE_MASK)
			continue;
		if (vaddr < ph->p_vaddr || into >= ph->p_filesz || ph->p_offset >= ef->size)
			continue;
		held = ef->size - ph->p_offset;
		if (held > ph->p_filesz)
			held = ph->p_filesz;
		if (into >= held)
			continue;
		out->at = ph->p_offset + into;
		out->len = held - into;
		return true;
	}
	return false;
}

static bool is_loadable(const Elf64_Ehdr *eh)
{
	return !memcmp(eh->e_ident, ELFMAG, SELFMAG) && eh->e_ident[EI_CLASS] == ELFCLASS64 &&
	       eh->e_ident[EI_DATA] == ELFDATA2LSB && eh->e_machine == HOST_MACHINE &&
	       (eh->e_type == ET_EXEC || eh->e_type == ET_DYN);
}

static int read_header(struct elf_file *ef)
{
	struct stat st;

	if (fstat(ef->fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_size < (off_t)sizeof(ef->header))
		return -ENOEXEC;
	ef->size = (uint64_t)st.st_size;
	if (elf_read(ef, 0, &ef->header, sizeof(ef->header)) || !is_loadable(&ef->header))
		return -ENOEXEC;
	return 0;
}

static int read_segments(struct elf_file *ef)
{
	struct elf_range range = { .at = ef->header.e_phoff };
	size_t n = ef->header.e_phnum;

	if (ef->header.e_phentsize != sizeof(Elf64_Phdr) || !n || n > ELF_MAX_SEGMENTS)
		return elf_lies(ef, "no usable program headers");
	range.len = n * sizeof(Elf64_Phdr);
	if (!elf_holds(ef, range.at, range.len))
		return elf_lies(ef, "its program headers lie outside of it");
	ef->segment = elf_read_new(ef, range);
	if (!ef->segment)
		return -errno;
	ef->n_segments = n;
	return 0;
}

static void read_interpreter(struct elf_file *ef)
{
	for (size_t i = 0; i < ef->n_segments; i++) {
		const Elf64_Phdr *ph = &ef->segment[i];
		struct elf_range range = { ph->p_offset, ph->p_filesz };

		if (ph->p_type != PT_INTERP)
			continue;
		if (!range.len || range.len > PATH_MAX)
			return;
		ef->interpreter = elf_read_new(ef, range);
		return;
	}
}

struct elf_file *elf_file_open(int fd, const char *name)
{
	struct elf_file *ef = calloc(1, sizeof(*ef));
	int err;

	if (!ef)
		return NULL;
	ef->fd = fd;
	ef->name = strdup(name);
	err = ef->name ? read_header(ef) : -ENOMEM;
	/* Most mapped files are no ELF files: not worth a line by default. */
	if (err == -ENOEXEC)
		log_debug("%s is no 64-bit ELF program or library of this machine", name);
	if (!err)
		err = read_segments(ef);
	if (err) {
		elf_file_close(ef);
		errno = -err;
		return NULL;
	}
	read_interpreter(ef);
	return ef;
}

void elf_file_close(struct elf_file *ef)
{
	if (!ef)
		return;
	free(ef->interpreter);
	free(ef->segment);
	free(ef->name);
	free(ef);
}

const char *elf_interpreter(struct elf_file *ef)
{
	return ef->interpreter;
}

/* ---- section ------------------------------------------------------------------------------- */

/*
 * The symbol tables of the section headers. Section headers are not needed to run a file: they
 * may be missing or lie, and then a table stays empty and PT_DYNAMIC is used instead.
 */

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

/* ---- note ---------------------------------------------------------------------------------- */

/* The GNU build id, from the notes of the program headers. */

#define MAX_NOTES (64u << 10)
#define MAX_ID 64u

static uint64_t pad_to(uint64_t n, uint64_t align)
{
	return (n + align - 1) & ~(align - 1);
}

static void print_hex(const uint8_t *id, size_t len, char *hex)
{
	for (size_t i = 0; i < len; i++)
		sprintf(hex + 2 * i, "%02x", id[i]);
}

static bool find_id(const uint8_t *notes, uint64_t len, uint64_t align, char *hex)
{
	for (uint64_t at = 0; at < len && len - at >= sizeof(Elf64_Nhdr);) {
		Elf64_Nhdr nh;
		uint64_t name = at + sizeof(nh), desc;

		memcpy(&nh, notes + at, sizeof(nh));
		desc = at + pad_to(sizeof(nh) + nh.n_namesz, align);
		if (desc > len || nh.n_descsz > len - desc)
			return false;
		if (nh.n_type == NT_GNU_BUILD_ID && nh.n_namesz == sizeof(ELF_NOTE_GNU) &&
		    !memcmp(notes + name, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU))) {
			if (nh.n_descsz && nh.n_descsz <= MAX_ID)
				print_hex(notes + desc, nh.n_descsz, hex);
			return true;
		}
		at = desc + pad_to(nh.n_descsz, align);
	}
	return false;
}

void elf_build_id(struct elf_file *ef, char *hex, size_t size)
{
	if (size)
		*hex = '\0';
	if (size < 2 * MAX_ID + 1)
		return;
	for (size_t i = 0; i < ef->n_segments; i++) {
		const Elf64_Phdr *ph = &ef->segment[i];
		struct elf_range range = { ph->p_offset, ph->p_filesz };
		uint8_t *notes;
		bool done;

		if (ph->p_type != PT_NOTE || range.len > MAX_NOTES)
			continue;
		notes = elf_read_new(ef, range);
		done = notes && find_id(notes, range.len, ph->p_align == 8 ? 8 : 4, hex);
		free(notes);
		if (done)
			return;
	}
}

/* ---- loaded -------------------------------------------------------------------------------- */

/* A file as it lies in memory once it is loaded: by the addresses of its segments. */

int elf_find_offset(const struct elf_file *ef, uint64_t vaddr, uint64_t *offset)
{
	struct elf_range range;

	if (!elf_locate(ef, vaddr, 0, &range))
		return -EFAULT;
	*offset = range.at;
	return 0;
}

int elf_read_loaded(const struct elf_file *ef, uint64_t vaddr, void *buf, size_t len)
{
	struct elf_range range;

	if (!elf_locate(ef, vaddr, 0, &range) || len > range.len)
		return -EFAULT;
	return elf_read(ef, range.at, buf, len) ? -EFAULT : 0;
}

void elf_each_loaded(const struct elf_file *ef, void (*fn)(void *ctx, uint64_t vaddr, uint64_t len),
		     void *ctx)
{
	for (size_t i = 0; i < ef->n_segments; i++) {
		const Elf64_Phdr *ph = &ef->segment[i];

		if (ph->p_type == PT_LOAD && ph->p_filesz)
			fn(ctx, ph->p_vaddr, ph->p_filesz);
	}
}
