// SPDX-License-Identifier: BSD-3-Clause
/*
 * File offsets to names: one pass over each symbol table against the sorted offsets, so that the
 * cost is that of reading the table and nothing of it is kept. Names are read for winners only.
 */
#include "elf/file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/sorted.h"

#define BATCH 2048u		/* symbols read at once */

struct best {			/* the symbol for one offset so far */
	uint64_t start;		/* file offset of it; 0: none */
	uint64_t size;		/* 0: to the next symbol, or ... */
	uint64_t left;		/* ... as far as its segment goes */
	uint64_t name;		/* file offset of its name, and the end of its string table */
	uint64_t names_end;
	bool global;
	uint64_t nearest;	/* file offset of the last symbol before, whatever its size */
};

struct naming {
	const struct elf_file *ef;
	struct elf_address *address;
	struct best *best;
	size_t n;
};

static int compare_offsets(const void *a, const void *b)
{
	const struct elf_address *x = a, *y = b;

	return (x->offset > y->offset) - (x->offset < y->offset);
}

static bool is_better(const struct best *new, const struct best *old)
{
	if (!old->start || new->start != old->start)
		return new->start > old->start;
	if (!new->size != !old->size)
		return new->size;
	return new->global && !old->global;
}

static void keep_better(struct best *old, const struct best *new)
{
	uint64_t nearest = old->nearest;

	if (is_better(new, old))
		*old = *new;
	old->nearest = nearest;
}

/* Names found for the nearest address only (symbols of size 0), which fill_gaps passes on. */
static void offer_symbol(struct naming *nm, const struct best *new)
{
	size_t first = SORTED_BELOW(nm->address, nm->n, offset, new->start);

	if (first < nm->n && new->start > nm->best[first].nearest)
		nm->best[first].nearest = new->start;
	for (size_t i = first; i < nm->n; i++) {
		if (new->size && nm->address[i].offset - new->start >= new->size)
			break;
		keep_better(&nm->best[i], new);
		if (!new->size)
			break;
	}
}

static void take_symbol(struct naming *nm, const struct elf_table *table, const Elf64_Sym *sym)
{
	struct best new = { .size = sym->st_size };
	struct elf_range code;

	if (ELF64_ST_TYPE(sym->st_info) != STT_FUNC || sym->st_shndx == SHN_UNDEF ||
	    sym->st_shndx == SHN_ABS || sym->st_name >= table->strings.len ||
	    !elf_locate(nm->ef, sym->st_value, PF_X, &code) || !code.at)
		return;
	new.start = code.at;
	new.left = code.len;
	new.name = table->strings.at + sym->st_name;
	new.names_end = table->strings.at + table->strings.len;
	new.global = ELF64_ST_BIND(sym->st_info) != STB_LOCAL;
	offer_symbol(nm, &new);
}

static int scan_table(struct naming *nm, const struct elf_table *table)
{
	uint64_t n = table->symbols.len / sizeof(Elf64_Sym);
	Elf64_Sym *batch;
	int err = 0;

	if (n > ELF_MAX_SYMBOLS)
		return elf_lies(nm->ef, "its symbol table is absurdly large");
	batch = malloc(BATCH * sizeof(*batch));
	if (!batch)
		return -ENOMEM;
	for (uint64_t i = 0; i < n && !err; i += BATCH) {
		uint64_t m = n - i < BATCH ? n - i : BATCH;

		err = elf_read(nm->ef, table->symbols.at + i * sizeof(*batch), batch,
			       m * sizeof(*batch));
		for (uint64_t j = 0; j < m && !err; j++)
			take_symbol(nm, table, &batch[j]);
	}
	free(batch);
	return err;
}

static void fill_gaps(struct naming *nm)
{
	for (size_t i = 0; i < nm->n; i++) {
		struct best *best = &nm->best[i];
		const struct best *before = i ? best - 1 : NULL;

		if (before && before->nearest > best->nearest)
			best->nearest = before->nearest;
		if (before && before->start && !before->size && !best->start)
			keep_better(best, before);
		if (!best->size && (best->start < best->nearest ||
				    nm->address[i].offset - best->start >= best->left))
			best->start = 0;
	}
}

static int read_name(struct naming *nm, size_t i)
{
	const struct best *best = &nm->best[i];
	uint64_t left = best->names_end - best->name;
	struct elf_range range = { best->name, left < ELF_NAME_MAX ? left : ELF_NAME_MAX };

	if (!best->start)
		return 0;
	nm->address[i].into = nm->address[i].offset - best->start;
	nm->address[i].local = !best->global;
	/* Many addresses are in one function: its name was just read. */
	if (i && nm->address[i - 1].name && nm->best[i - 1].name == best->name)
		nm->address[i].name = strdup(nm->address[i - 1].name);
	else
		nm->address[i].name = elf_read_new(nm->ef, range);
	if (nm->address[i].name && !*nm->address[i].name) {
		free(nm->address[i].name);
		nm->address[i].name = NULL;
	}
	return nm->address[i].name || errno != ENOMEM ? 0 : -ENOMEM;
}

int elf_name_addresses(struct elf_file *ef, struct elf_address *addresses, size_t n)
{
	struct naming nm = { .ef = ef, .address = addresses, .n = n };
	struct elf_table dynsym = { 0 }, symtab = { 0 };
	int err;

	for (size_t i = 0; i < n; i++)
		addresses[i] = (struct elf_address){ .offset = addresses[i].offset };
	nm.best = calloc(n ? n : 1, sizeof(*nm.best));
	if (!nm.best)
		return -ENOMEM;
	if (n)
		qsort(addresses, n, sizeof(*addresses), compare_offsets);
	elf_section_tables(ef, &dynsym, &symtab);
	if (!dynsym.symbols.len)
		elf_dynamic_table(ef, &dynsym);
	err = scan_table(&nm, &dynsym);
	if (!err)
		err = scan_table(&nm, &symtab);
	fill_gaps(&nm);
	for (size_t i = 0; i < n && err != -ENOMEM; i++)
		if (read_name(&nm, i))
			err = -ENOMEM;
	free(nm.best);
	return err;
}
