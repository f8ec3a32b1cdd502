// SPDX-License-Identifier: BSD-3-Clause
/* The GNU build id, from the notes of the program headers. */
#include "elf/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
