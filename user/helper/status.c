// SPDX-License-Identifier: BSD-3-Clause
/* See the header. */
#include "helper/status.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool status_number(const char *path, const char *field, int base, uint64_t *out)
{
	char text[4096];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	const char *at;

	if (fd >= 0)
		close(fd);
	if (n < 0)
		return false;
	text[n] = '\0';
	at = strstr(text, field);
	if (at)
		*out = strtoull(at + strlen(field), NULL, base);
	return at;
}
