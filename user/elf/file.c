// SPDX-License-Identifier: BSD-3-Clause
/*
 * Opening an ELF file and reading inside it: the header, the segments, the interpreter, the build
 * id. Every other file of the room reads through here. Knows nothing of symbols.
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
#include "base/num.h"

#if defined(__x86_64__)
#define HOST_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define HOST_MACHINE EM_AARCH64
#else
#error "gpuprof probes x86-64 and arm64 only"
#endif

#define PAGE_MASK 4095u
#define MAX_SEGMENTS 4096u	/* more are not believed */

int elf_lies(const struct elf_file *ef, const char *what)
{
	log_warn("cannot read ELF file %s: %s; is it cut short or damaged?", ef->name, what);
	return -EBADMSG;
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
		uint64_t held = num_min(num_sub(ef->size, ph->p_offset), ph->p_filesz);

		/* No loader maps a segment whose offset is another one in its page. */
		if (ph->p_type != PT_LOAD || (ph->p_flags & flags) != flags ||
		    vaddr < ph->p_vaddr || into >= held ||
		    ((ph->p_vaddr ^ ph->p_offset) & PAGE_MASK))
			continue;
		*out = (struct elf_range){ ph->p_offset + into, held - into };
		return true;
	}
	return false;
}

const Elf64_Phdr *elf_segment(const struct elf_file *ef, uint32_t type)
{
	for (size_t i = 0; i < ef->n_segments; i++)
		if (ef->segment[i].p_type == type)
			return &ef->segment[i];
	return NULL;
}

static int read_header(struct elf_file *ef)
{
	const Elf64_Ehdr *eh = &ef->header;
	struct stat st;

	if (fstat(ef->fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_size < (off_t)sizeof(*eh))
		return -ENOEXEC;
	ef->size = (uint64_t)st.st_size;
	if (elf_read(ef, 0, &ef->header, sizeof(*eh)) || memcmp(eh->e_ident, ELFMAG, SELFMAG) ||
	    eh->e_ident[EI_CLASS] != ELFCLASS64 || eh->e_ident[EI_DATA] != ELFDATA2LSB ||
	    eh->e_machine != HOST_MACHINE || (eh->e_type != ET_EXEC && eh->e_type != ET_DYN))
		return -ENOEXEC;
	return 0;
}

static int read_segments(struct elf_file *ef)
{
	struct elf_range range = { .at = ef->header.e_phoff };
	size_t n = ef->header.e_phnum;

	if (ef->header.e_phentsize != sizeof(Elf64_Phdr) || !n || n > MAX_SEGMENTS)
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

struct elf_file *elf_file_open(int fd, const char *name)
{
	struct elf_file *ef = calloc(1, sizeof(*ef));
	const Elf64_Phdr *interpreter;
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
	interpreter = elf_segment(ef, PT_INTERP);
	if (interpreter && interpreter->p_filesz && interpreter->p_filesz <= PATH_MAX)
		ef->interpreter = elf_read_new(ef, (struct elf_range){ interpreter->p_offset,
								       interpreter->p_filesz });
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

/* ---- note ---------------------------------------------------------------------------------- */

/* The GNU build id, from the notes of the program headers. */

#define MAX_NOTES (64u << 10)
#define MAX_ID 64u

static uint64_t pad_to(uint64_t n, uint64_t align)
{
	return (n + align - 1) & ~(align - 1);
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
			for (size_t i = 0; nh.n_descsz <= MAX_ID && i < nh.n_descsz; i++)
				sprintf(hex + 2 * i, "%02x", notes[desc + i]);
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
	for (const Elf64_Phdr *ph = ef->segment; ph < ef->segment + ef->n_segments; ph++)
		if (ph->p_type == PT_LOAD && ph->p_filesz)
			fn(ctx, ph->p_vaddr, ph->p_filesz);
}
