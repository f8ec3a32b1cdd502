// SPDX-License-Identifier: BSD-3-Clause
/* Growing strings, edit distance, and interned strings. Knows nothing of their meaning. */
#include "base/str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/num.h"

char strbuf_empty[1];

static bool grow(struct strbuf *sb, size_t extra)
{
	size_t need, cap;
	char *s;

	if (sb->failed || __builtin_add_overflow(sb->len, extra, &need) || need >= SIZE_MAX / 2) {
		sb->failed = true;
		return false;
	}
	if (++need <= sb->cap)
		return true;
	cap = sb->cap ? sb->cap : 64;
	while (cap < need)
		cap += cap / 2;
	s = realloc(sb->cap ? sb->s : NULL, cap);
	if (!s) {
		sb->failed = true;
		return false;
	}
	if (!sb->cap)
		s[0] = '\0';
	sb->s = s;
	sb->cap = cap;
	return true;
}

void strbuf_add(struct strbuf *sb, const char *data, size_t len)
{
	if (!grow(sb, len))
		return;
	memcpy(sb->s + sb->len, data, len);
	sb->len += len;
	sb->s[sb->len] = '\0';
}

void strbuf_vaddf(struct strbuf *sb, const char *fmt, va_list ap)
{
	char small[256];
	va_list again;
	int n;

	va_copy(again, ap);
	n = vsnprintf(small, sizeof(small), fmt, ap);
	if (n >= 0 && (size_t)n < sizeof(small)) {
		strbuf_add(sb, small, (size_t)n);
	} else if (n >= 0 && grow(sb, (size_t)n)) {
		vsnprintf(sb->s + sb->len, (size_t)n + 1, fmt, again);
		sb->len += (size_t)n;
	}
	va_end(again);
}

void strbuf_addf(struct strbuf *sb, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	strbuf_vaddf(sb, fmt, ap);
	va_end(ap);
}

void strbuf_add_shell(struct strbuf *sb, const char *text)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789/._+-=,:@%";

	if (*text && !text[strspn(text, plain)]) {
		strbuf_addstr(sb, text);
		return;
	}
	strbuf_addch(sb, '\'');
	for (; *text; text++)
		if (*text == '\'')
			strbuf_addstr(sb, "'\\''");
		else
			strbuf_addch(sb, *text);
	strbuf_addch(sb, '\'');
}

char *strbuf_detach(struct strbuf *sb)
{
	char *s = NULL;

	if (!sb->failed)
		s = sb->cap ? sb->s : strdup("");
	else if (sb->cap)
		free(sb->s);
	*sb = (struct strbuf)STRBUF_INIT;
	return s;
}

void str_copy_line(char *out, size_t size, const char *text, size_t len)
{
	size_t n = strnlen(text, len < size ? len : size - 1);

	for (size_t i = 0; i < n; i++)
		out[i] = (unsigned char)text[i] < ' ' || text[i] == 0x7f ? '?' : text[i];
	out[n] = '\0';
}

/* The smallest number of single-character edits between two words (Levenshtein), words <= 63. */
static unsigned int str_distance(const char *a, const char *b)
{
	unsigned int row[64], diag, up;
	size_t na = strnlen(a, 63), nb = strnlen(b, 63);

	for (unsigned int j = 0; j <= nb; j++)
		row[j] = j;
	for (unsigned int i = 1; i <= na; i++) {
		diag = row[0];
		row[0] = i;
		for (size_t j = 1; j <= nb; j++) {
			up = row[j];
			row[j] = (unsigned int)num_min(num_min(up, row[j - 1]) + 1,
						       diag + (a[i - 1] != b[j - 1]));
			diag = up;
		}
	}
	return row[nb];
}

const char *str_nearest(const char *word, const char *const *names, size_t n)
{
	const char *best = NULL;
	unsigned int least = 1 + (unsigned int)strnlen(word, 63) / 4;

	for (size_t i = 0; i < n; i++) {
		unsigned int d = str_distance(word, names[i]);

		if (d > least || (best && d == least))
			continue;
		best = names[i];
		least = d;
	}
	return best;
}

struct strpool {
	struct map by_hash;	/* hash, or the next free number after it -> the string */
};

struct strpool *strpool_new(void)
{
	return calloc(1, sizeof(struct strpool));
}

const char *strpool_add(struct strpool *p, const char *s)
{
	uint64_t key = 0xcbf29ce484222325ull;	/* FNV-1a */
	struct map_slot *slot;
	char *copy;

	for (const char *c = s; *c; c++)
		key = (key ^ (unsigned char)*c) * 0x100000001b3ull;
	for (; (slot = map_find(&p->by_hash, key)); key++)
		if (!strcmp((const char *)(uintptr_t)slot->value, s))
			return (const char *)(uintptr_t)slot->value;
	copy = strdup(s);
	slot = copy ? map_put(&p->by_hash, key, NULL) : NULL;
	if (!slot) {
		free(copy);
		return NULL;
	}
	slot->value = (uintptr_t)copy;
	return copy;
}

void strpool_free(struct strpool *p)
{
	if (!p)
		return;
	map_free_each(&p->by_hash, free);
	free(p);
}
