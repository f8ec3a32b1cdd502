// SPDX-License-Identifier: BSD-3-Clause
/* A file as it lies in memory once it is loaded: by the addresses of its segments. */
#include <errno.h>

#include "elf/file.h"

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
