/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers with units, for people: "1.234 ms", "1.5 MiB", "1,234,567". Knows no tables. */
#ifndef BASE_UNITS_H
#define BASE_UNITS_H

#include <stdint.h>

#include "base/str.h"

void format_ns(struct strbuf *out, uint64_t ns);
void format_bytes(struct strbuf *out, uint64_t bytes);
void format_count(struct strbuf *out, uint64_t n);

#endif
