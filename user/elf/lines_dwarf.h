/* SPDX-License-Identifier: BSD-3-Clause */
/* The use of libdw, in a process that may crash. Private to the room. */
#ifndef ELF_LINES_DWARF_H
#define ELF_LINES_DWARF_H

#include <stdbool.h>
#include <stdio.h>

#include "elf/lines.h"

bool dwarf_is_built_in(void);

/* Writes "INDEX TEXT\n" for each of the lines that debug info knows of. 0, -ENOENT: there is
 * none. */
int dwarf_answer(int fd, const struct elf_line *lines, size_t n, FILE *out);

#endif
