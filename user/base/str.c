// SPDX-License-Identifier: BSD-3-Clause
/* Growing strings, edit distance, and interned strings. Knows nothing of their meaning. */
#include "base/str.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

void strbuf_addf(struct strbuf *sb, const char *fmt, ...)
{
	char small[256];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(small, sizeof(small), fmt, ap);
	va_end(ap);
	if (n < 0)
		return;
	if ((size_t)n < sizeof(small)) {
		strbuf_add(sb, small, (size_t)n);
		return;
	}
	if (!grow(sb, (size_t)n))
		return;
	va_start(ap, fmt);
	vsnprintf(sb->s + sb->len, (size_t)n + 1, fmt, ap);
	va_end(ap);
	sb->len += (size_t)n;
}

void strbuf_reset(struct strbuf *sb)
{
	sb->len = 0;
	if (sb->cap)
		sb->s[0] = '\0';
}

void strbuf_free(struct strbuf *sb)
{
	if (sb->cap)
		free(sb->s);
	*sb = (struct strbuf)STRBUF_INIT;
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

const char *str_basename(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
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
			unsigned int best = diag + (a[i - 1] != b[j - 1]);

			if (up + 1 < best)
				best = up + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			row[j] = best;
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
	char **slot;
	size_t cap, n;
};

static uint64_t hash_str(const char *s)
{
	uint64_t h = 0xcbf29ce484222325ull;	/* FNV-1a */

	for (; *s; s++)
		h = (h ^ (unsigned char)*s) * 0x100000001b3ull;
	return h;
}

struct strpool *strpool_new(void)
{
	struct strpool *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->cap = 64;
	p->slot = calloc(p->cap, sizeof(*p->slot));
	if (!p->slot) {
		free(p);
		return NULL;
	}
	return p;
}

static char **find(char **slot, size_t cap, const char *s)
{
	size_t i = hash_str(s) & (cap - 1);

	while (slot[i] && strcmp(slot[i], s))
		i = (i + 1) & (cap - 1);
	return &slot[i];
}

static int pool_grow(struct strpool *p)
{
	size_t cap = p->cap * 2;
	char **slot = calloc(cap, sizeof(*slot));

	if (!slot)
		return -ENOMEM;
	for (size_t i = 0; i < p->cap; i++)
		if (p->slot[i])
			*find(slot, cap, p->slot[i]) = p->slot[i];
	free(p->slot);
	p->slot = slot;
	p->cap = cap;
	return 0;
}

const char *strpool_add(struct strpool *p, const char *s)
{
	char **at;

	if (p->n >= p->cap / 2 && pool_grow(p))
		return NULL;
	at = find(p->slot, p->cap, s);
	if (!*at) {
		*at = strdup(s);
		p->n += *at != NULL;
	}
	return *at;
}

void strpool_free(struct strpool *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->cap; i++)
		free(p->slot[i]);
	free(p->slot);
	free(p);
}
