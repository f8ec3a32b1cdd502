// SPDX-License-Identifier: BSD-3-Clause
/* One write per message, so that lines of several threads do not mix. */
#include "base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/utf8.h"

enum log_level log_threshold = LOG_INFO;

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

void log_msg(enum log_level level, const char *fmt, ...)
{
	char line[2048];
	size_t n;
	va_list ap;
	int saved = errno;

	if (level > log_threshold)
		return;
	n = (size_t)snprintf(line, sizeof(line), "%s", prefix[level]);
	va_start(ap, fmt);
	int m = vsnprintf(line + n, sizeof(line) - n - 1, fmt, ap);
	va_end(ap);
	n = m < 0 ? n : n + (size_t)m;
	if (n > sizeof(line) - 2)
		n = sizeof(line) - 2;
	line[n] = '\0';
	make_safe(line);
	line[n++] = '\n';
	while (write(STDERR_FILENO, line, n) < 0 && errno == EINTR)
		;
	errno = saved;
}
