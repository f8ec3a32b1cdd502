// SPDX-License-Identifier: BSD-3-Clause
/*
 * Memory is a cache of pages. Bounded: when it is full it is emptied, and pages are read again.
 * Pages that cannot be read are not kept: the error is returned each time.
 *
 * Where code is mapped, and where its unwind tables are: they are loaded with it, so they are
 * read from memory, where deleted files and the vdso have them as well. Only where no program
 * header has them (static programs), the file's section headers are used.
 */
#include "stack/maps.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"
#include "elf/elf.h"
#include "elf/section.h"

#define MAX_PHDRS 128u
#define PAGE 4096u		/* arm64's larger pages are read in parts */
#define MAX_PAGES 4096u		/* 16 MiB */
#define COPY_PAGES (STACK_COPY_BYTES / PAGE)

struct stack_memory {
	pid_t pid;
	struct map index;	/* page number -> page */
	size_t n;
	char (*page)[PAGE];
};

struct stack_memory *stack_memory_new(pid_t pid)
{
	struct stack_memory *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->pid = pid;
	m->page = malloc((size_t)MAX_PAGES * PAGE);	/* touched only as it fills */
	if (m->page)
		return m;
	free(m);
	return NULL;
}

void stack_memory_free(struct stack_memory *m)
{
	if (!m)
		return;
	map_free(&m->index);
	free(m->page);
	free(m);
}

/* A page to read into; NULL: no memory. */
static char *take_page(struct stack_memory *m, uint64_t number)
{
	struct map_slot *slot;
	bool is_new;

	if (m->n == MAX_PAGES) {
		map_free(&m->index);
		m->n = 0;
	}
	slot = map_put(&m->index, number, &is_new);
	if (!slot)
		return NULL;
	if (is_new)
		slot->value = m->n++;
	return m->page[slot->value];
}

static int read_page(struct stack_memory *m, uint64_t number, const char **page)
{
	const struct map_slot *slot = map_find(&m->index, number);
	char data[PAGE], *to;
	struct iovec local = { data, PAGE }, remote = { (void *)(uintptr_t)(number * PAGE), PAGE };

	if (slot) {
		*page = m->page[slot->value];
		return 0;
	}
	if (process_vm_readv(m->pid, &local, 1, &remote, 1, 0) != PAGE)
		return errno == EPERM || errno == ESRCH ? -errno : -EFAULT;
	to = take_page(m, number);
	if (!to)
		return -ENOMEM;
	*page = memcpy(to, data, PAGE);
	return 0;
}

int stack_memory_read(void *ctx, uint64_t at, void *buf, size_t len)
{
	char *to = buf;

	if (at + len < at)
		return -EFAULT;
	while (len) {
		size_t into = at % PAGE, n = PAGE - into < len ? PAGE - into : len;
		const char *page;
		int err = read_page(ctx, at / PAGE, &page);

		if (err)
			return err;
		memcpy(to, page + into, n);
		to += n;
		at += n;
		len -= n;
	}
	return 0;
}

/* One call for all of it: a page of a vector that cannot be read ends the copy before that page
 * and loses none of those below it. */
int stack_memory_copy(struct stack_memory *m, uint64_t sp)
{
	struct iovec local, remote[COPY_PAGES];
	char *data = malloc(STACK_COPY_BYTES);
	uint64_t first = sp / PAGE;
	ssize_t n;
	int err = 0;

	if (!data)
		return -ENOMEM;
	local = (struct iovec){ data, STACK_COPY_BYTES };
	for (size_t i = 0; i < COPY_PAGES; i++)
		remote[i] = (struct iovec){ (void *)(uintptr_t)((first + i) * PAGE), PAGE };
	n = process_vm_readv(m->pid, &local, 1, remote, COPY_PAGES, 0);
	if (n < 0)
		err = -errno;
	for (ssize_t i = 0; i < n / PAGE && !err; i++) {
		char *to = take_page(m, first + (uint64_t)i);

		if (to)
			memcpy(to, data + i * PAGE, PAGE);
		else
			err = -ENOMEM;
	}
	free(data);
	return err;
}

/* ---- mappings ------------------------------------------------------------------------------- */

static int add_file(struct stack_modules *ms, const struct target_mapping *m)
{
	struct stack_file *f = VEC_PUSH(&ms->file);
	const char *path = *m->path ? m->path : "[anon]";

	if (!f)
		return -ENOMEM;
	*f = (struct stack_file){ .dev = m->dev, .ino = m->ino };
	f->path = strndup(path, m->ino ? str_len_without(path, " (deleted)") : strlen(path));
	if (!m->offset && (m->ino || !strcmp(m->path, "[vdso]")))
		f->base = m->start;
	if (f->path)
		return 0;
	ms->file.n--;
	return -ENOMEM;
}

/* The offset to addresses of the file; false: no segment holds the mapping. */
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

	if (!base || stack_memory_read(memory, base, &eh, sizeof(eh)) ||
	    memcmp(eh.e_ident, ELFMAG, SELFMAG) || eh.e_ident[EI_CLASS] != ELFCLASS64 ||
	    eh.e_phentsize != sizeof(ph[0]) || !eh.e_phnum || eh.e_phnum > MAX_PHDRS ||
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
	const struct stack_file *last = ms->file.n ? &ms->file.v[ms->file.n - 1] : NULL;
	struct stack_module *module;

	if (!m->code && (!m->ino || m->offset))
		return 0;
	if ((!ms->file.n || last->dev != m->dev || last->ino != m->ino ||
	     strncmp(m->path, last->path, strlen(last->path)) || (!m->offset && !m->code)) &&
	    add_file(ms, m))
		return -ENOMEM;
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
