// SPDX-License-Identifier: BSD-3-Clause
/*
 * The functions around an address from the outermost on: the one that stands there, and those that
 * the compiler has put into it, each with the line where it calls the next one. Runs in the child
 * of lines.c only.
 */
#include "elf/lines_dwarf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#ifdef GPUPROF_LIBDW

#include <dwarf.h>
#include <elfutils/libdw.h>

#include "elf/demangle.h"

bool dwarf_is_built_in(void)
{
	return true;
}

struct place {
	const char *file;	/* NULL: unknown */
	int line;
};

/* Characters that would end the output line, or a frame of it, are left out. */
static void put_safe(FILE *out, const char *s, size_t max)
{
	for (size_t i = 0; i < max && s[i]; i++)
		if (s[i] != '\n' && s[i] != ';')
			fputc(s[i], out);
}

static void put_function(FILE *out, Dwarf_Die *die)
{
	struct strbuf shown = STRBUF_INIT;
	Dwarf_Attribute a;
	const char *name = dwarf_formstring(dwarf_attr_integrate(die, DW_AT_linkage_name, &a));

	if (!name)
		name = dwarf_diename(die);
	elf_demangle(&shown, name ? name : "?");
	put_safe(out, shown.s, ELF_SHOWN_MAX);
	strbuf_free(&shown);
}

static void put_place(FILE *out, const struct place *p)
{
	const char *slash = p->file ? strrchr(p->file, '/') : NULL;

	if (!p->file || p->line <= 0)
		return;
	fputs(" (", out);
	put_safe(out, slash ? slash + 1 : p->file, 256);
	fprintf(out, ":%d)", p->line);
}

static struct place place_of_address(Dwarf_Die *cu, Dwarf_Addr at)
{
	Dwarf_Line *line = dwarf_getsrc_die(cu, at);
	struct place p = { .file = line ? dwarf_linesrc(line, NULL, NULL) : NULL };

	if (line)
		dwarf_lineno(line, &p.line);
	return p;
}

/* Where the function that was put here was called. */
static struct place place_of_call(Dwarf_Die *cu, Dwarf_Die *inlined)
{
	Dwarf_Word file = 0, line = 0;
	struct place p = { .file = NULL };
	Dwarf_Attribute a;
	Dwarf_Files *files;
	size_t n;

	if (dwarf_formudata(dwarf_attr(inlined, DW_AT_call_line, &a), &line) ||
	    dwarf_formudata(dwarf_attr(inlined, DW_AT_call_file, &a), &file) ||
	    dwarf_getsrcfiles(cu, &files, &n) || file >= n)
		return p;
	p.file = dwarf_filesrc(files, file, NULL, NULL);
	p.line = (int)line;
	return p;
}

static bool is_function(Dwarf_Die *die)
{
	return dwarf_tag(die) == DW_TAG_inlined_subroutine || dwarf_tag(die) == DW_TAG_subprogram;
}

/* scopes: the innermost first; the last function among them is the one that stands there. */
static void put_scopes(FILE *out, Dwarf_Die *cu, Dwarf_Addr at, Dwarf_Die *scopes, int n)
{
	Dwarf_Die *function[ELF_LINES_INLINED];
	size_t k = 0;

	for (int i = 0; i < n && k < ELF_LINES_INLINED; i++) {
		if (!is_function(&scopes[i]))
			continue;
		function[k++] = &scopes[i];
		if (dwarf_tag(&scopes[i]) == DW_TAG_subprogram)
			break;
	}
	while (k--) {
		struct place p = k ? place_of_call(cu, function[k - 1]) : place_of_address(cu, at);

		put_function(out, function[k]);
		put_place(out, &p);
		fputs(k ? ";" : "\n", out);
	}
}

static void put_line(FILE *out, Dwarf *d, size_t i, Dwarf_Addr at)
{
	Dwarf_Die cu, *innermost = NULL, *scopes = NULL;
	bool has_function = false;
	int n = 0;

	if (!dwarf_addrdie(d, at, &cu))
		return;
	/* Around an inlined function these are the scopes of its definition; those of the place
	 * that it was put into are its parents. */
	if (dwarf_getscopes(&cu, at, &innermost) > 0)
		n = dwarf_getscopes_die(&innermost[0], &scopes);
	for (int k = 0; k < n; k++)
		has_function |= is_function(&scopes[k]);
	if (has_function) {
		fprintf(out, "%zu ", i);
		put_scopes(out, &cu, at, scopes, n);
	}
	free(innermost);
	free(scopes);
}

int dwarf_answer(int fd, const struct elf_line *lines, size_t n, FILE *out)
{
	Dwarf *d = dwarf_begin(fd, DWARF_C_READ);

	if (!d)
		return -ENOENT;
	for (size_t i = 0; i < n; i++)
		put_line(out, d, i, lines[i].vaddr);
	dwarf_end(d);
	return 0;
}

#else

bool dwarf_is_built_in(void)
{
	return false;
}

int dwarf_answer(int fd, const struct elf_line *lines, size_t n, FILE *out)
{
	(void)fd;
	(void)lines;
	(void)n;
	(void)out;
	return -ENOTSUP;
}

#endif
