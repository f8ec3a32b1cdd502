// SPDX-License-Identifier: BSD-3-Clause
/* Integer arithmetic throughout, so that a value is rounded once. */
#include "base/units.h"

#include <stdio.h>

void format_count(struct strbuf *out, uint64_t n)
{
	char digits[24];
	int len = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)n);

	for (int i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			strbuf_addch(out, ',');
		strbuf_addch(out, digits[i]);
	}
}

static uint64_t round_div(uint64_t n, uint64_t by)
{
	return n / by + (n % by * 2 >= by);
}

/* Four significant digits: 1.234 ms, 12.34 ms, 123.4 ms; whole below 1 us and above 1000 s. */
void format_ns(struct strbuf *out, uint64_t ns)
{
	static const char *const unit[] = { "us", "ms", "s" };
	uint64_t step = 1;	/* the last digit shown, in ns */

	if (ns < 1000) {
		strbuf_addf(out, "%u ns", (unsigned int)ns);
		return;
	}
	for (unsigned int i = 0; i < 9; i++, step *= 10) {
		static const unsigned int scale[] = { 1000, 100, 10 };
		uint64_t x = round_div(ns, step);

		if (x >= 10000)
			continue;
		strbuf_addf(out, "%u.%0*u %s", (unsigned int)x / scale[i % 3], 3 - (int)(i % 3),
			    (unsigned int)x % scale[i % 3], unit[i / 3]);
		return;
	}
	format_count(out, round_div(ns, step));
	strbuf_addstr(out, " s");
}

void format_bytes(struct strbuf *out, uint64_t bytes)
{
	static const char *const unit[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
	unsigned int shift = 0, i = 0;
	uint64_t tenths;

	if (bytes < 1024) {
		strbuf_addf(out, "%u B", (unsigned int)bytes);
		return;
	}
	while (i + 1 < sizeof(unit) / sizeof(unit[0]) && bytes >> shift >= 1024) {
		shift += 10;
		i++;
	}
	tenths = (bytes >> shift) * 10;
	tenths += (((bytes & ((1ull << shift) - 1)) >> (shift - 10)) * 10 + 512) >> 10;
	if (tenths >= 10240 && i + 1 < sizeof(unit) / sizeof(unit[0])) {
		tenths = 10;
		i++;
	}
	strbuf_addf(out, "%llu.%u %s", (unsigned long long)(tenths / 10),
		    (unsigned int)(tenths % 10), unit[i]);
}
