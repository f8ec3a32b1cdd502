// SPDX-License-Identifier: BSD-3-Clause
/* Integer arithmetic throughout, so that a value is rounded once. */
#include "base/units.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/time.h"

struct unit_text count_text(uint64_t n)
{
	struct unit_text text = { "" };
	char digits[24], *to = text.s;
	int len = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)n);

	for (int i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			*to++ = ',';
		*to++ = digits[i];
	}
	*to = '\0';
	return text;
}

struct unit_text short_count_text(uint64_t n)
{
	struct unit_text text;

	if (n < 10000)
		return count_text(n);
	if (n < 1000000)
		snprintf(text.s, sizeof(text.s), n < 99950 ? "%.1fk" : "%.0fk", (double)n / 1e3);
	else
		snprintf(text.s, sizeof(text.s), "%.3gM", (double)n / 1e6);
	return text;
}

struct unit_text clock_text(uint64_t wall_ns)
{
	const time_t s = (time_t)(wall_ns / NS_PER_SEC);
	struct unit_text text = { "" };
	struct tm tm;

	if (!localtime_r(&s, &tm) || !strftime(text.s, sizeof(text.s), "%H:%M:%S", &tm))
		text.s[0] = '\0';
	return text;
}

struct unit_text percent_text(double share)
{
	struct unit_text text;

	snprintf(text.s, sizeof(text.s), share > 0 && share < 0.0005 ? "<0.1 %%" : "%.1f %%",
		 100 * share);
	return text;
}

static uint64_t round_div(uint64_t n, uint64_t by)
{
	return n / by + (n % by * 2 >= by);
}

/* Four significant digits: 1.234 ms, 12.34 ms, 123.4 ms; whole below 1 us and above 1000 s. */
struct unit_text ns_text(uint64_t ns)
{
	static const char *const unit[] = { "us", "ms", "s" };
	static const unsigned int scale[] = { 1000, 100, 10 };
	uint64_t step = 1;	/* the last digit shown, in ns */
	struct unit_text text;

	if (ns < 1000) {
		snprintf(text.s, sizeof(text.s), "%u ns", (unsigned int)ns);
		return text;
	}
	for (unsigned int i = 0; i < 9; i++, step *= 10) {
		uint64_t x = round_div(ns, step);

		if (x >= 10000)
			continue;
		snprintf(text.s, sizeof(text.s), "%u.%0*u %s", (unsigned int)x / scale[i % 3],
			 3 - (int)(i % 3), (unsigned int)x % scale[i % 3], unit[i / 3]);
		return text;
	}
	text = count_text(round_div(ns, step));
	strcat(text.s, " s");
	return text;
}

struct unit_text bytes_text(uint64_t bytes)
{
	static const char *const unit[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
	unsigned int shift = 0, i = 0;
	struct unit_text text;
	uint64_t tenths;

	if (bytes < 1024) {
		snprintf(text.s, sizeof(text.s), "%u B", (unsigned int)bytes);
		return text;
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
	snprintf(text.s, sizeof(text.s), "%llu.%u %s", (unsigned long long)(tenths / 10),
		 (unsigned int)(tenths % 10), unit[i]);
	return text;
}
