// SPDX-License-Identifier: BSD-3-Clause
/* Single values as text: times, bytes, reals, and names that may hold anything. */
#include "view/render.c"

#include <stdlib.h>

#include "lib/test.h"
#include "base/utf8.h"

static void is_ns(uint64_t ns, const char *wanted)
{
	struct strbuf sb = STRBUF_INIT;

	strbuf_addstr(&sb, ns_text(ns).s);
	assert_string_equal(sb.s, wanted);
	strbuf_free(&sb);
}

static void is_bytes(uint64_t bytes, const char *wanted)
{
	struct strbuf sb = STRBUF_INIT;

	strbuf_addstr(&sb, bytes_text(bytes).s);
	assert_string_equal(sb.s, wanted);
	strbuf_free(&sb);
}

TEST(times_have_four_digits_and_carry_into_the_next_unit)
{
	is_ns(0, "0 ns");
	is_ns(999, "999 ns");
	is_ns(1000, "1.000 us");
	is_ns(9999, "9.999 us");
	is_ns(10004, "10.00 us");
	is_ns(99995, "100.0 us");
	is_ns(999949, "999.9 us");
	is_ns(999950, "1.000 ms");
	is_ns(2010000000, "2.010 s");
	is_ns(999950000000, "1,000 s");
	is_ns(UINT64_MAX, "18,446,744,074 s");
}

TEST(bytes_carry_into_the_next_unit)
{
	is_bytes(0, "0 B");
	is_bytes(1023, "1023 B");
	is_bytes(1024, "1.0 KiB");
	is_bytes(1048524, "1023.9 KiB");
	is_bytes(1048575, "1.0 MiB");
	is_bytes(UINT64_MAX, "16.0 EiB");
}

TEST(reals_read_back_as_the_same_double)
{
	static const double values[] = { 0, 0.1, 1.0 / 3, 1e-300, 123456789.125, 5e-324 };

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		struct strbuf sb = STRBUF_INIT;

		format_real(&sb, values[i]);
		assert_true(strtod(sb.s, NULL) == values[i]);
		strbuf_free(&sb);
	}
}

TEST(every_byte_string_stays_on_one_safe_line)
{
	uint32_t seed = 1;

	for (int round = 0; round < 20000; round++) {
		struct strbuf once = STRBUF_INIT, twice = STRBUF_INIT;
		char s[17];

		for (size_t i = 0; i < 16; i++) {
			seed = seed * 1664525 + 1013904223;
			s[i] = (char)(seed >> 24);
		}
		s[16] = '\0';
		format_safe(&once, s);
		for (const char *p = once.s; *p;)
			assert_true(utf8_next(&p) >= ' ');
		format_safe(&twice, once.s);
		assert_string_equal(once.s, twice.s);
		strbuf_free(&once);
		strbuf_free(&twice);
	}
}
