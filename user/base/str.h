/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A growing string that is always NUL-terminated, a pool of interned strings, and questions about
 * plain ones.
 *
 * strbuf: start with STRBUF_INIT; `s` is never NULL; owned by the buffer until strbuf_free or
 * strbuf_detach. Out of memory is remembered in `failed` and what follows is dropped: callers
 * check once, at the end.
 */
#ifndef BASE_STR_H
#define BASE_STR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct strbuf {
	char *s;
	size_t len;
	size_t cap;		/* 0: s is not owned */
	bool failed;
};

extern char strbuf_empty[];
#define STRBUF_INIT { .s = strbuf_empty }

void strbuf_add(struct strbuf *sb, const char *data, size_t len);

static inline void strbuf_addstr(struct strbuf *sb, const char *s)
{
	strbuf_add(sb, s, strlen(s));
}

static inline void strbuf_addch(struct strbuf *sb, char c)
{
	strbuf_add(sb, &c, 1);
}

void strbuf_addf(struct strbuf *sb, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void strbuf_vaddf(struct strbuf *sb, const char *fmt, va_list ap)
	__attribute__((format(printf, 2, 0)));

/* keeps the memory */
static inline void strbuf_reset(struct strbuf *sb)
{
	sb->len = 0;
	if (sb->cap)
		sb->s[0] = '\0';
}

/* usable again afterwards */
static inline void strbuf_free(struct strbuf *sb)
{
	if (sb->cap)
		free(sb->s);
	*sb = (struct strbuf)STRBUF_INIT;
}

/* As one word for a shell of the Bourne kind; text that needs no quotes has none. */
void strbuf_add_shell(struct strbuf *sb, const char *text);

/* The same of a file that a program is given: "-x" would be options, and is "./-x". */
static inline void strbuf_add_shell_path(struct strbuf *sb, const char *path)
{
	strbuf_addstr(sb, *path == '-' ? "./" : "");
	strbuf_add_shell(sb, path);
}

char *strbuf_detach(struct strbuf *sb);	/* caller frees; NULL after a failure */

/* the part behind the last slash; points into path */
static inline const char *str_basename(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Has it this suffix, and more before it? */
static inline bool str_ends_in(const char *text, const char *suffix)
{
	const size_t len = strlen(text), tail = strlen(suffix);

	return len > tail && !strcmp(text + len - tail, suffix);
}

/* The length of text, without the suffix if it ends in that. */
static inline size_t str_len_without(const char *text, const char *suffix)
{
	return strlen(text) - (str_ends_in(text, suffix) ? strlen(suffix) : 0);
}

/* Copies at most len bytes of another's text, as one line: control characters become '?'. Cut to
 * fit into size bytes with its NUL; size > 0. */
void str_copy_line(char *out, size_t size, const char *text, size_t len);

/* Equal strings get one address, valid until the pool is freed. Not thread-safe. */
struct strpool;
struct strpool *strpool_new(void);		/* NULL + errno */
const char *strpool_add(struct strpool *p, const char *s);	/* NULL + errno */
void strpool_free(struct strpool *p);

/* The name nearest to word among n names (a short edit away), or NULL. */
const char *str_nearest(const char *word, const char *const *names, size_t n);

#endif
