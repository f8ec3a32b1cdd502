// SPDX-License-Identifier: BSD-3-Clause
/* Reads by windows that overlap by the longest text on both sides. */
#include "elf/file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"

#define WINDOW (1u << 20)

struct window {
	char *text;		/* of the file, n bytes and a NUL */
	size_t n, from, until;	/* what is looked for begins in [from, until) */
};

static void search(const struct window *w, const char *part,
		   void (*fn)(void *ctx, const char *text), void *ctx)
{
	const size_t len = strlen(part);
	const char *end = w->text + w->n, *at = w->text + w->from;

	while ((at = memmem(at, (size_t)(end - at), part, len)) && at < w->text + w->until) {
		const char *nul = memrchr(w->text, '\0', (size_t)(at - w->text));
		const char *begin = nul ? nul + 1 : w->text;
		const char *past = memchr(at, '\0', (size_t)(end - at));

		if (!past)
			break;
		if (past - begin <= ELF_TEXT_MAX && (nul || !w->from))
			fn(ctx, begin);
		at = past;
	}
}

static int search_segment(const struct elf_file *ef, const Elf64_Phdr *ph, const char *part,
			  void (*fn)(void *ctx, const char *text), void *ctx)
{
	struct window w = { .text = malloc(WINDOW + 2 * ELF_TEXT_MAX + 1) };
	int err = w.text ? 0 : -ENOMEM;

	for (uint64_t at = 0; at < ph->p_filesz && !err; at += WINDOW) {
		w.from = (size_t)num_min(at, ELF_TEXT_MAX);
		w.until = w.from + (size_t)num_min(ph->p_filesz - at, WINDOW);
		w.n = w.from + (size_t)num_min(ph->p_filesz - at, WINDOW + ELF_TEXT_MAX);
		err = elf_read(ef, ph->p_offset + at - w.from, w.text, w.n);
		w.text[err ? 0 : w.n] = '\0';
		if (!err)
			search(&w, part, fn, ctx);
	}
	free(w.text);
	return err;
}

int elf_each_text(struct elf_file *ef, const char *part, void (*fn)(void *ctx, const char *text),
		  void *ctx)
{
	uint64_t left = ELF_TEXTS_MAX;
	int err = 0;

	for (size_t i = 0; i < ef->n_segments && !err; i++) {
		const Elf64_Phdr *ph = &ef->segment[i];

		if (ph->p_type != PT_LOAD || ph->p_flags != PF_R || ph->p_filesz > left)
			continue;
		left -= ph->p_filesz;
		err = search_segment(ef, ph, part, fn, ctx);
	}
	return err;
}
