// SPDX-License-Identifier: BSD-3-Clause
/* A name is a path of parts, each with template arguments: types, which are paths, or values. */
#include "bucket/kernel_short.h"

#include <ctype.h>

#include "base/num.h"

#define PARTS_MAX 32
#define DEPTH_MAX 8
#define ARGS_MAX 16
#define DETAIL_DEPTH 2

struct slice {
	const char *s;
	size_t len;
};

struct part {			/* of a path: name<args>(...) */
	struct slice name;	/* empty: it has none, as an unnamed namespace */
	struct slice args;	/* between < and > */
	struct slice lambda;	/* "(float)#1" of one, else empty */
	bool is_lambda;
};

struct path {
	struct part v[PARTS_MAX];
	size_t n;
};

/* Wrappers: their argument is what the kernel applies. */
static const char *const wrappers[] = {
	"ReduceOp", "func_wrapper_t", "AUnaryFunctor", "BUnaryFunctor", "BinaryFunctor",
	"UnaryFunctor",
	"device_kernel", "Kernel", "Kernel2", "enable_sm80_to_sm89", "enable_sm90",
	"enable_sm90_or_later", "enable_sm100_only", "enable_2x_kernel_for_sm89",
	"enable_3x_kernel_for_sm9x", "enable_3x_kernel_for_sm10_or_later",
	"GemmUniversalAdapter", NULL,
};

/* Libraries of types that say nothing of what is done with them. */
static const char *const plain_spaces[] = {
	"cute", "thrust", "cuda", "memory", "c10", NULL,
};

static const char *const plain_types[] = {
	"bool", "char", "signed char", "unsigned char", "short", "unsigned short", "int",
	"unsigned int", "long", "unsigned long", "long long", "unsigned long long", "float",
	"double", "void", "half",
	"__half", "__half2", "__nv_bfloat16", "__nv_bfloat162", "__nv_fp8_e4m3", "__nv_fp8_e5m2",
	"bfloat16_t", "half_t", "float_e4m3_t", "Half", "BFloat16", "complex", "OpaqueType",
	"Array", "array", "tuple", "pair", "integral_constant", "integer_sequence",
	"OffsetCalculator", "TrivialOffsetCalculator", "LoadWithoutCast", "StoreWithoutCast",
	"LoadWithCast", "StoreWithCast", "CUDAKernelLauncher", "TensorListMetadata",
	"TensorListScalarListMetadata",
	"FusedOptimizerTensorListMetadata", "Sm80", "Sm90", "Sm100", NULL,
};

/* Ends of names that only say what they are; in this order, one after the other. */
static const char *const endings[] = {
	"CUDAKernelImpl", "_cuda", "_impl", "_kernel", "_cuda", "_functor", "Functor", "Kernel",
	"Ops", NULL,
};

static bool is_text(struct slice s, const char *text)
{
	return strlen(text) == s.len && !memcmp(s.s, text, s.len);
}

static bool is_one_of(struct slice s, const char *const *texts)
{
	while (*texts && !is_text(s, *texts))
		texts++;
	return *texts;
}

static bool ends(struct slice s, const char *text)
{
	const size_t len = strlen(text);

	return s.len >= len && !memcmp(s.s + s.len - len, text, len);
}

static bool begins(struct slice s, const char *text)
{
	return s.len >= strlen(text) && !memcmp(s.s, text, strlen(text));
}

static struct slice from(struct slice s, size_t at)
{
	at = num_min(at, s.len);
	return (struct slice){ s.s + at, s.len - at };
}

static void add_slice(struct strbuf *out, struct slice s)
{
	if (s.len)
		strbuf_add(out, s.s, s.len);
}

static struct slice trim(struct slice s)
{
	while (s.len && *s.s == ' ')
		s = from(s, 1);
	while (s.len && s.s[s.len - 1] == ' ')
		s.len--;
	return s;
}

/* ---- paths ----------------------------------------------------------------------------------- */

/* How deep the character leads into brackets: 1, -1 for out, 0. An arrow is none, nor is the sign
 * of an operator. */
static int step(struct slice s, size_t i)
{
	const char c = s.s[i];

	if ((c == '<' || c == '>') && i >= 8 && !memcmp(s.s + i - 8, "operator", 8))
		return 0;
	if (c == '>' && i && s.s[i - 1] == '-')
		return 0;
	return c == '<' || c == '(' || c == '{' || c == '[' ? 1 :
	       c == '>' || c == ')' || c == '}' || c == ']' ? -1 : 0;
}

/* Where `mark` is outside of brackets; s.len: nowhere. */
static size_t find(struct slice s, const char *mark)
{
	int depth = 0;

	for (size_t i = 0; i < s.len; i++) {
		if (!depth && begins(from(s, i), mark))
			return i;
		depth = depth + step(s, i) < 0 ? 0 : depth + step(s, i);
	}
	return s.len;
}

/* The text from the bracket at s.s[at] to the one that closes it, or to the end. */
static struct slice inside(struct slice s, size_t at)
{
	int depth = 1;

	for (size_t i = at + 1; i < s.len; i++) {
		depth += step(s, i);
		if (!depth)
			return (struct slice){ s.s + at + 1, i - at - 1 };
	}
	return from(s, at + 1);
}

/* "reduce_kernel<512, 1>(int)", "{lambda(float)#1}", "operator()() const", "(anonymous
 * namespace)" */
static struct part read_part(struct slice text)
{
	struct part part = { .name = { text.s, 0 } };
	size_t end;

	part.is_lambda = begins(text, "{lambda");
	if (part.is_lambda)
		part.lambda = inside(text, 0);
	if (part.is_lambda)
		part.lambda = from(part.lambda, find(part.lambda, "("));
	if (begins(text, "{") || begins(text, "(") || begins(text, "operator"))
		return part;
	end = num_min(find(text, "<"), find(text, "("));
	/* A type of a result is before it. */
	for (size_t i = 0; i < end; i++)
		if (text.s[i] == ' ')
			part.name = (struct slice){ text.s + i + 1, 0 };
	part.name.len = (size_t)(text.s + end - part.name.s);
	if (end < text.len && text.s[end] == '<')
		part.args = inside(text, end);
	return part;
}

static void read_path(struct path *path, struct slice text)
{
	path->n = 0;
	while (text.len && path->n < PARTS_MAX) {
		const size_t end = find(text, "::");

		path->v[path->n++] = read_part(trim((struct slice){ text.s, end }));
		text = from(text, end + 2);
	}
}

/* The last part that has a name; NULL: none has. */
static const struct part *named(const struct path *path)
{
	for (size_t i = path->n; i--;)
		if (path->v[i].name.len)
			return &path->v[i];
	return NULL;
}

static size_t split(struct slice args, struct slice v[ARGS_MAX])
{
	size_t n = 0;

	while (args.len && n < ARGS_MAX) {
		const size_t end = find(args, ",");

		v[n++] = trim((struct slice){ args.s, end });
		args = from(args, end + 1);
	}
	return n;
}

/* ---- arguments ------------------------------------------------------------------------------- */

/* Without const, pointers and references; a cast, "(int)4", is its value; "&(void f(int))" is f. */
static struct slice bare(struct slice type)
{
	type = trim(type);
	if (begins(type, "&(") && type.s[type.len - 1] == ')')
		return (struct slice){ type.s + 2, type.len - 3 };
	if (begins(type, "(") && !begins(type, "(anonymous"))
		type = from(type, find(type, ")") == type.len ? inside(type, 0).len + 2 : 0);
	if (begins(type, "const "))
		type = from(type, 6);
	while (type.len && strchr("&* ", type.s[type.len - 1]))
		type.len--;
	if (ends(type, " const"))
		type.len -= 6;
	return type;
}

static bool is_value(struct slice type)
{
	return !type.len || isdigit((unsigned char)*type.s) || *type.s == '-' ||
	       is_text(type, "true") || is_text(type, "false");
}

static struct slice without_endings(struct slice name)
{
	for (size_t i = 0; endings[i]; i++) {
		const size_t len = strlen(endings[i]);

		if (name.len > len && ends(name, endings[i]))
			name.len -= len;
	}
	return begins(name, "CUDAFunctor_") && name.len > 12 ? from(name, 12) : name;
}

struct writing {
	struct strbuf *out;
	bool detail;
};

static bool add_type(const struct writing *w, struct slice type, unsigned int depth);

static bool add_one_of(const struct writing *w, struct slice args, unsigned int depth)
{
	struct slice v[ARGS_MAX];
	const size_t n = split(args, v);

	for (size_t i = 0; i < n; i++)
		if (add_type(w, v[i], depth + 1))
			return true;
	return false;
}

static void add_details(const struct writing *w, struct slice args, unsigned int depth);

/* A number, or a type by its last name, with its arguments: what is left out of short names. */
static void add_detail(const struct writing *w, struct slice type, unsigned int depth)
{
	const struct part *last;
	struct path path;

	type = bare(type);
	read_path(&path, type);
	last = is_value(type) || is_one_of(type, plain_types) ? NULL : named(&path);
	if (!last) {
		add_slice(w->out, type);
		return;
	}
	add_slice(w->out, last->name);
	add_details(w, last->args, depth + 1);
}

static void add_details(const struct writing *w, struct slice args, unsigned int depth)
{
	struct slice v[ARGS_MAX];
	const size_t n = depth <= DETAIL_DEPTH ? split(args, v) : 0;

	for (size_t i = 0; i < n; i++) {
		strbuf_addstr(w->out, i ? ", " : "<");
		add_detail(w, v[i], depth);
	}
	strbuf_addstr(w->out, n ? ">" : "");
}

/* The functor's name, or that of the function that a lambda is in. False: it has none. */
static bool add_type(const struct writing *w, struct slice type, unsigned int depth)
{
	struct slice name;
	struct path path;
	const struct part *last;

	type = bare(type);
	if (depth > DEPTH_MAX || is_value(type) || is_one_of(type, plain_types))
		return false;
	read_path(&path, type);
	last = named(&path);
	if (!last || (path.n > 1 && is_one_of(path.v[0].name, plain_spaces)) ||
	    is_one_of(last->name, plain_types) || ends(last->name, "_traits"))
		return false;
	if ((is_one_of(last->name, wrappers) || path.v[path.n - 1].is_lambda) &&
	    add_one_of(w, last->args, depth))
		return true;
	if (is_one_of(last->name, wrappers))
		return false;
	name = without_endings(last->name);
	add_slice(w->out, name);
	if (w->detail) {
		add_details(w, last->args, depth);
		add_slice(w->out, path.v[path.n - 1].lambda);
	}
	return true;
}

static void add_arguments(const struct writing *w, struct slice args)
{
	struct slice v[ARGS_MAX];
	const size_t n = split(args, v);
	const char *before = "<";

	for (size_t i = 0; i < n; i++) {
		const size_t at = w->out->len;

		strbuf_addstr(w->out, before);
		if (!add_type(w, v[i], 0) && w->detail) {
			add_detail(w, v[i], 0);
		} else if (w->out->len == at + strlen(before)) {
			if (!w->out->failed)	/* nothing came of it */
				w->out->s[w->out->len = at] = '\0';
			continue;
		}
		before = ", ";
	}
	strbuf_addstr(w->out, *before == ',' ? ">" : "");
}

/* A name too long to be demangled, "_ZN7cutlass7Kernel2I...": its last identifier before the
 * arguments. Empty: there is none. */
static struct slice read_mangled(struct slice *rest)
{
	struct slice name = { rest->s, 0 };

	while (rest->len && isdigit((unsigned char)*rest->s)) {
		const size_t most = num_min(rest->len, 4);
		size_t len = 0, digits = 0;

		for (; digits < most && isdigit((unsigned char)rest->s[digits]); digits++)
			len = len * 10 + (size_t)(rest->s[digits] - '0');
		*rest = from(*rest, digits);
		name = (struct slice){ rest->s, num_min(len, rest->len) };
		*rest = from(*rest, len);
	}
	return name;
}

static bool add_mangled(struct strbuf *out, struct slice symbol)
{
	struct slice rest = from(symbol, 3), name = read_mangled(&rest), inner;

	if (!begins(symbol, "_ZN") || !name.len)
		return false;
	for (int i = 0; i < DEPTH_MAX && is_one_of(name, wrappers) && begins(rest, "I"); i++) {
		rest = from(rest, begins(rest, "IN") ? 2 : 1);
		if (begins(rest, "S"))		/* a namespace that was named before */
			rest = from(rest, find(rest, "_") + 1);
		inner = read_mangled(&rest);
		name = inner.len ? inner : name;
	}
	name = without_endings(name);
	add_slice(out, name);
	return true;
}

void kernel_short_add(struct strbuf *out, const char *name, bool detail)
{
	const struct writing w = { out, detail };
	const struct slice all = { name, strlen(name) };
	const struct part *last;
	struct slice text;
	struct path path;

	if (add_mangled(out, all))
		return;
	read_path(&path, all);
	last = named(&path);
	if (!last) {
		strbuf_addstr(out, name);
		return;
	}
	if (is_one_of(last->name, wrappers) && add_one_of(&w, last->args, 0))
		return;
	text = last->args.len || path.n > 1 ? without_endings(last->name) : last->name;
	add_slice(out, text);
	add_arguments(&w, last->args);
}
