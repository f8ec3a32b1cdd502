/* SPDX-License-Identifier: BSD-3-Clause */
/* Data leaves gpuprof here, whole or with an error: standard output, or a file by name. */
#ifndef CLI_OUT_H
#define CLI_OUT_H

#include "base/str.h"

/*
 * Writes the text to path, or to standard output when path is NULL. EXIT_OK or EXIT_FAIL; what
 * failed is logged, but not that a reader has closed its end (`gpuprof report f | head`).
 */
int out_write(const char *path, const struct strbuf *text);

#endif
