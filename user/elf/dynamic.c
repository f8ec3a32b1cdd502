// SPDX-License-Identifier: BSD-3-Clause
/*
 * PT_DYNAMIC: the file's dependencies, and where its dynamic symbols are when there are no
 * section headers. The number of those symbols is written nowhere: the hash tables imply it.
 */
#include "elf/file.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define WORDS 1024u		/* of a hash table, read at once */

struct dynamic {
	Elf64_Dyn *entry;	/* owned */
	size_t n;		/* up to DT_NULL */
};

static const Elf64_Phdr *dynamic_segment(const struct elf_file *ef)
{
	for (size_t i = 0; i < ef->n_segments; i++)
		if (ef->segment[i].p_type == PT_DYNAMIC)
			return &ef->segment[i];
	return NULL;
}

/* 0 with n == 0 when the file is static. The entries must be freed. */
static int read_dynamic(const struct elf_file *ef, struct dynamic *dyn)
{
	const Elf64_Phdr *ph = dynamic_segment(ef);
	struct elf_range range;
	size_t max;

	*dyn = (struct dynamic){ 0 };
	if (!ph)
		return 0;
	if (!elf_locate(ef, ph->p_vaddr, 0, &range) || range.len < ph->p_filesz)
		return elf_lies(ef, "its dynamic section lies outside of it");
	max = (size_t)(ph->p_filesz / sizeof(Elf64_Dyn));
	if (max > ELF_MAX_DYNAMIC)
		return elf_lies(ef, "its dynamic section is absurdly large");
	range.len = max * sizeof(Elf64_Dyn);
	dyn->entry = elf_read_new(ef, range);
	if (!dyn->entry)
		return -errno;
	while (dyn->n < max && dyn->entry[dyn->n].d_tag != DT_NULL)
		dyn->n++;
	return 0;
}

static uint64_t dynamic_value(const struct dynamic *dyn, int64_t tag)
{
	for (size_t i = 0; i < dyn->n; i++)
		if (dyn->entry[i].d_tag == tag)
			return dyn->entry[i].d_un.d_val;
	return 0;
}

/* The data behind a tag's address; values are addresses until the dynamic linker has run. */
static bool locate_tag(const struct elf_file *ef, const struct dynamic *dyn, int64_t tag,
		       struct elf_range *out)
{
	uint64_t vaddr = dynamic_value(dyn, tag);

	return vaddr && elf_locate(ef, vaddr, 0, out);
}

static bool locate_strings(const struct elf_file *ef, const struct dynamic *dyn,
			   struct elf_range *out)
{
	uint64_t size = dynamic_value(dyn, DT_STRSZ);

	if (!size || !locate_tag(ef, dyn, DT_STRTAB, out))
		return false;
	if (out->len > size)
		out->len = size;
	return true;
}

static uint32_t largest_bucket(const struct elf_file *ef, struct elf_range buckets)
{
	uint32_t word[WORDS];
	uint32_t largest = 0;

	while (buckets.len >= sizeof(word[0])) {
		size_t n = (size_t)(buckets.len / sizeof(word[0]));

		if (n > WORDS)
			n = WORDS;
		if (elf_read(ef, buckets.at, word, n * sizeof(word[0])))
			return 0;
		for (size_t i = 0; i < n; i++)
			if (word[i] > largest)
				largest = word[i];
		buckets.at += n * sizeof(word[0]);
		buckets.len -= n * sizeof(word[0]);
	}
	return largest;
}

/* The words of a chain up to the one whose lowest bit ends it; 0: it never ends. */
static uint64_t chain_length(const struct elf_file *ef, struct elf_range chain)
{
	uint32_t word[WORDS];
	uint64_t length = 0;

	while (chain.len >= sizeof(word[0]) && length < ELF_MAX_SYMBOLS) {
		size_t n = (size_t)(chain.len / sizeof(word[0]));

		if (n > WORDS)
			n = WORDS;
		if (elf_read(ef, chain.at, word, n * sizeof(word[0])))
			return 0;
		for (size_t i = 0; i < n; i++)
			if (word[i] & 1)
				return length + i + 1;
		length += n;
		chain.at += n * sizeof(word[0]);
		chain.len -= n * sizeof(word[0]);
	}
	return 0;
}

/*
 * DT_GNU_HASH: u32 n_buckets, first symbol, bloom words, shift; u64 bloom[]; u32 bucket[];
 * u32 chain[] from the first symbol on. A bucket names its first symbol, the last chain ends
 * with the last symbol.
 */
static uint64_t count_by_gnu_hash(const struct elf_file *ef, const struct dynamic *dyn)
{
	struct elf_range table, part;
	uint32_t head[4];
	uint64_t skip, last, length;

	if (!locate_tag(ef, dyn, DT_GNU_HASH, &table) || table.len < sizeof(head) ||
	    elf_read(ef, table.at, head, sizeof(head)))
		return 0;
	skip = sizeof(head) + (uint64_t)head[2] * 8;
	part.at = table.at + skip;
	part.len = (uint64_t)head[0] * 4;
	if (head[0] > ELF_MAX_SYMBOLS || skip > table.len || part.len > table.len - skip)
		return 0;
	last = largest_bucket(ef, part);
	if (last < head[1])
		return head[1];
	skip += part.len + (last - head[1]) * 4;
	if (skip >= table.len)
		return 0;
	length = chain_length(ef, (struct elf_range){ table.at + skip, table.len - skip });
	return length ? last + length : 0;
}

/* DT_HASH: u32 n_buckets, n_chains; there is a chain word for each symbol. */
static uint64_t count_by_hash(const struct elf_file *ef, const struct dynamic *dyn)
{
	struct elf_range table;
	uint32_t head[2];

	if (!locate_tag(ef, dyn, DT_HASH, &table) || table.len < sizeof(head) ||
	    elf_read(ef, table.at, head, sizeof(head)))
		return 0;
	return head[1];
}

static void fill_table(const struct elf_file *ef, const struct dynamic *dyn,
		       struct elf_table *dynsym)
{
	struct elf_table table = { 0 };
	uint64_t n;

	if (dynamic_value(dyn, DT_SYMENT) != sizeof(Elf64_Sym) ||
	    !locate_tag(ef, dyn, DT_SYMTAB, &table.symbols) ||
	    !locate_strings(ef, dyn, &table.strings))
		return;
	n = count_by_gnu_hash(ef, dyn);
	if (!n)
		n = count_by_hash(ef, dyn);
	if (n < table.symbols.len / sizeof(Elf64_Sym))
		table.symbols.len = n * sizeof(Elf64_Sym);
	locate_tag(ef, dyn, DT_VERSYM, &table.versions);
	*dynsym = table;
}

void elf_dynamic_table(const struct elf_file *ef, struct elf_table *dynsym)
{
	struct dynamic dyn;

	if (!read_dynamic(ef, &dyn))
		fill_table(ef, &dyn, dynsym);
	free(dyn.entry);
}

/* 0 when text holds the whole string, else -EBADMSG. */
static int read_text(const struct elf_file *ef, struct elf_range strings, uint64_t at,
		     char text[static PATH_MAX])
{
	uint64_t max;

	if (at >= strings.len)
		return -EBADMSG;
	max = strings.len - at;
	if (max > PATH_MAX)
		max = PATH_MAX;
	if (elf_read(ef, strings.at + at, text, (size_t)max) || !memchr(text, '\0', (size_t)max))
		return -EBADMSG;
	return 0;
}

struct each {
	const struct elf_file *ef;
	const struct dynamic *dyn;
	struct elf_range strings;
	void (*fn)(void *ctx, char kind, const char *text);
	void *ctx;
};

/* The number of entries with this tag that could not be read. */
static size_t each_tag(const struct each *each, int64_t tag, char kind)
{
	char text[PATH_MAX];
	size_t bad = 0;

	for (size_t i = 0; i < each->dyn->n; i++) {
		const Elf64_Dyn *d = &each->dyn->entry[i];

		if (d->d_tag != tag)
			continue;
		if (read_text(each->ef, each->strings, d->d_un.d_val, text))
			bad++;
		else
			each->fn(each->ctx, kind, text);
	}
	return bad;
}

int elf_each_needed(struct elf_file *ef, void (*fn)(void *ctx, char kind, const char *text),
		    void *ctx)
{
	struct dynamic dyn;
	struct each each = { .ef = ef, .dyn = &dyn, .fn = fn, .ctx = ctx };
	size_t bad;
	int err = read_dynamic(ef, &dyn);

	if (err || !dyn.n)
		goto out;
	if (!locate_strings(ef, &dyn, &each.strings)) {
		err = elf_lies(ef, "its dynamic strings lie outside of it");
		goto out;
	}
	bad = each_tag(&each, DT_NEEDED, 'N');
	/* The dynamic linker ignores DT_RPATH where there is a DT_RUNPATH. */
	bad += dynamic_value(&dyn, DT_RUNPATH) ? each_tag(&each, DT_RUNPATH, 'R')
					       : each_tag(&each, DT_RPATH, 'P');
	if (bad)
		err = elf_lies(ef, "names of needed libraries lie outside of it");
out:
	free(dyn.entry);
	return err;
}
