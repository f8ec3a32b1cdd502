// SPDX-License-Identifier: BSD-3-Clause
/*
 * Names to file offsets: one pass over each symbol table against a hash of the wanted names, so
 * that the cost is that of reading the table, however many names are wanted.
 */
#include "elf/file.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"

#define BATCH 2048u		/* symbols read at once */
#define VERSION_HIDDEN 0x8000u	/* not the default version of this name */
#define OPENING_BYTES 20u	/* a skipped instruction and the longest one */

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

static int want_name(struct search *s, size_t i)
{
	size_t len = strlen(s->symbol[i].name);
	struct map_slot *slot = map_put(&s->by_hash, hash_name(s->symbol[i].name, len), NULL);

	if (!slot)
		return -ENOMEM;
	s->want[i].next = (uint32_t)slot->value;
	slot->value = i + 1;
	if (len > s->longest)
		s->longest = len;
	return 0;
}

static void want_beginning(struct search *s, size_t i)
{
	s->want[i].next = s->begins;
	s->begins = (uint32_t)i + 1;
}

static int search_start(struct search *s, size_t n)
{
	s->want = calloc(n, sizeof(*s->want));
	if (!s->want)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		clear_result(&s->symbol[i]);
		if (s->symbol[i].begins)
			want_beginning(s, i);
		else if (want_name(s, i))
			return -ENOMEM;
	}
	return 0;
}

static enum rank rank_symbol(const struct search *s, const struct elf_table *table, uint64_t index,
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

	if (rank <= s->want[i].rank || !elf_locate(s->ef, sym->st_value, PF_X, &code))
		return;
	if (!code.at)		/* the ELF header is no function, and 0 means not found */
		return;
	s->want[i].rank = (uint8_t)rank;
	s->want[i].left = code.len;
	s->symbol[i].offset = code.at;
	s->symbol[i].size = sym->st_size;
	s->symbol[i].local = rank == RANK_LOCAL;
}

/* The byte behind the table's strings is NUL, so that none is compared beyond it. */
static void match_beginning(struct search *s, const struct elf_table *table, const char *name,
			    uint64_t index, const Elf64_Sym *sym)
{
	for (uint32_t at = s->begins; at; at = s->want[at - 1].next) {
		const char *begins = s->symbol[at - 1].name;

		if (!strncmp(name, begins, strlen(begins)))
			offer_match(s, at - 1, sym, rank_symbol(s, table, index, sym));
	}
}

static void match_symbol(struct search *s, const struct elf_table *table, const char *strings,
			 uint64_t index, const Elf64_Sym *sym)
{
	const char *name = strings + sym->st_name;
	uint64_t max = table->strings.len - sym->st_name;
	size_t len = strnlen(name, max < s->longest + 1 ? max : s->longest + 1);
	const struct map_slot *slot;

	match_beginning(s, table, name, index, sym);
	if (!len || len > s->longest)
		return;
	slot = map_find(&s->by_hash, hash_name(name, len));
	if (!slot)
		return;
	for (uint32_t at = (uint32_t)slot->value; at; at = s->want[at - 1].next)
		if (!strcmp(s->symbol[at - 1].name, name))
			offer_match(s, at - 1, sym, rank_symbol(s, table, index, sym));
}

static bool is_defined_function(const Elf64_Sym *sym)
{
	return ELF64_ST_TYPE(sym->st_info) == STT_FUNC && sym->st_shndx != SHN_UNDEF &&
	       sym->st_shndx != SHN_ABS;
}

static int scan_batches(struct search *s, const struct elf_table *table, const char *strings,
			Elf64_Sym *batch)
{
	uint64_t n = table->symbols.len / sizeof(*batch);

	for (uint64_t i = 0; i < n; i += BATCH) {
		uint64_t m = n - i < BATCH ? n - i : BATCH;
		int err = elf_read(s->ef, table->symbols.at + i * sizeof(*batch), batch,
				   m * sizeof(*batch));

		if (err)
			return err;
		for (uint64_t j = 0; j < m; j++)
			if (is_defined_function(&batch[j]) &&
			    batch[j].st_name < table->strings.len)
				match_symbol(s, table, strings, i + j, &batch[j]);
	}
	return 0;
}

static int scan_table(struct search *s, const struct elf_table *table)
{
	Elf64_Sym *batch;
	char *strings;
	int err = -ENOMEM;

	if (!table->symbols.len || !table->strings.len)
		return 0;
	if (table->symbols.len / sizeof(*batch) > ELF_MAX_SYMBOLS ||
	    table->strings.len > ELF_MAX_STRINGS)
		return elf_lies(s->ef, "its symbol table is absurdly large");
	/* The byte behind the strings is NUL, so a last name without one ends there. */
	strings = elf_read_new(s->ef, table->strings);
	if (!strings)
		return errno == ENOMEM ? -ENOMEM : elf_lies(s->ef, "its symbol names are cut off");
	batch = malloc(BATCH * sizeof(*batch));
	if (batch)
		err = scan_batches(s, table, strings, batch);
	if (err && err != -ENOMEM)
		elf_lies(s->ef, "its symbols are cut off");
	free(batch);
	free(strings);
	return err;
}

static size_t count_matches(const struct search *s, size_t n)
{
	size_t found = 0;

	for (size_t i = 0; i < n; i++)
		found += s->want[i].rank != RANK_NONE;
	return found;
}

static int scan_file(struct search *s, size_t n)
{
	struct elf_table dynsym = { 0 }, symtab = { 0 };
	int err;

	elf_section_tables(s->ef, &dynsym, &symtab);
	if (!dynsym.symbols.len)
		elf_dynamic_table(s->ef, &dynsym);
	err = scan_table(s, &dynsym);
	if (!err && count_matches(s, n) < n)
		err = scan_table(s, &symtab);
	return err;
}

/* Moves the probe behind an endbr64 or bti, unless that is all the function there is. */
static void look_at_opening(const struct elf_file *ef, struct elf_symbol *s, uint64_t left)
{
	uint8_t code[OPENING_BYTES];
	unsigned int skip;
	size_t len = left < sizeof(code) ? (size_t)left : sizeof(code);

	if (s->size && s->size < len)
		len = (size_t)s->size;
	if (elf_read(ef, s->offset, code, len)) {
		clear_result(s);
		return;
	}
	s->opening = (uint8_t)elf_classify(code, len, &skip);
	s->skipped = (uint8_t)skip;
	s->offset += skip;
}

int elf_find_symbols(struct elf_file *ef, struct elf_symbol *symbols, size_t n)
{
	struct search s = { .ef = ef, .symbol = symbols };
	int found = 0;
	int err;

	if (!n || n > INT_MAX)
		return n ? -EINVAL : 0;
	err = search_start(&s, n);
	if (!err)
		err = scan_file(&s, n);
	for (size_t i = 0; !err && i < n; i++) {
		if (s.want[i].rank != RANK_NONE)
			look_at_opening(ef, &symbols[i], s.want[i].left);
		found += symbols[i].offset != 0;
	}
	map_free(&s.by_hash);
	free(s.want);
	return err ? err : found;
}
