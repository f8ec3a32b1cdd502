// SPDX-License-Identifier: BSD-3-Clause
/*
 * The notes of <sys/sdt.h>, which are not loaded: of each place its address, that of the section
 * .stapsdt.base and of its semaphore as the linker made them (a tool that moved the code has moved
 * that section along), and three texts.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "elf/file.h"
#include "elf/section.h"
#include "elf/usdt.h"

#define NOTES ".note.stapsdt"
#define BASE ".stapsdt.base"
#define OWNER "stapsdt"
#define NT_STAPSDT 3
#define MAX_NOTES (1u << 20)

struct place {
	uint64_t location, base, semaphore;
};

struct reading {
	struct elf_file *ef;
	uint64_t base;		/* where .stapsdt.base is now; 0: there is none */
	void (*fn)(void *ctx, const struct elf_usdt *usdt);
	void *ctx;
};

/* The text there, and behind it *left bytes from *at on; NULL: it has no end. */
static const char *take_text(const char **at, size_t *left)
{
	const char *text = *at, *end = memchr(text, 0, *left);

	if (!end)
		return NULL;
	*left -= (size_t)(end + 1 - text);
	*at = end + 1;
	return text;
}

/* desc: followed by a NUL. */
static void read_note(const struct reading *r, const char *desc, size_t len)
{
	struct elf_usdt usdt = { 0 };
	struct place p;
	uint64_t moved;

	if (len < sizeof(p))
		return;
	memcpy(&p, desc, sizeof(p));
	desc += sizeof(p);
	len -= sizeof(p);
	usdt.provider = take_text(&desc, &len);
	usdt.name = usdt.provider ? take_text(&desc, &len) : NULL;
	usdt.arguments = usdt.name ? take_text(&desc, &len) : NULL;
	moved = p.base && r->base ? r->base - p.base : 0;
	if (!usdt.arguments || elf_find_offset(r->ef, p.location + moved, &usdt.offset) ||
	    (p.semaphore && elf_find_offset(r->ef, p.semaphore + moved, &usdt.semaphore)))
		return;
	r->fn(r->ctx, &usdt);
}

static size_t padded(size_t len)
{
	return (len + 3) & ~(size_t)3;
}

static void read_notes(const struct reading *r, const char *notes, size_t len)
{
	Elf64_Nhdr nh;

	for (size_t at = 0; at + sizeof(nh) <= len;) {
		size_t name = at + sizeof(nh), desc;

		memcpy(&nh, notes + at, sizeof(nh));
		if (nh.n_namesz > len - name || padded(nh.n_namesz) > len - name)
			return;
		desc = name + padded(nh.n_namesz);
		if (nh.n_descsz > len - desc)
			return;
		if (nh.n_type == NT_STAPSDT && nh.n_namesz == sizeof(OWNER) &&
		    !memcmp(notes + name, OWNER, sizeof(OWNER)))
			read_note(r, notes + desc, nh.n_descsz);
		at = desc + padded(nh.n_descsz);
	}
}

int elf_each_usdt(struct elf_file *ef, void (*fn)(void *ctx, const struct elf_usdt *usdt),
		  void *ctx)
{
	struct elf_section notes, base = { 0 };
	struct reading r = { .ef = ef, .fn = fn, .ctx = ctx };
	char *text;

	if (!elf_find_section(ef, NOTES, &notes))
		return 0;
	if (notes.len > MAX_NOTES || !elf_holds(ef, notes.offset, notes.len))
		return elf_lies(ef, "its notes of marked places lie outside of it");
	text = elf_read_new(ef, (struct elf_range){ notes.offset, notes.len });
	if (!text)
		return -errno;
	if (elf_find_section(ef, BASE, &base))
		r.base = base.address;
	read_notes(&r, text, notes.len);
	free(text);
	return 0;
}
