// SPDX-License-Identifier: BSD-3-Clause
/* One write per message, so that lines of several threads do not mix. */
#include "base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum log_level log_threshold = LOG_INFO;

static const char *const prefix[] = {
	[LOG_ERROR] = "gpuprof: ",
	[LOG_WARN] = "gpuprof: warning: ",
	[LOG_INFO] = "gpuprof: ",
	[LOG_DEBUG] = "gpuprof: debug: ",
};

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
	/* A hostile name must not break the line in two or move the cursor. */
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)line[i] < ' ' || line[i] == 0x7f)
			line[i] = '?';
	line[n++] = '\n';
	while (write(STDERR_FILENO, line, n) < 0 && errno == EINTR)
		;
	errno = saved;
}
