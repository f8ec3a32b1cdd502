// SPDX-License-Identifier: BSD-3-Clause
/*
 * libiberty's demanglers, bounded. A name of a few bytes may stand for one of gigabytes
 * (substitutions of substitutions), so their output is taken piece by piece, and abandoned in
 * the middle when it is enough. Their recursion limit stays on; it also refuses C++ names of
 * more than a thousand bytes, which are then shown mangled.
 */
#include "elf/demangle.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <string.h>

#define CUT "..."
#define CUT_LEN (sizeof(CUT) - 1)

struct taking {
	jmp_buf enough;
	size_t len;
	char text[ELF_SHOWN_MAX + 1];	/* one more than is shown reveals that there is more */
};

static bool is_ascii(const char *piece, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)piece[i] & 0x80)
			return false;
	return true;
}

/*
 * The C++ demangler allocates nothing but stack. Rust's allocates for one thing, punycode, and
 * frees it after printing it: such a piece has bytes beyond ASCII, so it is not left there.
 */
static void take(const char *piece, size_t n, void *ctx)
{
	struct taking *t = ctx;
	size_t room = sizeof(t->text) - t->len;

	if (!n)
		return;		/* piece may be NULL */
	memcpy(t->text + t->len, piece, n < room ? n : room);
	t->len += n < room ? n : room;
	if (n >= room && is_ascii(piece, n))
		longjmp(t->enough, 1);
}

/* False: it is no mangled name, or an empty one. */
static bool try_demangle(struct taking *t, const char *symbol)
{
	t->len = 0;
	if (setjmp(t->enough))
		return true;
	if (rust_demangle_callback(symbol, DMGL_NO_OPTS, take, t))
		return t->len;
	t->len = 0;
	return !strncmp(symbol, "_Z", 2) &&
	       cplus_demangle_v3_callback(symbol, DMGL_ANSI, take, t) && t->len;
}

/* Not inside a UTF-8 character. */
static size_t cut_length(const char *s, size_t max)
{
	size_t len = max;

	while (len && max - len < 3 && ((unsigned char)s[len] & 0xc0) == 0x80)
		len--;
	return ((unsigned char)s[len] & 0xc0) == 0x80 ? max : len;
}

void elf_demangle(struct strbuf *out, const char *symbol)
{
	struct taking t;
	const char *shown = t.text;
	size_t len;

	if (*symbol == '_' && try_demangle(&t, symbol)) {
		len = t.len;
	} else {
		shown = symbol;
		len = strnlen(symbol, sizeof(t.text));
	}
	if (len <= ELF_SHOWN_MAX) {
		strbuf_add(out, shown, len);
		return;
	}
	strbuf_add(out, shown, cut_length(shown, ELF_SHOWN_MAX - CUT_LEN));
	strbuf_addstr(out, CUT);
}

const char *elf_demangle_kept(struct strpool *names, const char *symbol)
{
	struct strbuf sb = STRBUF_INIT;
	const char *shown;

	elf_demangle(&sb, symbol);
	shown = sb.failed ? NULL : strpool_add(names, sb.s);
	strbuf_free(&sb);
	return shown;
}
