// SPDX-License-Identifier: BSD-3-Clause
/*
 * Where code is mapped, and where its unwind tables are: they are part of what is loaded, so they
 * are read from memory, where deleted files and the vdso have them as well. Only where no program
 * header tells of them (static programs), the file's section headers are asked.
 */
#include "stack/modules.h"

#include <elf.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "elf/elf.h"

#define DELETED " (deleted)"
#define MAX_PHDRS 128u

static char *clean_path(const struct target_mapping *m)
{
	size_t len = strlen(m->path);

	if (!len)
		return strdup("[anon]");
	if (m->ino && len > strlen(DELETED) && !strcmp(m->path + len - strlen(DELETED), DELETED))
		len -= strlen(DELETED);
	return strndup(m->path, len);
}

static bool is_same(const struct stack_file *f, const struct target_mapping *m)
{
	return f->dev == m->dev && f->ino == m->ino && !strncmp(m->path, f->path, strlen(f->path));
}

static int add_file(struct stack_modules *ms, const struct target_mapping *m)
{
	struct stack_file *f = VEC_PUSH(&ms->file);

	if (!f)
		return -ENOMEM;
	*f = (struct stack_file){ .dev = m->dev, .ino = m->ino, .path = clean_path(m) };
	if (!m->offset && (m->ino || !strcmp(m->path, "[vdso]")))
		f->base = m->start;
	if (f->path)
		return 0;
	ms->file.n--;
	return -ENOMEM;
}

static bool is_header(const Elf64_Ehdr *eh)
{
	return !memcmp(eh->e_ident, ELFMAG, SELFMAG) && eh->e_ident[EI_CLASS] == ELFCLASS64 &&
	       eh->e_phentsize == sizeof(Elf64_Phdr) && eh->e_phnum && eh->e_phnum <= MAX_PHDRS;
}

/* What must be added to addresses of the file; false: no segment holds the mapping. */
static bool find_bias(const Elf64_Phdr *ph, size_t n, const struct stack_module *m, uint64_t *bias)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);	/* 4, 16 or 64 KiB on arm64 */

	for (size_t i = 0; i < n; i++) {
		uint64_t first = ph[i].p_offset & ~(page - 1);

		if (ph[i].p_type != PT_LOAD || !(ph[i].p_flags & PF_X) || m->offset < first ||
		    m->offset - first >= ph[i].p_filesz + (ph[i].p_offset - first))
			continue;
		*bias = m->start - m->offset + ph[i].p_offset - ph[i].p_vaddr;
		return true;
	}
	return false;
}

struct reading {
	struct stack_modules *ms;
	struct stack_memory *memory;
};

static void find_tables(struct stack_module *m, uint64_t base, struct stack_memory *memory)
{
	Elf64_Phdr ph[MAX_PHDRS];
	Elf64_Ehdr eh;
	uint64_t bias;

	if (!base || stack_memory_read(memory, base, &eh, sizeof(eh)) || !is_header(&eh) ||
	    stack_memory_read(memory, base + eh.e_phoff, ph, eh.e_phnum * sizeof(ph[0])) ||
	    !find_bias(ph, eh.e_phnum, m, &bias))
		return;
	m->bias = bias;
	m->bias_known = true;
	for (size_t i = 0; i < eh.e_phnum; i++) {
		if (ph[i].p_type != PT_GNU_EH_FRAME)
			continue;
		m->eh_hdr = bias + ph[i].p_vaddr;
		m->eh_hdr_len = ph[i].p_memsz;
	}
}

static void find_section(struct stack_module *module, const struct target_mapping *m)
{
	int fd = target_mapping_open(m);
	struct elf_file *ef = fd < 0 ? NULL : elf_file_open(fd, m->path);
	uint64_t at = ef ? elf_section_address(ef, ".eh_frame") : 0;

	if (at)
		module->eh_frame = module->bias + at;
	elf_file_close(ef);
	if (fd >= 0)
		close(fd);
}

/* Takes all mappings: the ELF header is usually not in the executable one, but before it. */
static int visit(void *ctx, const struct target_mapping *m)
{
	struct reading *r = ctx;
	struct stack_modules *ms = r->ms;
	struct stack_module *module;
	int err;

	if (!m->code && (!m->ino || m->offset))
		return 0;
	if (!ms->file.n || !is_same(&ms->file.v[ms->file.n - 1], m) || (!m->offset && !m->code)) {
		err = add_file(ms, m);
		if (err)
			return err;
	}
	if (!m->code)
		return 0;
	module = VEC_PUSH(&ms->module);
	if (!module)
		return -ENOMEM;
	*module = (struct stack_module){ .start = m->start, .end = m->end, .offset = m->offset,
					 .file = ms->file.n - 1 };
	find_tables(module, ms->file.v[module->file].base, r->memory);
	if (!module->eh_hdr && m->ino)
		find_section(module, m);
	return 0;
}

int stack_modules_read(struct stack_modules *ms, pid_t pid, struct stack_memory *memory)
{
	struct reading r = { ms, memory };

	return target_each_mapping(pid, visit, &r);
}

void stack_modules_free(struct stack_modules *ms)
{
	for (size_t i = 0; i < ms->file.n; i++)
		free(ms->file.v[i].path);
	VEC_FREE(&ms->file);
	VEC_FREE(&ms->module);
}
