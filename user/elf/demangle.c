// SPDX-License-Identifier: BSD-3-Clause
/*
 * libiberty's demanglers, bounded. A name of a few bytes may stand for one of gigabytes
 * (substitutions of substitutions), so their output is taken piece by piece, and abandoned in
 * the middle when it is enough. That does not stop the loops in which they print nothing:
 *
 * - Rust v0: a binder "G<number>_" of a function or dyn type is a loop over up to 2^64 lifetimes,
 *   also in a path that is skipped (that of an impl, the instantiating crate):
 *   _RNvMINtC1a1bFGzzzzzz_EuEu3foo
 * - C++, parsing: the arguments after a conversion "cvT_I...E" are parsed twice, so nested ones
 *   take 2^depth steps: _ZN1acvT_IN1acvT_IiEEEEv
 * - C++, printing: a pack expansion "Dp" searches all below it for a pack, and a substitution as
 *   often as it is used: _Z1fIDp1aI1aIiiES1_EEvv
 *
 * And it reads through a NULL pointer at a sizeof... ("sZ", "sP") among the parameters of a lambda
 * ("Ul"), as of version 20230104: _ZUlFN1mIDTplclT_EsZT_EEET_EE_
 *
 * Names that need many such steps, or have that, are shown mangled.
 */
#include "elf/demangle.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#define CUT "..."
#define CUT_LEN (sizeof(CUT) - 1)
#define RUST_MAX 16384u		/* bytes; decoding punycode takes their square */
#define CPLUS_MAX 1024u		/* bytes; libiberty's own limit, else it may exhaust the stack */
#define CONVERSIONS_MAX 16	/* "cv" in a C++ name: 2^16 steps */
#define NODES_MAX (1u << 16)	/* of a C++ name's tree, with substitutions expanded */

struct taking {
	jmp_buf enough;
	size_t len;
	char text[ELF_SHOWN_MAX + 1];	/* one more than is shown reveals that there is more */
};

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
	if (n < room)
		return;
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)piece[i] & 0x80)
			return;
	longjmp(t->enough, 1);
}

/* tree: of a C++ name, else NULL. False: it is no mangled name, or an empty one; so below. */
static bool print(struct taking *t, const char *symbol, struct demangle_component *tree)
{
	int printed;

	t->len = 0;
	if (setjmp(t->enough))
		return true;
	printed = tree ? cplus_demangle_print_callback(DMGL_ANSI, tree, take, t) :
			 rust_demangle_callback(symbol, DMGL_NO_OPTS, take, t);
	return printed && t->len;
}

/*
 * In a copy the 'G' of each binder of two or more digits becomes a 'J', which is an error there;
 * anywhere in the text, since a back reference may point into an identifier. Most matches are not
 * binders but part of a crate's hash, which is not shown. A 'J' in the output may come from an
 * identifier that matched: then the name is shown mangled.
 */
static bool demangle_rust_v0(struct taking *t, const char *symbol)
{
	size_t len = strnlen(symbol, RUST_MAX + 1), end = 0;
	char *copy = len <= RUST_MAX ? strdup(symbol) : NULL;
	bool changed = false, shown;

	if (!copy)
		return false;
	for (size_t i = len - 1; i > 0; i--) {
		if (copy[i] == '_')
			end = i;
		if (copy[i] != 'G' || (copy[i - 1] != 'F' && copy[i - 1] != 'D') || end <= i + 2)
			continue;
		copy[i] = 'J';
		changed = true;
	}
	shown = print(t, copy, NULL) && !(changed && memchr(t->text, 'J', t->len));
	free(copy);
	return shown;
}

/* Counts a node each time that it is reached, as printing does; false: more than *left. */
static bool is_small(const struct demangle_component *node, size_t *left)
{
	if (!node)
		return true;
	if (!*left)
		return false;
	--*left;
	switch (node->type) {
	case DEMANGLE_COMPONENT_EXTENDED_OPERATOR:
		return is_small(node->u.s_extended_operator.name, left);
	case DEMANGLE_COMPONENT_CTOR:
		return is_small(node->u.s_ctor.name, left);
	case DEMANGLE_COMPONENT_DTOR:
		return is_small(node->u.s_dtor.name, left);
	case DEMANGLE_COMPONENT_FIXED_TYPE:
		return is_small(node->u.s_fixed.length, left);
	case DEMANGLE_COMPONENT_LAMBDA:
	case DEMANGLE_COMPONENT_DEFAULT_ARG:
		return is_small(node->u.s_unary_num.sub, left);
	case DEMANGLE_COMPONENT_NAME:
	case DEMANGLE_COMPONENT_OPERATOR:
	case DEMANGLE_COMPONENT_BUILTIN_TYPE:
	case DEMANGLE_COMPONENT_EXTENDED_BUILTIN_TYPE:
	case DEMANGLE_COMPONENT_SUB_STD:
	case DEMANGLE_COMPONENT_CHARACTER:
	case DEMANGLE_COMPONENT_NUMBER:
	case DEMANGLE_COMPONENT_TEMPLATE_PARAM:
	case DEMANGLE_COMPONENT_FUNCTION_PARAM:
	case DEMANGLE_COMPONENT_UNNAMED_TYPE:
		return true;
	default:
		return is_small(node->u.s_binary.left, left) &&
		       is_small(node->u.s_binary.right, left);
	}
}

static bool demangle_cplus(struct taking *t, const char *symbol)
{
	struct demangle_component *tree;
	size_t conversions = 0, left = NODES_MAX;
	const char *lambda = strstr(symbol, "Ul");
	void *memory = NULL;
	bool shown;

	if (strnlen(symbol, CPLUS_MAX + 1) > CPLUS_MAX)
		return false;
	if (lambda && (strstr(lambda, "sZ") || strstr(lambda, "sP")))
		return false;
	for (const char *s = symbol; (s = strstr(s, "cv")); s += 2)
		conversions++;
	if (conversions > CONVERSIONS_MAX)
		return false;
	tree = cplus_demangle_v3_components(symbol, DMGL_ANSI, &memory);
	shown = tree && is_small(tree, &left) && print(t, symbol, tree);
	free(memory);
	return shown;
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
	struct taking t = { .len = 0 };
	const char *shown = symbol;
	size_t len = strnlen(symbol, sizeof(t.text));
	bool demangled = false;

	if (!strncmp(symbol, "_R", 2))
		demangled = demangle_rust_v0(&t, symbol);
	else if (!strncmp(symbol, "_Z", 2))	/* also Rust's legacy names */
		demangled = print(&t, symbol, NULL) || demangle_cplus(&t, symbol);
	if (demangled) {
		shown = t.text;
		len = t.len;
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
