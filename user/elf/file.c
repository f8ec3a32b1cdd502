// SPDX-License-Identifier: BSD-3-Clause
/*
 * Opening an ELF file and reading inside it: the header, the segments, the interpreter. Every
 * other file of the room reads through here. Knows nothing of symbols.
 */
#include "elf/file.h"

#include <errno.h>
#include <limits.h>
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

bool elf_holds(const struct elf_file *ef, uint64_t at, uint64_t len)
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
	/* Most mapped files are no ELF files: not worth a line unless asked. */
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
