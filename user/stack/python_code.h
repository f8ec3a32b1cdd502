/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What CPython's objects say of its functions, from copies of their bytes: texts, and the lines of
 * instructions. Nothing in them is trusted. Private to the room.
 */
#ifndef STACK_PYTHON_CODE_H
#define STACK_PYTHON_CODE_H

#include <stdbool.h>

#include "base/str.h"
#include "gpuprof/python.h"

#define PYTHON_UNIT 2u		/* bytes of a code unit, the least that an instruction has */

/* The characters of a str object, 1, 2 or 4 bytes each (kind), as UTF-8. -EFAULT: there are none,
 * or the kind is none; -ENOMEM. */
int python_add_text(struct strbuf *out, const char *raw, size_t length, unsigned int kind);

struct python_lines {		/* of a code object */
	uint8_t *table;		/* co_linetable; may be NULL */
	size_t n;		/* bytes */
	int64_t first;
	uint8_t are;		/* GP_PYTHON_LOCATIONS, ... */
};

/* Of the instruction at an offset (bytes) into the code; before the first: the function's own.
 * 0: it has none. */
uint32_t python_line(const struct python_lines *lines, int64_t offset);

#endif
