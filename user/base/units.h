/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers with units, for people: "1.234 ms", "1.5 MiB", "1,234,567". Knows no tables. */
#ifndef BASE_UNITS_H
#define BASE_UNITS_H

#include <stdint.h>

/* By value, for printf: strbuf_addf(out, "%s in %s", count_text(n).s, ns_text(ns).s). */
struct unit_text {
	char s[32];
};
struct unit_text ns_text(uint64_t ns);
struct unit_text bytes_text(uint64_t bytes);
struct unit_text count_text(uint64_t n);
struct unit_text short_count_text(uint64_t n);	/* "3,971", "12.3k": at most five columns */
struct unit_text clock_text(uint64_t wall_ns);	/* "09:15:02", here; "": that is unknown */
struct unit_text percent_text(double share);	/* "26.5 %", "<0.1 %" */

#endif
