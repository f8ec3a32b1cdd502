/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From addresses to source lines and inlined functions, by a file's debug info. Debug info is
 * hostile and its reader large, so it is read in a forked child that has a few seconds, a limit
 * of memory, no privileges and one pipe for its output. The only user of libdw.
 */
#ifndef ELF_LINES_H
#define ELF_LINES_H

#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

#define ELF_LINES_INLINED 16u	/* functions inlined into one another at an address; more are cut */

struct elf_line {
	uint64_t vaddr;		/* in: as in symbol tables */
	/* out: from the containing function inward out, "left (app.c:12);leaf (app.c:7)": each
	 * with its current line. NULL: no debug info for it. The caller frees */
	char *text;
};

/* Reads the debug info of the file open as fd. 0, -ENOENT (it has none), -ENOTSUP (this build
 * has no libdw), -ETIME, -EBADMSG (its reader failed), or another -errno. */
int elf_find_lines(int fd, struct elf_line *lines, size_t n);

/* Opens the file with the debug info of a build: path itself if it is of that build and has any,
 * else the one under /usr/lib/debug/.build-id. fd or -errno. */
int elf_open_debug(const char *path, const char *build_id);

#endif
