// SPDX-License-Identifier: BSD-3-Clause
/*
 * Symbols: where their tables are, names to file offsets (of one function by CPython's own table),
 * file offsets to names; and what else PT_DYNAMIC holds, the needed libraries. Each search is one
 * pass over the tables, so that its cost is that of reading them, however many names are wanted,
 * and nothing of them is kept.
 */
#include "elf/file.h"
#include "elf/section.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/num.h"
#include "base/sorted.h"
#include "base/vec.h"

/* Beyond these no table is believed: they bound the cost of a lying (perhaps sparse) file. */
#define MAX_SECTIONS 65536u
#define MAX_SYMBOLS (1u << 24)
#define MAX_STRINGS (256u << 20)
#define MAX_DYNAMIC 65536u

/* Read at once: */
#define SECTIONS 64u		/* section headers */
#define WORDS 1024u		/* of a hash table */
#define SYMBOLS 2048u

struct table {		/* symbols and their names; symbols.len 0: there is none */
	struct elf_range symbols;
	struct elf_range strings;
	struct elf_range versions;	/* one uint16_t a symbol; len 0: unversioned */
	unsigned char type;		/* of the symbols that are looked at: STT_FUNC, ... */
};

/* ---- section ------------------------------------------------------------------------------- */

/*
 * The symbol tables of the section headers. Section headers are not needed to run a file: they
 * may be missing or lie, and then a table stays empty and PT_DYNAMIC is used instead.
 */

enum { DYNSYM, SYMTAB, VERSYM, FOUND };

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
	if (n > MAX_SECTIONS || !elf_holds(ef, ef->header.e_shoff, n * sizeof(Elf64_Shdr)))
		return 0;
	return n;
}

/* Keeps the first section of each type; the others stay SHT_NULL. */
static void find_sections(const struct elf_file *ef, uint64_t n, Elf64_Shdr found[FOUND])
{
	static const uint32_t types[FOUND] = { SHT_DYNSYM, SHT_SYMTAB, SHT_GNU_versym };
	Elf64_Shdr batch[SECTIONS];

	for (uint64_t i = 0; i < n; i += SECTIONS) {
		uint64_t m = num_min(n - i, SECTIONS);

		if (elf_read(ef, ef->header.e_shoff + i * sizeof(*batch), batch,
			     m * sizeof(*batch)))
			return;
		for (uint64_t j = 0; j < m; j++)
			for (size_t k = 0; k < FOUND; k++)
				if (batch[j].sh_type == types[k] && found[k].sh_type == SHT_NULL)
					found[k] = batch[j];
	}
}

static void fill_table(const struct elf_file *ef, uint64_t n_sections, const Elf64_Shdr *sh,
		       struct table *table)
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

static void section_tables(const struct elf_file *ef, struct table *dynsym,
			   struct table *symtab)
{
	uint64_t n = count_sections(ef);
	Elf64_Shdr found[FOUND] = { 0 };
	const Elf64_Shdr *versym = &found[VERSYM];

	find_sections(ef, n, found);
	fill_table(ef, n, &found[DYNSYM], dynsym);
	fill_table(ef, n, &found[SYMTAB], symtab);
	if (versym->sh_type != SHT_NULL && elf_holds(ef, versym->sh_offset, versym->sh_size))
		dynsym->versions = (struct elf_range){ versym->sh_offset, versym->sh_size };
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

bool elf_find_section(struct elf_file *ef, const char *name, struct elf_section *out)
{
	uint64_t n = count_sections(ef);
	Elf64_Shdr names, sh;

	if (ef->header.e_shstrndx >= n || !read_section(ef, ef->header.e_shstrndx, &names))
		return false;
	for (uint64_t i = 0; i < n && read_section(ef, i, &sh); i++) {
		if (!has_name(ef, &names, &sh, name))
			continue;
		*out = (struct elf_section){ sh.sh_flags & SHF_ALLOC ? sh.sh_addr : 0, sh.sh_offset,
					     sh.sh_size };
		return true;
	}
	return false;
}

/* ---- dynamic ------------------------------------------------------------------------------- */

/*
 * PT_DYNAMIC: the file's dependencies, and where its dynamic symbols are when there are no
 * section headers. The number of those symbols is written nowhere: the hash tables imply it.
 */

struct dynamic {
	Elf64_Dyn *entry;	/* owned */
	size_t n;		/* up to DT_NULL */
};

/* 0 with n == 0 when the file is static. The entries must be freed. */
static int read_dynamic(const struct elf_file *ef, struct dynamic *dyn)
{
	const Elf64_Phdr *ph = elf_segment(ef, PT_DYNAMIC);
	struct elf_range range;
	size_t max;

	*dyn = (struct dynamic){ 0 };
	if (!ph)
		return 0;
	if (!elf_locate(ef, ph->p_vaddr, 0, &range) || range.len < ph->p_filesz)
		return elf_lies(ef, "its dynamic section lies outside of it");
	max = (size_t)(ph->p_filesz / sizeof(Elf64_Dyn));
	if (max > MAX_DYNAMIC)
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
	out->len = num_min(out->len, size);
	return true;
}

/* Reads the next words of a table and steps over them; 0: no more, or unreadable. */
static size_t next_words(const struct elf_file *ef, struct elf_range *table, uint32_t word[WORDS])
{
	size_t n = (size_t)num_min(table->len / sizeof(word[0]), WORDS);

	if (!n || elf_read(ef, table->at, word, n * sizeof(word[0])))
		return 0;
	table->at += n * sizeof(word[0]);
	table->len -= n * sizeof(word[0]);
	return n;
}

/* 0, too, when one of them is unreadable. */
static uint64_t largest_bucket(const struct elf_file *ef, struct elf_range buckets)
{
	uint32_t word[WORDS];
	uint64_t largest = 0;
	size_t n;

	while ((n = next_words(ef, &buckets, word)))
		for (size_t i = 0; i < n; i++)
			largest = num_max(largest, word[i]);
	return buckets.len < sizeof(word[0]) ? largest : 0;
}

/* The words of a chain up to the one whose lowest bit ends it; 0: it never ends. */
static uint64_t chain_length(const struct elf_file *ef, struct elf_range chain)
{
	uint32_t word[WORDS];
	uint64_t length = 0;
	size_t n;

	while (length < MAX_SYMBOLS && (n = next_words(ef, &chain, word))) {
		for (size_t i = 0; i < n; i++)
			if (word[i] & 1)
				return length + i + 1;
		length += n;
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
	if (head[0] > MAX_SYMBOLS || skip > table.len || part.len > table.len - skip)
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

/* The table by PT_DYNAMIC, which the dynamic linker itself uses. */
static void fill_dynamic(const struct elf_file *ef, const struct dynamic *dyn,
			 struct table *dynsym)
{
	struct table table = { .type = dynsym->type };
	struct elf_range hash;
	uint32_t head[2];
	uint64_t n;

	if (dynamic_value(dyn, DT_SYMENT) != sizeof(Elf64_Sym) ||
	    !locate_tag(ef, dyn, DT_SYMTAB, &table.symbols) ||
	    !locate_strings(ef, dyn, &table.strings))
		return;
	n = count_by_gnu_hash(ef, dyn);
	/* DT_HASH: u32 n_buckets, n_chains; there is a chain word for each symbol. */
	if (!n && locate_tag(ef, dyn, DT_HASH, &hash) && hash.len >= sizeof(head) &&
	    !elf_read(ef, hash.at, head, sizeof(head)))
		n = head[1];
	if (n < table.symbols.len / sizeof(Elf64_Sym))
		table.symbols.len = n * sizeof(Elf64_Sym);
	locate_tag(ef, dyn, DT_VERSYM, &table.versions);
	*dynsym = table;
}

/* Both tables by the section headers, which may be missing or lie; dynsym else by PT_DYNAMIC. One
 * that is not found is empty. */
static void find_tables(const struct elf_file *ef, struct table *dynsym, struct table *symtab)
{
	struct dynamic dyn;

	*dynsym = *symtab = (struct table){ .type = STT_FUNC };
	section_tables(ef, dynsym, symtab);
	if (dynsym->symbols.len)
		return;
	if (!read_dynamic(ef, &dyn))
		fill_dynamic(ef, &dyn, dynsym);
	free(dyn.entry);
}

/* Calls fn for each symbol of its type that is defined there and whose name begins inside the
 * strings. 0 or -errno. */
static int each_symbol(const struct elf_file *ef, const struct table *table,
			 void (*fn)(void *ctx, const struct table *table, uint64_t index,
				    const Elf64_Sym *sym), void *ctx)
{
	uint64_t n = table->symbols.len / sizeof(Elf64_Sym);
	Elf64_Sym *batch;
	int err = 0;

	if (n > MAX_SYMBOLS)
		return elf_lies(ef, "its symbol table is absurdly large");
	batch = malloc(SYMBOLS * sizeof(*batch));
	if (!batch)
		return -ENOMEM;
	for (uint64_t i = 0; i < n && !err; i += SYMBOLS) {
		uint64_t m = num_min(n - i, SYMBOLS);

		err = elf_read(ef, table->symbols.at + i * sizeof(*batch), batch,
			       m * sizeof(*batch));
		for (uint64_t j = 0; j < m && !err; j++)
			if (ELF64_ST_TYPE(batch[j].st_info) == table->type &&
			    batch[j].st_shndx != SHN_UNDEF && batch[j].st_shndx != SHN_ABS &&
			    batch[j].st_name < table->strings.len)
				fn(ctx, table, i + j, &batch[j]);
	}
	free(batch);
	return err;
}

int elf_each_needed(struct elf_file *ef, void (*fn)(void *ctx, char kind, const char *text),
		    void *ctx)
{
	struct dynamic dyn;
	struct elf_range strings;
	char text[PATH_MAX];
	int64_t tags[2] = { DT_NEEDED };
	char kinds[2] = { 'N' };
	bool bad = false;
	int err = read_dynamic(ef, &dyn);

	if (err || !dyn.n)
		goto out;
	if (!locate_strings(ef, &dyn, &strings)) {
		err = elf_lies(ef, "its dynamic strings lie outside of it");
		goto out;
	}
	/* The dynamic linker ignores DT_RPATH where there is a DT_RUNPATH. */
	tags[1] = dynamic_value(&dyn, DT_RUNPATH) ? DT_RUNPATH : DT_RPATH;
	kinds[1] = tags[1] == DT_RUNPATH ? 'R' : 'P';
	for (size_t k = 0; k < 2; k++) {
		for (size_t i = 0; i < dyn.n; i++) {
			const Elf64_Dyn *d = &dyn.entry[i];
			size_t max = num_min(num_sub(strings.len, d->d_un.d_val), PATH_MAX);

			if (d->d_tag != tags[k])
				continue;
			if (!elf_read(ef, strings.at + d->d_un.d_val, text, max) &&
			    memchr(text, '\0', max))
				fn(ctx, kinds[k], text);
			else
				bad = true;
		}
	}
	if (bad)
		err = elf_lies(ef, "names of needed libraries lie outside of it");
out:
	free(dyn.entry);
	return err;
}

/* ---- names to offsets ----------------------------------------------------------------------- */

#define VERSION_HIDDEN 0x8000u	/* not the default version of this name */
#define OPENING_BYTES 24u	/* six instructions of arm64; a skipped one and the longest one */

enum rank { RANK_NONE, RANK_LOCAL, RANK_HIDDEN, RANK_DEFAULT };

struct want {
	uint32_t next;		/* index + 1 of another one with the same hash */
	uint8_t rank;		/* of the best match so far */
	uint64_t left;		/* file bytes from the match to the end of its segment */
};

struct search {
	const struct elf_file *ef;
	struct elf_symbol *symbol;
	struct want *want;
	struct map by_hash;	/* index + 1 */
	uint32_t begins;	/* index + 1 of the first that wants a beginning */
	size_t longest;
	const char *strings;	/* of the table that is scanned */
};

static uint64_t hash_name(const char *name, size_t len)
{
	uint64_t h = len, word;

	for (; len >= sizeof(word); name += sizeof(word), len -= sizeof(word)) {
		memcpy(&word, name, sizeof(word));
		h = ((h << 5 | h >> 59) ^ word) * 0x9e3779b97f4a7c15ull;
	}
	word = 0;
	memcpy(&word, name, len);
	return map_hash(h ^ word);
}

static void clear_result(struct elf_symbol *s)
{
	*s = (struct elf_symbol){ .name = s->name, .begins = s->begins };
}

static int search_start(struct search *s, size_t n)
{
	s->want = calloc(n, sizeof(*s->want));
	if (!s->want)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		const char *name = s->symbol[i].name;
		size_t len = strlen(name);
		struct map_slot *slot;

		clear_result(&s->symbol[i]);
		if (s->symbol[i].begins) {
			s->want[i].next = s->begins;
			s->begins = (uint32_t)i + 1;
			continue;
		}
		slot = map_put(&s->by_hash, hash_name(name, len), NULL);
		if (!slot)
			return -ENOMEM;
		s->want[i].next = (uint32_t)slot->value;
		slot->value = i + 1;
		s->longest = len > s->longest ? len : s->longest;
	}
	return 0;
}

static enum rank rank_symbol(const struct search *s, const struct table *table, uint64_t index,
			     const Elf64_Sym *sym)
{
	uint16_t version;

	if (ELF64_ST_BIND(sym->st_info) == STB_LOCAL)
		return RANK_LOCAL;
	if (index < table->versions.len / sizeof(version) &&
	    !elf_read(s->ef, table->versions.at + index * sizeof(version), &version,
		      sizeof(version)) &&
	    version & VERSION_HIDDEN)
		return RANK_HIDDEN;
	return RANK_DEFAULT;
}

/* The first match of the best rank stays. */
static void offer_match(struct search *s, size_t i, const Elf64_Sym *sym, enum rank rank)
{
	struct elf_range code;

	/* The ELF header at 0 is no function, and 0 means not found. */
	if (rank <= s->want[i].rank || !elf_locate(s->ef, sym->st_value, PF_X, &code) || !code.at)
		return;
	s->want[i].rank = (uint8_t)rank;
	s->want[i].left = code.len;
	s->symbol[i].offset = code.at;
	s->symbol[i].size = sym->st_size;
	s->symbol[i].local = rank == RANK_LOCAL;
}

/* The byte behind the table's strings is NUL, so that none is compared beyond it. */
static void match_symbol(void *ctx, const struct table *table, uint64_t index,
			 const Elf64_Sym *sym)
{
	struct search *s = ctx;
	const char *name = s->strings + sym->st_name;
	size_t len = strnlen(name, num_min(table->strings.len - sym->st_name, s->longest + 1));
	const struct map_slot *slot;

	for (uint32_t at = s->begins; at; at = s->want[at - 1].next) {
		const char *begins = s->symbol[at - 1].name;

		if (!strncmp(name, begins, strlen(begins)))
			offer_match(s, at - 1, sym, rank_symbol(s, table, index, sym));
	}
	if (!len || len > s->longest)
		return;
	slot = map_find(&s->by_hash, hash_name(name, len));
	if (!slot)
		return;
	for (uint32_t at = (uint32_t)slot->value; at; at = s->want[at - 1].next)
		if (!strcmp(s->symbol[at - 1].name, name))
			offer_match(s, at - 1, sym, rank_symbol(s, table, index, sym));
}

/* As each_symbol, with all names of the table in *strings meanwhile. */
static int each_named(const struct elf_file *ef, const struct table *table, const char **strings,
		      void (*fn)(void *ctx, const struct table *table, uint64_t index,
				 const Elf64_Sym *sym), void *ctx)
{
	char *names;
	int err;

	if (!table->symbols.len || !table->strings.len)
		return 0;
	if (table->symbols.len / sizeof(Elf64_Sym) > MAX_SYMBOLS ||
	    table->strings.len > MAX_STRINGS)
		return elf_lies(ef, "its symbol table is absurdly large");
	/* The byte behind the strings is NUL, so a last name without one ends there. */
	names = elf_read_new(ef, table->strings);
	if (!names)
		return errno == ENOMEM ? -ENOMEM : elf_lies(ef, "its symbol names are cut off");
	*strings = names;
	err = each_symbol(ef, table, fn, ctx);
	if (err && err != -ENOMEM)
		elf_lies(ef, "its symbols are cut off");
	free(names);
	return err;
}

static int scan_table(struct search *s, const struct table *table)
{
	return each_named(s->ef, table, &s->strings, match_symbol, s);
}

/* Moves the probe behind an endbr64 or bti, unless that is all the function there is. */
static void look_at_opening(const struct elf_file *ef, struct elf_symbol *s, uint64_t left)
{
	uint8_t code[OPENING_BYTES];
	struct elf_start start;
	size_t len = left < sizeof(code) ? (size_t)left : sizeof(code);

	if (s->size && s->size < len)
		len = (size_t)s->size;
	if (elf_read(ef, s->offset, code, len)) {
		clear_result(s);
		return;
	}
	start = elf_classify(code, len);
	s->opening = (uint8_t)start.opening;
	s->skipped = start.skip;
	s->jumps_to = start.jump ? s->offset + (uint64_t)start.jump : 0;
	s->offset += start.skip;
}

/* Where the function of this address is, and how it begins. 0 or -ENOENT. */
static int symbol_at(const struct elf_file *ef, uint64_t vaddr, struct elf_symbol *out)
{
	struct elf_range code;

	if (!elf_locate(ef, vaddr, PF_X, &code) || !code.at)
		return -ENOENT;
	out->offset = code.at;
	look_at_opening(ef, out, code.len);
	return out->offset ? 0 : -ENOENT;
}

int elf_find_symbols(struct elf_file *ef, struct elf_symbol *symbols, size_t n)
{
	struct search s = { .ef = ef, .symbol = symbols };
	struct table dynsym, symtab;
	bool all = true;
	int found = 0;
	int err;

	if (!n || n > INT_MAX)
		return n ? -EINVAL : 0;
	err = search_start(&s, n);
	find_tables(ef, &dynsym, &symtab);
	if (!err)
		err = scan_table(&s, &dynsym);
	for (size_t i = 0; i < n && !err; i++)
		all &= s.want[i].rank != RANK_NONE;
	if (!err && !all)
		err = scan_table(&s, &symtab);
	for (size_t i = 0; !err && i < n; i++) {
		if (s.want[i].rank != RANK_NONE)
			look_at_opening(ef, &symbols[i], s.want[i].left);
		found += symbols[i].offset != 0;
	}
	map_free(&s.by_hash);
	free(s.want);
	return err ? err : found;
}

struct beginning {		/* of the names of functions that are looked for */
	const struct elf_file *ef;
	const char *begins, *strings;
	size_t len;
	void (*fn)(void *ctx, const struct elf_symbol *sym);
	void *ctx;
};

static void pass_on(void *ctx, const struct table *table, uint64_t index, const Elf64_Sym *sym)
{
	const struct beginning *b = ctx;
	const char *name = b->strings + sym->st_name;
	struct elf_symbol out = { .name = name, .size = sym->st_size,
				  .local = ELF64_ST_BIND(sym->st_info) == STB_LOCAL };

	(void)table, (void)index;
	if (!strncmp(name, b->begins, b->len) && !symbol_at(b->ef, sym->st_value, &out))
		b->fn(b->ctx, &out);
}

int elf_each_function(struct elf_file *ef, const char *begins, bool with_locals,
		      void (*fn)(void *ctx, const struct elf_symbol *sym), void *ctx)
{
	struct beginning b = { .ef = ef, .begins = begins, .len = strlen(begins), .fn = fn,
			       .ctx = ctx };
	struct table dynsym, symtab;
	int err;

	find_tables(ef, &dynsym, &symtab);
	err = each_named(ef, &dynsym, &b.strings, pass_on, &b);
	return err || !with_locals ? err : each_named(ef, &symtab, &b.strings, pass_on, &b);
}

struct object {			/* that is looked for */
	const char *name, *strings;
	uint64_t address;
};

static void take_object(void *ctx, const struct table *table, uint64_t index, const Elf64_Sym *sym)
{
	struct object *o = ctx;

	(void)table, (void)index;
	if (!strcmp(o->strings + sym->st_name, o->name))
		o->address = sym->st_value;
}

uint64_t elf_object_address(struct elf_file *ef, const char *name)
{
	struct object o = { .name = name };
	struct table dynsym, symtab;

	find_tables(ef, &dynsym, &symtab);
	dynsym.type = STT_OBJECT;
	return each_named(ef, &dynsym, &o.strings, take_object, &o) ? 0 : o.address;
}

/* ---- a function by CPython's type slots ------------------------------------------------------ */

/*
 * CPython's own table of type slots (slotdefs in Objects/typeobject.c) has records that begin with
 * the address of a name, the slot's offset in PyTypeObject as an int, and the function. In an
 * executable the addresses stand in the file; in what may be loaded anywhere they are those of its
 * relocations.
 */

#define CHUNK 65536u
#define LOADED_MAX (64u << 20)	/* bytes that are looked at */
#define NAMES_MAX 64u
#define RELOCATIONS_MAX (1u << 20)

#if defined(__aarch64__)
#define RELATIVE R_AARCH64_RELATIVE
#else
#define RELATIVE R_X86_64_RELATIVE
#endif

struct slotdefs {
	const struct elf_file *ef;
	const char *name;
	size_t len;			/* with its NUL */
	uint32_t slot;
	uint64_t left;
	VEC(uint64_t) names;		/* addresses of the name */
	uint64_t function;		/* 0: not found */
	int err;
};

static bool is_name(const struct slotdefs *s, uint64_t address)
{
	for (size_t i = 0; i < s->names.n; i++)
		if (s->names.v[i] == address)
			return true;
	return false;
}

static bool is_slot(const struct slotdefs *s, uint64_t record)
{
	uint32_t slot;

	return !elf_read_loaded(s->ef, record + 8, &slot, sizeof(slot)) && slot == s->slot;
}

/* Reads [vaddr, vaddr + len) by parts that overlap by `more` bytes. */
static void each_part(struct slotdefs *s, uint64_t vaddr, uint64_t len, size_t more,
		      void (*fn)(struct slotdefs *s, uint64_t vaddr, const char *part, size_t n))
{
	char *part = malloc(CHUNK + more);

	s->err = part ? s->err : -ENOMEM;
	for (uint64_t at = 0; part && at < len && s->left && !s->err; at += CHUNK) {
		const size_t n = (size_t)num_min(len - at, CHUNK + more);

		s->left = num_sub(s->left, n);
		if (!elf_read_loaded(s->ef, vaddr + at, part, n))
			fn(s, vaddr + at, part, n);
	}
	free(part);
}

static void find_names(struct slotdefs *s, uint64_t vaddr, const char *part, size_t n)
{
	const char *at = part;
	uint64_t *place;

	while (s->names.n < NAMES_MAX &&
	       (at = memmem(at, n - (size_t)(at - part), s->name, s->len))) {
		place = VEC_PUSH(&s->names);
		s->err = place ? s->err : -ENOMEM;
		if (place)
			*place = vaddr + (uint64_t)(at - part);
		at++;
	}
}

static void find_record(struct slotdefs *s, uint64_t vaddr, const char *part, size_t n)
{
	for (size_t i = 0; i + 8 <= n && !s->function; i += 8) {
		uint64_t word;

		memcpy(&word, part + i, sizeof(word));
		if (!word || !is_name(s, word) || !is_slot(s, vaddr + i))
			continue;
		if (elf_read_loaded(s->ef, vaddr + i + 16, &s->function, sizeof(s->function)))
			s->function = 0;
	}
}

static void on_names(void *ctx, uint64_t vaddr, uint64_t len)
{
	struct slotdefs *s = ctx;

	each_part(s, vaddr, len, s->len - 1, find_names);
}

static void on_records(void *ctx, uint64_t vaddr, uint64_t len)
{
	if (!((struct slotdefs *)ctx)->function)
		each_part(ctx, vaddr, len, 0, find_record);
}

static Elf64_Rela *read_relocations(const struct elf_file *ef, size_t max, size_t *n)
{
	struct elf_range range;
	struct dynamic dyn;
	Elf64_Rela *all = NULL;

	*n = 0;
	if (!read_dynamic(ef, &dyn) && dynamic_value(&dyn, DT_RELAENT) == sizeof(*all) &&
	    locate_tag(ef, &dyn, DT_RELA, &range)) {
		range.len = num_min(num_min(range.len, dynamic_value(&dyn, DT_RELASZ)),
				    max * sizeof(*all));
		range.len -= range.len % sizeof(*all);
		all = range.len ? elf_read_new(ef, range) : NULL;
		*n = all ? range.len / sizeof(*all) : 0;
	}
	free(dyn.entry);
	return all;
}

/* The record whose name a relocation has, and then the one of its function. */
static void find_relocated(struct slotdefs *s)
{
	uint64_t record = 0;
	size_t n;
	Elf64_Rela *all = read_relocations(s->ef, RELOCATIONS_MAX, &n);

	for (size_t i = 0; all && i < n && !record; i++)
		if (ELF64_R_TYPE(all[i].r_info) == RELATIVE &&
		    is_name(s, (uint64_t)all[i].r_addend) && is_slot(s, all[i].r_offset))
			record = all[i].r_offset;
	for (size_t i = 0; record && i < n && !s->function; i++)
		if (ELF64_R_TYPE(all[i].r_info) == RELATIVE && all[i].r_offset == record + 16)
			s->function = (uint64_t)all[i].r_addend;
	free(all);
}

int elf_find_slot(struct elf_file *ef, const char *name, uint32_t slot, struct elf_symbol *out)
{
	struct slotdefs s = { .ef = ef, .name = name, .len = strlen(name) + 1, .slot = slot,
			      .left = LOADED_MAX };

	*out = (struct elf_symbol){ .name = name };
	elf_each_loaded(ef, on_names, &s);
	s.left = LOADED_MAX;
	if (s.names.n && !s.err)
		elf_each_loaded(ef, on_records, &s);
	if (s.names.n && !s.err && !s.function)
		find_relocated(&s);
	VEC_FREE(&s.names);
	if (s.err)
		return s.err;
	return s.function ? symbol_at(ef, s.function, out) : -ENOENT;
}

/* ---- offsets to names ----------------------------------------------------------------------- */

/* Names are read for winners only. */
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

	return num_compare(x->offset, y->offset);
}

/* The one that begins last, that has a size, that is global. */
static void keep_better(struct best *old, const struct best *new)
{
	uint64_t nearest = old->nearest;
	bool better = new->global && !old->global;

	if (!old->start || new->start != old->start)
		better = new->start > old->start;
	else if (!new->size != !old->size)
		better = new->size;
	if (better)
		*old = *new;
	old->nearest = nearest;
}

/* Names found for the nearest address only (symbols of size 0), which fill_gaps passes on. */
static void take_symbol(void *ctx, const struct table *table, uint64_t index,
			const Elf64_Sym *sym)
{
	struct naming *nm = ctx;
	struct elf_range code;
	struct best new;
	size_t first;

	(void)index;
	if (!elf_locate(nm->ef, sym->st_value, PF_X, &code) || !code.at)
		return;
	new = (struct best){ .start = code.at, .size = sym->st_size, .left = code.len,
			     .name = table->strings.at + sym->st_name,
			     .names_end = table->strings.at + table->strings.len,
			     .global = ELF64_ST_BIND(sym->st_info) != STB_LOCAL };
	first = SORTED_BELOW(nm->address, nm->n, offset, new.start);
	if (first < nm->n && new.start > nm->best[first].nearest)
		nm->best[first].nearest = new.start;
	for (size_t i = first; i < nm->n; i++) {
		if (new.size && nm->address[i].offset - new.start >= new.size)
			break;
		keep_better(&nm->best[i], &new);
		if (!new.size)
			break;
	}
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
	struct elf_range range = { best->name, num_min(left, ELF_NAME_MAX) };
	struct elf_address *a = &nm->address[i];

	if (!best->start)
		return 0;
	a->into = a->offset - best->start;
	a->local = !best->global;
	/* Many addresses are in one function: its name was just read. */
	if (i && a[-1].name && best[-1].name == best->name)
		a->name = strdup(a[-1].name);
	else
		a->name = elf_read_new(nm->ef, range);
	if (a->name && !*a->name) {
		free(a->name);
		a->name = NULL;
	}
	return a->name || errno != ENOMEM ? 0 : -ENOMEM;
}

int elf_name_addresses(struct elf_file *ef, struct elf_address *addresses, size_t n)
{
	struct naming nm = { .ef = ef, .address = addresses, .n = n };
	struct table dynsym, symtab;
	int err;

	for (size_t i = 0; i < n; i++)
		addresses[i] = (struct elf_address){ .owner = addresses[i].owner,
						     .offset = addresses[i].offset };
	nm.best = calloc(n ? n : 1, sizeof(*nm.best));
	if (!nm.best)
		return -ENOMEM;
	if (n)
		qsort(addresses, n, sizeof(*addresses), compare_offsets);
	find_tables(ef, &dynsym, &symtab);
	err = each_symbol(ef, &dynsym, take_symbol, &nm);
	if (!err)
		err = each_symbol(ef, &symtab, take_symbol, &nm);
	fill_gaps(&nm);
	for (size_t i = 0; i < n && err != -ENOMEM; i++)
		if (read_name(&nm, i))
			err = -ENOMEM;
	free(nm.best);
	return err;
}
