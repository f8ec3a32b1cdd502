// SPDX-License-Identifier: BSD-3-Clause
/*
 * A name by the hash of what its function is called. Linkers keep "i0.out(...)" as the end of
 * "special_i0.out(...)": so what is behind an underscore of a name may be a name, too, unless there
 * is one with a text of its own.
 */
#include "probe/schemas.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"
#include "elf/elf.h"
#include "event/event.h"

#define RETURNS ") -> "		/* in every such text */
#define NAMESPACE "aten::"	/* before some */
#define NAME_MAX_LEN 127u

struct schemas {
	VEC(struct schema *) all;
	struct map names;	/* hash of a function's name -> struct schema */
	struct map ends;	/* the same, of the ends of others */
	struct strpool *texts;
	int err;
};

/* The name that the text begins with, as far as its arguments. 0: it begins otherwise. */
static size_t name_length(const char *text)
{
	size_t n = 0, dots = 0;

	while (isalnum((unsigned char)text[n]) || text[n] == '_' || (text[n] == '.' && n))
		dots += text[n++] == '.';
	return text[n] == '(' && dots <= 1 && n <= NAME_MAX_LEN && !isdigit((unsigned char)*text) ?
		       n : 0;
}

static uint64_t key_of(const char *name, size_t len)
{
	char function[NAME_MAX_LEN + 1];

	for (size_t i = 0; i < len; i++)
		function[i] = name[i] == '.' ? '_' : name[i];
	function[len] = '\0';
	return event_text_hash(function);
}

/* ---- arguments ------------------------------------------------------------------------------- */

#define REGISTERS 6

/* How many integer registers an argument takes before the first tensor, by its type (System V ABI;
 * of arm64, too). Of a list its address and length. */
static const struct {
	const char *type;
	int registers;
} kinds[] = {
	{ "Scalar", 1 }, { "int", 1 }, { "SymInt", 1 }, { "bool", 1 }, { "ScalarType", 1 },
	{ "float", 0 }, { "str", 2 }, { "int[]", 2 }, { "SymInt[]", 2 },
};

static bool is_text(const char *text, size_t len, const char *other)
{
	return len == strlen(other) && !memcmp(text, other, len);
}

/* Does the function have a hidden argument, for its result? -1: unknown. */
static int hidden_result(const char *type)
{
	static const char *const plain[] = { "()", "bool", "int", "float", "ScalarType" };

	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
		if (!strcmp(type, plain[i]))
			return 0;
	if (strstr(type, "!)"))		/* references: of several it is the compiler's choice */
		return *type == '(' || strchr(type, '[') ? -1 : 0;
	return *type == '(' || !strncmp(type, "Tensor", strlen("Tensor")) ||
	       !strcmp(type, "Scalar") || !strcmp(type, "SymInt") ? 1 : -1;
}

/* The registers of an argument of this type; -1: unknown, or it is the end. */
static int registers_of(const char *type, size_t len)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (is_text(type, len, kinds[i].type))
			return kinds[i].registers;
	return -1;
}

/* arguments: behind the "(". */
static uint8_t first_tensor(const char *arguments, const char *result)
{
	int used = hidden_result(result), more;

	while (used >= 0 && used < REGISTERS) {
		const size_t len = strcspn(arguments, " ,)(");

		if (is_text(arguments, len, "Tensor")) {
			const char *behind = arguments + len;

			if (*behind == '(')	/* Tensor(a!) */
				behind += strcspn(behind, ")") + 1;
			return *behind == ' ' ? (uint8_t)(used + 1) : 0;
		}
		more = registers_of(arguments, len);
		arguments += strcspn(arguments, ",)");
		if (more < 0 || *arguments != ',')
			break;
		used += more;
		arguments += strspn(arguments, ", *");
	}
	return 0;
}

/* ---- names ----------------------------------------------------------------------------------- */

static void add(struct schemas *s, struct map *to, const char *name, uint8_t tensor)
{
	bool is_new;
	struct map_slot *slot = map_put(to, key_of(name, strlen(name)), &is_new);
	struct schema *schema = slot && is_new ? VEC_NEW(&s->all) : NULL;

	if (schema) {
		*schema = (struct schema){ strpool_add(s->texts, name), tensor };
		slot->value = (uintptr_t)schema;
	}
	if (!slot || (is_new && (!schema || !schema->name)))
		s->err = -ENOMEM;
}

static void on_text(void *ctx, const char *text)
{
	struct schemas *s = ctx;
	char name[NAME_MAX_LEN + 1];
	uint8_t tensor;
	size_t len;

	if (!strncmp(text, NAMESPACE, strlen(NAMESPACE)))
		text += strlen(NAMESPACE);
	len = name_length(text);
	if (!len)
		return;
	memcpy(name, text, len);
	name[len] = '\0';
	tensor = first_tensor(text + len + 1, strstr(text, RETURNS) + strlen(RETURNS));
	add(s, &s->names, name, tensor);
	for (const char *at = name; (at = strpbrk(at, "_.")) && *at == '_';)
		if (*++at && *at != '.')
			add(s, &s->ends, at, tensor);
}

struct schemas *schemas_read(struct elf_file *ef)
{
	struct schemas *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->texts = strpool_new();
	if (s->texts)
		s->err = elf_each_text(ef, RETURNS, on_text, s) == -ENOMEM ? -ENOMEM : s->err;
	if (!s->texts || s->err) {
		schemas_free(s);
		errno = ENOMEM;
		return NULL;
	}
	return s;
}

void schemas_free(struct schemas *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->all.n; i++)
		free(s->all.v[i]);
	VEC_FREE(&s->all);
	map_free(&s->names);
	map_free(&s->ends);
	strpool_free(s->texts);
	free(s);
}

const struct schema *schemas_find(const struct schemas *s, const char *function, size_t len)
{
	const struct schema *found;
	uint64_t key;

	if (len > NAME_MAX_LEN)
		return NULL;
	key = key_of(function, len);
	found = map_pointer(&s->names, key);
	return found ? found : map_pointer(&s->ends, key);
}
