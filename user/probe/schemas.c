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
#include "elf/elf.h"
#include "event/event.h"

#define RETURNS ") -> "		/* in every such text */
#define NAMESPACE "aten::"	/* before some */
#define NAME_MAX_LEN 127u

struct schemas {
	struct map names;	/* hash of a function's name -> text in the pool */
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

static void add(struct schemas *s, struct map *to, const char *name)
{
	bool is_new;
	struct map_slot *slot = map_put(to, key_of(name, strlen(name)), &is_new);
	const char *kept = slot && is_new ? strpool_add(s->texts, name) : NULL;

	if (kept)
		slot->value = (uintptr_t)kept;
	else if (!slot || is_new)
		s->err = -ENOMEM;
}

static void on_text(void *ctx, const char *text)
{
	struct schemas *s = ctx;
	char name[NAME_MAX_LEN + 1];
	size_t len;

	if (!strncmp(text, NAMESPACE, strlen(NAMESPACE)))
		text += strlen(NAMESPACE);
	len = name_length(text);
	if (!len)
		return;
	memcpy(name, text, len);
	name[len] = '\0';
	add(s, &s->names, name);
	for (const char *at = name; (at = strpbrk(at, "_.")) && *at == '_';)
		if (*++at && *at != '.')
			add(s, &s->ends, at);
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
	map_free(&s->names);
	map_free(&s->ends);
	strpool_free(s->texts);
	free(s);
}

const char *schemas_name(const struct schemas *s, const char *function, size_t len)
{
	uint64_t key;
	const char *name;

	if (len > NAME_MAX_LEN)
		return NULL;
	key = key_of(function, len);
	name = map_pointer(&s->names, key);
	return name ? name : map_pointer(&s->ends, key);
}
