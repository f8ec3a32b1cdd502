// SPDX-License-Identifier: BSD-3-Clause
/*
 * Open files that a session needs beside its probes: they are held while probes take theirs, so that a limit
 * shows itself where a session can still do without probes, and not later.
 */
#include <fcntl.h>

#include "base/io.h"
#include "session/session_blind.h"

void spare_hold(struct spare *s)
{
	while (s->n < SPARE_FILES && (s->fd[s->n] = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0)
		s->n++;
}

void spare_release(struct spare *s)
{
	while (s->n)
		io_close(&s->fd[--s->n]);
}
