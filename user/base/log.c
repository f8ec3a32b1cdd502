// SPDX-License-Identifier: BSD-3-Clause
/* One write per message, so that lines of several threads do not mix. */
#include "base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/utf8.h"

enum log_level log_threshold = LOG_INFO;

#define ERASE_LINE "\r\033[K"

static bool has_status;	/* a line that the next message replaces; only on a terminal */

static const char *const prefix[] = {
	[LOG_ERROR] = "gpuprof: ",
	[LOG_WARN] = "gpuprof: warning: ",
	[LOG_INFO] = "gpuprof: ",
	[LOG_DEBUG] = "gpuprof: debug: ",
};

/* A hostile name must not break the line in two, move the cursor or turn what stands beside it. */
static void make_safe(char *line)
{
	for (const char *at = line; *at;) {
		size_t from = (size_t)(at - line);
		int32_t code = utf8_next(&at);

		if (code < 0 || utf8_is_unsafe(code))
			memset(line + from, '?', (size_t)(at - line) - from);
	}
}

/* Appends to the n bytes of a line; returns how many there are then, less than size. */
static size_t __attribute__((format(printf, 4, 0)))
add_safe(char *line, size_t n, size_t size, const char *fmt, va_list ap)
{
	const int more = vsnprintf(line + n, size - n, fmt, ap);
	const size_t from = n;

	n = more < 0 ? n : n + (size_t)more;
	if (n > size - 1)
		n = size - 1;
	line[n] = '\0';
	make_safe(line + from);
	return n;
}

static void put(const char *line, size_t n)
{
	while (write(STDERR_FILENO, line, n) < 0 && errno == EINTR)
		;
}

void log_msg(enum log_level level, const char *fmt, ...)
{
	char line[2048];
	size_t n;
	va_list ap;
	int saved = errno;

	if (level > log_threshold)
		return;
	if (__atomic_exchange_n(&has_status, false, __ATOMIC_RELAXED))
		put(ERASE_LINE, strlen(ERASE_LINE));
	n = (size_t)snprintf(line, sizeof(line), "%s", prefix[level]);
	va_start(ap, fmt);
	n = add_safe(line, n, sizeof(line) - 1, fmt, ap);
	va_end(ap);
	line[n++] = '\n';
	put(line, n);
	errno = saved;
}

void log_status(const char *fmt, ...)
{
	const char *term = getenv("TERM");
	char line[256] = ERASE_LINE;
	const size_t erased = strlen(line);
	size_t n;
	va_list ap;

	if (!isatty(STDERR_FILENO) || (term && !strcmp(term, "dumb")))
		return;
	va_start(ap, fmt);
	n = add_safe(line, erased, sizeof(line), fmt, ap);
	va_end(ap);
	if (__atomic_exchange_n(&has_status, n > erased, __ATOMIC_RELAXED) || n > erased)
		put(line, n);
}
