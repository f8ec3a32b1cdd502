/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of capture files, and their creation without harm to existing files. */
#ifndef CAPTURE_CAPTURE_FILE_H
#define CAPTURE_CAPTURE_FILE_H

#include <stdint.h>

#include "base/str.h"

/*
 * An empty file of this name, locked, of mode 0600. A capture that has the name already is renamed,
 * which is logged. fd or -errno, logged.
 */
int capture_file_create(const char *path);

/* "run.gpr" and 2: "run.000002.gpr" */
void capture_file_number(struct strbuf *out, const char *path, uint64_t number);

/* The highest number among the files with such names, or 0. */
uint64_t capture_file_last(const char *path);

#endif
