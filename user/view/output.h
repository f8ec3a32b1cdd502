/* SPDX-License-Identifier: BSD-3-Clause */
/* Data leaves gpuprof here, whole or with an error: standard output, or a file by name. */
#ifndef VIEW_OUTPUT_H
#define VIEW_OUTPUT_H

#include <stdbool.h>

#include "base/str.h"

/* Does standard output show colours, and its user want them? */
bool output_is_colored(void);

/* Before anything is measured: could output_write write to path? EXIT_OK, or EXIT_FAIL, logged. A
 * capture is never overwritten by a report. */
int output_check(const char *path);

/*
 * Writes the text to path, or to standard output when path is NULL or cannot be written, so that
 * a report is not lost. EXIT_OK or EXIT_FAIL; failures are logged, but not that a reader has
 * closed its end (`gpuprof report f | head`).
 */
int output_write(const char *path, const struct strbuf *text);

/* The same for the file `name` in the directory, which output_write_in makes where it is missing.
 * A link to a directory is not followed, one of another user (but root's) not written into. */
int output_check_in(const char *dir, const char *name);
int output_write_in(const char *dir, const char *name, const struct strbuf *text);

#endif
